import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import type { TokenVerifier } from "../../runtime/identity/verifier.ts"
import { IssuerServer, type TestKey, testKey } from "./issuer-server.ts"

let key: TestKey
let server: IssuerServer

beforeEach(async () => {
  key = await testKey("one")
  server = await new IssuerServer([key]).start()
})
afterEach(() => server.stop())

function verifierAt(discovery: string): TokenVerifier {
  return createVerifier({
    name: "acme",
    source: { discovery, exact: true },
    audiences: ["api"],
    clockSkewSeconds: 30,
    algorithms: ["RS256"],
  })
}

describe("a discovery document at an exact address", () => {
  const entra = "https://sts.windows.net/7b1f/"

  it.each(["/.well-known/openid-configuration", "/v2.0/openid-configuration?p=signin"])(
    "%s may name another issuer, which tokens must carry",
    async (path) => {
      const asked: (string | undefined)[] = []
      server.discovery = ({ url }, response) => {
        asked.push(url)
        response.end(JSON.stringify({ issuer: entra, jwks_uri: `${server.url}/jwks` }))
      }
      const checked = verifierAt(`${server.url}${path}`)
      expect((await checked.verify(await server.token(key, { iss: entra }))).kind).toBe("verified")
      expect(await checked.verify(await server.token(key))).toMatchObject({
        kind: "invalid",
        fault: "TokenIssuerNotAllowed",
      })
      expect([checked.issuer(), asked]).toEqual([entra, [path]])
    },
  )

  it("must name one", async () => {
    server.discovery = (_, response) => void response.end(JSON.stringify({ jwks_uri: `${server.url}/jwks` }))
    const checked = verifierAt(`${server.url}/.well-known/openid-configuration`)
    expect((await checked.verify(await server.token(key))).kind).toBe("unavailable")
    expect(checked.state().lastError).toMatch(/has no `issuer`/)
  })
})
