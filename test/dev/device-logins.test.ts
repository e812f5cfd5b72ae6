import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"

let provider: IdentityProvider
let found: Record<string, string>

beforeAll(async () => {
  provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 })
  found = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as typeof found
})
afterAll(() => provider.close())

async function post(endpoint: string, form: Record<string, string>) {
  const body = new URLSearchParams({ client_id: "sallyport-cli", ...form })
  const response = await fetch(found[endpoint] ?? "", { method: "POST", body })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

const start = async () => (await post("device_authorization_endpoint", { scope: "openid" })).body
const redeem = (code: string, more: Record<string, string> = {}) =>
  post("token_endpoint", {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: code,
    ...more,
  })
const refresh = (token = "") => post("token_endpoint", { grant_type: "refresh_token", refresh_token: token })
const enter = async (code = "", more: Record<string, string> = {}) => {
  const body = new URLSearchParams({ user_code: code, username: "ann", password: "ann", ...more })
  return (await fetch(`${provider.issuer}/device`, { method: "POST", body })).text()
}

test("a user enters the code, and the device gets the user's tokens once", async () => {
  const { device_code = "", user_code = "", verification_uri, verification_uri_complete = "" } = await start()
  expect(user_code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
  expect(verification_uri).toBe(`${provider.issuer}/device`)
  expect(await (await fetch(verification_uri_complete)).text()).toContain(`value="${user_code}"`)
  expect(await redeem(device_code)).toMatchObject({ status: 400, body: { error: "authorization_pending" } })
  // Two polls within a second, which a busy machine may not manage at once.
  await expect.poll(async () => (await redeem(device_code)).body["error"]).toBe("slow_down")
  expect(await enter(user_code, { password: "bob" })).toContain("Invalid username or password.")
  expect(await enter(user_code.toLowerCase().replace("-", " "))).toContain("Device login successful")
  expect(await redeem(device_code, { client_id: "mobile", client_secret: "mobile-secret" })).toMatchObject({
    body: { error: "invalid_grant" },
  })
  const { status, body } = await redeem(device_code)
  expect(status).toBe(200)
  const keys = createRemoteJWKSet(new URL(found["jwks_uri"] ?? ""))
  const { payload } = await jwtVerify(body["access_token"] ?? "", keys, {
    issuer: provider.issuer,
    audience: "sallyport",
  })
  expect(payload).toMatchObject({ sub: "ann", azp: "sallyport-cli" })
  expect(decodeJwt(body["id_token"] ?? "")).toMatchObject({ aud: "sallyport-cli", sub: "ann" })
  expect(await redeem(device_code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } })
  expect(await enter(user_code)).toContain("Invalid code")
})

test("a refresh token is used once: the second use ends the login, as does a revocation", async () => {
  const login = async () => {
    const { device_code = "", user_code } = await start()
    await enter(user_code)
    return (await redeem(device_code)).body["refresh_token"]
  }
  const first = await login()
  const { body } = await refresh(first)
  expect(decodeJwt(body["access_token"] ?? "")).toMatchObject({ sub: "ann" })
  expect(await refresh(first)).toMatchObject({ status: 400, body: { error: "invalid_grant" } })
  expect(await refresh(body["refresh_token"])).toMatchObject({ status: 400 })
  const second = await login()
  expect((await post("revocation_endpoint", { token: second ?? "" })).status).toBe(200)
  expect(await refresh(second)).toMatchObject({ status: 400, body: { error: "invalid_grant" } })
  expect((await post("revocation_endpoint", { token: "unknown" })).status).toBe(200)
})

test("a user can deny it, and only the client without a secret may ask", async () => {
  const { device_code = "", user_code } = await start()
  expect(await enter(user_code, { answer: "deny" })).toContain("Device login denied")
  expect(await redeem(device_code)).toMatchObject({ body: { error: "access_denied" } })
  const asked = (client_id: string) => post("device_authorization_endpoint", { client_id })
  expect(await asked("web")).toMatchObject({ status: 400, body: { error: "unauthorized_client" } })
  expect(await asked("nobody")).toMatchObject({ status: 401, body: { error: "invalid_client" } })
  for (const grant_type of ["password", "client_credentials"])
    expect(await post("token_endpoint", { grant_type, username: "ann", password: "ann" })).toMatchObject({
      status: 400,
      body: { error: "unauthorized_client" },
    })
})

test("nothing but a code comes from the request into the page", async () => {
  const page = async (code: string) =>
    (await fetch(`${provider.issuer}/device?user_code=${encodeURIComponent(code)}`)).text()
  expect(await page('"><script>')).toContain('value=""')
  expect(await page("BCDF-GHJK")).toContain('value="BCDF-GHJK"')
})
