import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { createGateway, type Gateway } from "../../runtime/gateway/gateway.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { compile } from "../compile.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { freePort } from "../support/free-port.ts"
import {
  keycloakAdmin,
  keycloakStartMs,
  keycloakVersion,
  missingKeycloak,
  startKeycloak,
} from "../support/keycloak.ts"

const realm = {
  realm: "acme",
  enabled: true,
  clients: [
    {
      clientId: "orders-gw",
      secret: "orders-gw-secret",
      serviceAccountsEnabled: true,
      publicClient: false,
      protocolMappers: [audience("orders-api")],
    },
    {
      clientId: "elsewhere",
      secret: "elsewhere-secret",
      serviceAccountsEnabled: true,
      publicClient: false,
      protocolMappers: [audience("other-api")],
    },
  ],
}

function audience(name: string): object {
  return {
    name: `audience ${name}`,
    protocol: "openid-connect",
    protocolMapper: "oidc-audience-mapper",
    config: { "included.custom.audience": name, "access.token.claim": "true" },
  }
}

const reason = missingKeycloak()

describe.skipIf(reason !== undefined)(
  `a real Keycloak ${keycloakVersion}${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    let folder = ""
    let keycloak: ChildProcess | undefined
    let gateway: Gateway | undefined
    let issuer = ""
    let url = ""

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "sallyport-keycloak-"))
      ;({ keycloak, issuer } = await startKeycloak(folder, realm))
      ;({ gateway, url } = await gatewayFor(issuer))
    }, keycloakStartMs)

    afterAll(async () => {
      await gateway?.close(0)
      if (keycloak?.pid !== undefined) process.kill(-keycloak.pid, "SIGKILL")
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })

    test("a token by client_credentials passes", async () => {
      const token = await clientToken(issuer, "acme", "orders-gw", "orders-gw-secret")
      expect((await call(url, token)).status).toBe(200)
    })

    test("a token for another audience, and a forged one, do not", async () => {
      const other = await call(url, await clientToken(issuer, "acme", "elsewhere", "elsewhere-secret"))
      expect(other.status).toBe(401)
      expect(other.headers.get("www-authenticate")).toContain("audience")
      const token = await clientToken(issuer, "acme", "orders-gw", "orders-gw-secret")
      expect((await call(url, `${token.slice(0, -8)}AAAAAAAA`)).status).toBe(401)
    })

    test("tokens of a new signing key pass at first use, those of the old one go on", async () => {
      const before = await clientToken(issuer, "acme", "orders-gw", "orders-gw-secret")
      expect((await call(url, before)).status).toBe(200)
      await addKey(issuer)
      const after = await clientToken(issuer, "acme", "orders-gw", "orders-gw-secret")
      expect(keyOf(after)).not.toBe(keyOf(before))
      expect((await call(url, after)).status).toBe(200)
      expect((await call(url, before)).status).toBe(200)
    })
  },
)

async function gatewayFor(issuer: string): Promise<{ gateway: Gateway; url: string }> {
  const port = await freePort()
  const text = `
gateway acme { listen 127.0.0.1:${port} }
issuer acme {
  discovery "${issuer}/realms/acme/.well-known/openid-configuration"
  audience  orders-api
}
api hello { path "/hello"; auth jwt acme; GET "/" { respond 200 } }
`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics.map(({ detail }) => detail)))
  const gateway = createGateway({
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable,
    limiter: createMemoryLimiter(),
    authorizerOf: () => authorizerOf(() => ({ allowed: false, revision: 0 })),
    observer: { finished: () => undefined },
    environment: {},
    folder: process.cwd(),
  })
  await gateway.apply(plan)
  return { gateway, url: `http://127.0.0.1:${port}/hello` }
}

function call(url: string, token: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${token}` } })
}

async function clientToken(issuer: string, realmName: string, id: string, secret: string): Promise<string> {
  return tokenFrom(issuer, realmName, {
    grant_type: "client_credentials",
    client_id: id,
    client_secret: secret,
  })
}

async function tokenFrom(issuer: string, realmName: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(`${issuer}/realms/${realmName}/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  })
  const body = (await response.json()) as { access_token?: string; error_description?: string }
  if (body.access_token === undefined) throw new Error(`no token: ${body.error_description}`)
  return body.access_token
}

/** A new RSA key of higher priority: Keycloak signs with it from then on. */
async function addKey(issuer: string): Promise<void> {
  const token = await tokenFrom(issuer, "master", {
    grant_type: "password",
    client_id: "admin-cli",
    username: keycloakAdmin.name,
    password: keycloakAdmin.password,
  })
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const { id } = (await (await fetch(`${issuer}/admin/realms/acme`, { headers })).json()) as { id: string }
  const response = await fetch(`${issuer}/admin/realms/acme/components`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      name: "rotated",
      providerId: "rsa-generated",
      providerType: "org.keycloak.keys.KeyProvider",
      parentId: id,
      config: { priority: ["200"], enabled: ["true"], active: ["true"], algorithm: ["RS256"] },
    }),
  })
  if (response.status !== 201) throw new Error(`no new key: ${response.status} ${await response.text()}`)
}

function keyOf(token: string): unknown {
  const header = Buffer.from(token.split(".")[0] as string, "base64url").toString()
  return (JSON.parse(header) as { kid?: unknown }).kid
}
