import { expect, test } from "vitest"
import { requestText } from "../../compiler/cli/views/explain-request.ts"
import { explainOffline } from "../../runtime/gateway/explain/explain-offline.ts"
import type { RequestQuestion } from "../../runtime/gateway/explain/request-explanation.ts"
import { compiled } from "../diff/compiled.ts"
import { newGateway } from "../gateway/harness.ts"
import { freePort } from "../support/free-port.ts"

const projectOf = (port: number) => `
gateway test { listen 127.0.0.1:${port}; trust none; limits { shared redis redis_url } }
secret redis_url = env(REDIS_URL)
secret s = env(SECRET)
secret key = env(KEY)
issuer corp { discovery "http://127.0.0.1:1/realms/acme"; audience api }
oidc web {
  issuer corp; client "web" secret s; session-keys key; session redis
  back-channel-logout "/ended"; after-logout "/public/bye"
}
oidc shop { issuer corp; client "shop"; session-keys key; logout "/out" }
api app { path "/app"; host "app.example"; auth oidc web; GET "/" { respond 200 } }
api shop { path "/shop"; host "shop.example"; auth oidc shop; GET "/" { respond 200 } }
`

const environment = {
  REDIS_URL: "redis://127.0.0.1:1",
  SECRET: "s3cret-of-ours",
  KEY: "the key of sessions, with 32 bytes",
}

const question = (given: Partial<RequestQuestion>): RequestQuestion => ({
  ...{ method: "GET", target: "/", host: "app.example", ip: "127.0.0.1", headers: [], body: undefined },
  ...given,
})

const explain = (given: Partial<RequestQuestion>) =>
  explainOffline(compiled({ "gateway.conf": projectOf(1) }), question(given), {
    environment,
    folder: process.cwd(),
  })

test("a callback: what happens, in order, and under which condition", async () => {
  const explained = await explain({ target: "/oauth2/callback?code=c&state=s" })
  expect(requestText(explained)).toBe(`\
GET /oauth2/callback on app.example from 127.0.0.1 (from the plan alone; no running Sallyport was asked)
login: \`/oauth2/callback\` is the \`callback\` path of \`oidc web\`, which the gateway serves itself
  1. finds the login of \`state\` in a cookie of this browser, and removes the cookie; without it: 400 \`login-invalid\`
  2. compares \`iss\` with the provider, if the provider says that it sends it
  3. ends with 403 \`login-refused\` if the response has an \`error\`
  4. exchanges the code for tokens at the provider, with the code verifier and \`secret s\`
  5. verifies the ID token: signature by a key of \`issuer corp\`, issuer, audience (the client), expiry, and \`nonce\`
  6. keeps the session in Redis for 28800 s, encrypted, and gives the browser a new random id of it
  7. redirects the browser to the page that it wanted
The response is 302, from oidc web (gateway.conf:7).
  if the response belongs to a login of this browser, and the provider gives valid tokens
`)
})

test("the other paths, with what differs between clients", async () => {
  const login = await explain({ target: "/oauth2/login?return_to=/app" })
  expect(login.login?.order.at(-1)).toContain("it returns to `//app.example/oauth2/callback`")
  expect(login.verdict).toMatchObject({ status: 302 })
  const logout = await explain({ target: "/oauth2/logout", method: "POST" })
  expect(logout.login?.order).toEqual(
    expect.arrayContaining([expect.stringContaining("removes the session from Redis")]),
  )
  expect(logout.login?.order.at(-1)).toBe("the provider returns it to `/public/bye`")
  const other = await explain({ target: "/out", host: "shop.example" })
  expect(other.login?.order.at(-1)).toBe("the provider shows its own page")
  expect(other.verdict?.assuming).toContain("the provider has a logout page")
  const ended = await explain({ target: "/ended", method: "POST" })
  expect(ended.login).toMatchObject({ client: "web", does: "back-channel-logout" })
  expect(ended.verdict).toMatchObject({ status: 200 })
  // The paths of a client are only on the hosts of its routes.
  expect(await explain({ target: "/ended", host: "shop.example" })).not.toHaveProperty("login")
})

test("a request that is refused in any case", async () => {
  expect(await explain({ target: "/oauth2/callback" })).toMatchObject({
    verdict: { status: 400, problem: "login-invalid" },
  })
  expect(await explain({ target: "/oauth2/login?return_to=//evil.example" })).toMatchObject({
    verdict: { status: 400, problem: "invalid-request" },
  })
  expect(await explain({ target: "/ended" })).toMatchObject({
    verdict: { status: 405, problem: "method-not-allowed" },
  })
})

test("a running gateway says the same", async () => {
  const port = await freePort()
  const gateway = newGateway({ folder: process.cwd(), environment })
  await gateway.apply(compiled({ "gateway.conf": projectOf(port) }))
  const target = "/oauth2/callback?code=c&state=s"
  const explained = await gateway.explain(question({ target }))
  await gateway.close(0)
  expect(explained).toMatchObject({ live: true, login: (await explain({ target })).login })
})
