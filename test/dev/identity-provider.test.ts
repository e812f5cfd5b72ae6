import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createLocalJWKSet, createRemoteJWKSet, type JSONWebKeySet, jwtVerify } from "jose"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import { mintToken } from "../../runtime/dev/mint-token.ts"

const local = { host: "127.0.0.1", port: 0 }
const client = { client_id: "mobile", client_secret: "mobile-secret" }
const asClient = { grant_type: "client_credentials", ...client }
const asAnn = { grant_type: "password", username: "ann", password: "ann", ...client }

let folder = ""
let provider: IdentityProvider

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-idp-"))
  provider = await startIdentityProvider({ ...local, folder })
})

afterAll(async () => {
  await provider.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What the discovery document leads to, as a client that knows only the issuer finds it. */
async function discover(
  issuer: string,
): Promise<{ token_endpoint: string; jwks_uri: string; issuer: string }> {
  return (await fetch(`${issuer}/.well-known/openid-configuration`)).json() as never
}

async function ask(form: Record<string, string> | string, headers: Record<string, string> = {}) {
  const { token_endpoint } = await discover(provider.issuer)
  const body = new URLSearchParams(form)
  const response = await fetch(token_endpoint, { method: "POST", body, headers })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, string>,
  }
}

async function verify(token: string, at = provider) {
  const { jwks_uri } = await discover(at.issuer)
  return jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), {
    issuer: at.issuer,
    audience: "orders-api",
    algorithms: ["RS256"],
    requiredClaims: ["exp", "iat", "sub"],
  })
}

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
})

describe("discovery", () => {
  test("is where Keycloak has it, and names Keycloak's endpoints", async () => {
    expect(provider.issuer).toBe(`${provider.url}/realms/acme`)
    expect(await discover(`${provider.url}/realms/acme`)).toMatchObject({
      issuer: provider.issuer,
      token_endpoint: `${provider.url}/realms/acme/protocol/openid-connect/token`,
      jwks_uri: `${provider.url}/realms/acme/protocol/openid-connect/certs`,
    })
  })

  test("the key set shows no private part", async () => {
    const { jwks_uri } = await discover(provider.issuer)
    const { keys } = (await (await fetch(jwks_uri)).json()) as { keys: object[] }
    for (const key of keys) expect(Object.keys(key).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"])
  })
})

describe("the token endpoint", () => {
  test("client_credentials with the secret in the body", async () => {
    const { status, headers, body } = await ask(asClient)
    expect(status).toBe(200)
    expect(headers.get("cache-control")).toBe("no-store")
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3600 })
    const { payload, protectedHeader } = await verify(body["access_token"] as string)
    expect(protectedHeader).toMatchObject({ alg: "RS256", typ: "JWT" })
    expect(payload).toMatchObject({
      sub: "mobile",
      azp: "mobile",
      preferred_username: "service-account-mobile",
    })
    expect(String(payload["scope"]).split(" ")).toContain("orders.read")
  })

  test("client_credentials with the secret by Basic, as form values or plain", async () => {
    for (const id of ["mobile", "%6Dobile"])
      expect(await ask({ grant_type: "client_credentials" }, basic(id, "mobile-secret"))).toMatchObject({
        status: 200,
      })
  })

  test.each(["ann", "bob", "carol"])("password, as %s", async (name) => {
    const { body } = await ask({ ...asAnn, username: name, password: name })
    expect((await verify(body["access_token"] as string)).payload).toMatchObject({
      sub: name,
      azp: "mobile",
      typ: "Bearer",
    })
  })

  test("openid may be asked for", async () => {
    expect((await ask({ ...asClient, scope: "openid orders.read" })).body["scope"]).toContain("openid")
  })

  test("two tokens are never the same", async () => {
    const [one, two] = await Promise.all([ask(asAnn), ask(asAnn)])
    expect(one.body["access_token"]).not.toBe(two.body["access_token"])
  })

  const { client_secret: _, ...withoutSecret } = asClient
  const { username: __, ...withoutName } = asAnn
  const refusals: [string, Record<string, string> | string, number, string][] = [
    ["no grant type", client, 400, "invalid_request"],
    ["another grant type", { ...asClient, grant_type: "implicit" }, 400, "unsupported_grant_type"],
    ["an unknown client", { ...asClient, client_id: "desktop" }, 401, "invalid_client"],
    [
      "a client called as a part of every object",
      { ...asClient, client_id: "constructor" },
      401,
      "invalid_client",
    ],
    ["no client", { grant_type: "client_credentials" }, 401, "invalid_client"],
    ["a wrong secret", { ...asClient, client_secret: "x" }, 401, "unauthorized_client"],
    ["no secret", withoutSecret, 401, "unauthorized_client"],
    ["a wrong password", { ...asAnn, password: "bob" }, 401, "invalid_grant"],
    ["an unknown user", { ...asAnn, username: "dave", password: "dave" }, 401, "invalid_grant"],
    [
      "an unknown user and no password",
      { ...asAnn, username: "__proto__", password: "" },
      401,
      "invalid_grant",
    ],
    ["no user", withoutName, 401, "invalid_request"],
    ["an unknown scope", { ...asClient, scope: "orders.read moon" }, 400, "invalid_scope"],
    ["a parameter twice", `${new URLSearchParams(asClient)}&client_id=mobile`, 400, "invalid_request"],
  ]
  test.each(refusals)("refuses %s", async (_, form, status, error) => {
    const answer = await ask(form)
    expect(answer).toMatchObject({ status, body: { error } })
    expect(Object.keys(answer.body).sort()).toEqual(["error", "error_description"])
  })

  test("refuses a wrong secret by Basic even when the body has the right one", async () => {
    expect(await ask(asClient, basic("mobile", "x"))).toMatchObject({ status: 401 })
  })

  test("refuses another media type, another method, a body that is too long", async () => {
    const { token_endpoint } = await discover(provider.issuer)
    const json = { method: "POST", body: "{}", headers: { "content-type": "application/json" } }
    expect((await fetch(token_endpoint, json)).status).toBe(415)
    const get = await fetch(token_endpoint)
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"])
    const long = await fetch(token_endpoint, {
      method: "POST",
      body: new URLSearchParams({ a: "x".repeat(70_000) }),
    })
    expect(long.status).toBe(413)
  })

  test("knows no other realm and no other path", async () => {
    for (const path of [
      "/realms/other/.well-known/openid-configuration",
      "/",
      "/realms/acme/protocol/openid-connect/userinfo",
    ])
      expect((await fetch(provider.url + path)).status).toBe(404)
  })
})

describe("keys", () => {
  test("are kept for their owner only, and tokens survive a restart at the same address", async () => {
    expect(statSync(join(folder, "identity-provider.json")).mode & 0o777).toBe(0o600)
    const first = await startIdentityProvider({ ...local, folder })
    const token = await first.token("ann")
    await first.close()
    const again = await startIdentityProvider({ ...local, port: Number(new URL(first.url).port), folder })
    expect((await verify(token, again)).payload.sub).toBe("ann")
    await again.close()
  })

  test("rotation signs with a new key and still answers for the old one, unless it is retired", async () => {
    const other = await startIdentityProvider(local)
    const keySet = async () => {
      const { jwks_uri } = await discover(other.issuer)
      return (await (await fetch(jwks_uri)).json()) as JSONWebKeySet
    }
    const before = await other.token("ann")
    const oldKeys = await keySet()
    await other.rotate()
    const after = await other.token("ann")
    await expect(jwtVerify(after, createLocalJWKSet(oldKeys))).rejects.toMatchObject({
      code: "ERR_JWKS_NO_MATCHING_KEY",
    })
    expect((await verify(before, other)).payload.sub).toBe("ann")
    expect((await verify(after, other)).payload.sub).toBe("ann")
    await other.rotate({ retire: true })
    await expect(verify(before, other)).rejects.toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" })
    expect((await keySet()).keys).toHaveLength(1)
    await other.close()
  })

  test("a token can be had for anybody and with any claims, here and from another process", async () => {
    const expired = await provider.token("zoe", { exp: 1, roles: ["admin"] })
    await expect(verify(expired)).rejects.toMatchObject({
      code: "ERR_JWT_EXPIRED",
      payload: { sub: "zoe", roles: ["admin"] },
    })
    const minted = await mintToken({ folder, url: provider.url, subject: "dan", claims: { scope: "none" } })
    expect((await verify(minted)).payload).toMatchObject({ sub: "dan", scope: "none" })
  })
})

describe("what can be in the way of a start", () => {
  test("a port in use", async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    const { port } = server.address() as { port: number }
    await expect(startIdentityProvider({ ...local, port })).rejects.toMatchObject({
      message: `the identity provider cannot listen on 127.0.0.1:${port}: the address is in use`,
      help: expect.stringContaining(String(port)),
    })
    server.close()
  })

  test.each(["", "{", '{"keys":[{}]}', '{"keys":[{"kid":"a","d":"x","kty":"RSA"}]}', "[]"])(
    "a damaged key file: %j",
    async (text) => {
      const damaged = mkdtempSync(join(tmpdir(), "sallyport-idp-"))
      const path = join(damaged, "identity-provider.json")
      writeFileSync(path, text)
      await expect(startIdentityProvider({ ...local, folder: damaged })).rejects.toMatchObject({
        message: expect.stringContaining(`${path} are damaged`),
        help: expect.stringContaining("Delete the file"),
      })
      expect(readFileSync(path, "utf8")).toBe(text)
      rmSync(damaged, { recursive: true })
    },
  )

  test("a folder that can't be made", async () => {
    const file = join(folder, "a-file")
    writeFileSync(file, "")
    await expect(startIdentityProvider({ ...local, folder: join(file, "keys") })).rejects.toMatchObject({
      name: "DevError",
      message: expect.stringContaining("identity provider"),
    })
  })
})

describe("a login with a browser", () => {
  const verifier = "a-code-verifier-of-more-than-forty-three-characters"
  const challenge = createHash("sha256").update(verifier).digest("base64url")
  const redirectUri = "http://localhost:8000/oauth2/callback"
  const asked = {
    ...{
      response_type: "code",
      client_id: "web",
      redirect_uri: redirectUri,
      scope: "openid",
      state: "s",
      nonce: "n",
    },
    ...{ code_challenge: challenge, code_challenge_method: "S256" },
  }
  const address = (query: Record<string, string>) =>
    `${provider.issuer}/protocol/openid-connect/auth?${new URLSearchParams(query)}`
  const enter = (query: Record<string, string>, password = "ann") =>
    fetch(address(query), {
      method: "POST",
      body: new URLSearchParams({ username: "ann", password }),
      redirect: "manual",
    })
  const redeem = (code: string, more: Record<string, string> = {}) =>
    ask({
      ...{ grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier },
      ...{ client_id: "web", client_secret: "web-secret" },
      ...more,
    })

  test("shows a form, and returns a code that gives an ID token once", async () => {
    const form = await fetch(address(asked))
    expect([form.status, form.headers.get("x-frame-options")]).toEqual([200, "DENY"])
    expect(await form.text()).toContain('<input name="username"')
    expect(await (await enter(asked, "wrong")).text()).toContain("Invalid username or password.")
    const back = new URL((await enter(asked)).headers.get("location") ?? "")
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri)
    expect(back.searchParams.get("state")).toBe("s")
    const code = back.searchParams.get("code") ?? ""
    const answer = await redeem(code)
    expect(answer.status).toBe(200)
    const { jwks_uri } = await discover(provider.issuer)
    const { payload } = await jwtVerify(
      (answer.body as { id_token: string }).id_token,
      createRemoteJWKSet(new URL(jwks_uri)),
      { issuer: provider.issuer, audience: "web" },
    )
    expect(payload).toMatchObject({ sub: "ann", nonce: "n", azp: "web" })
    expect((await redeem(code)).status).toBe(400)
  })

  test("is refused for another client, address or verifier", async () => {
    const { code_challenge: _, ...plain } = asked
    expect((await fetch(address({ ...asked, client_id: "nobody" }))).status).toBe(400)
    expect((await fetch(address({ ...asked, redirect_uri: "https://evil.example/" }))).status).toBe(400)
    const without = await fetch(address(plain), { redirect: "manual" })
    expect(without.headers.get("location")).toContain("error=invalid_request")
    const codeOf = async () =>
      new URL((await enter(asked)).headers.get("location") ?? "").searchParams.get("code") ?? ""
    for (const wrong of [
      { code_verifier: "another" },
      { redirect_uri: "http://localhost:8000/" },
      { client_id: "mobile", client_secret: "mobile-secret" },
    ])
      expect(await redeem(await codeOf(), wrong)).toMatchObject({
        status: 400,
        body: { error: "invalid_grant" },
      })
  })

  test("ends at the provider", async () => {
    const logout = (query: string) =>
      fetch(`${provider.issuer}/protocol/openid-connect/logout${query}`, { redirect: "manual" })
    expect(await (await logout("")).text()).toContain("You are logged out.")
    const back = await logout("?post_logout_redirect_uri=http://localhost:8000/bye")
    expect(back.headers.get("location")).toBe("http://localhost:8000/bye")
    expect((await logout("?post_logout_redirect_uri=https://evil.example/")).status).toBe(400)
  })
})
