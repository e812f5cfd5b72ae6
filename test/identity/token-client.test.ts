import { describe, expect, test } from "vitest"
import { NoToken, TokenClient, type TokenClientSettings } from "../../runtime/identity/token-client.ts"

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
}

/** An endpoint whose answers are written down, and a clock that is set. */
function endpoint(
  answers: (asked: Asked) => { status: number; body: unknown } | "away",
  settings: Partial<TokenClientSettings> = {},
) {
  const asked: Asked[] = []
  const clock = { now: 0 }
  const http = {
    send: async (request: Asked) => {
      asked.push(request)
      const answer = answers(request)
      if (answer === "away") throw new Error("ECONNREFUSED")
      const body = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body)
      return { status: answer.status, body: Buffer.from(body) }
    },
  }
  const all: TokenClientSettings = {
    name: "stock",
    endpoint: { url: "https://id.example/token" },
    client: "gate way",
    secret: "s:ü",
    scope: undefined,
    audience: undefined,
    inBody: undefined,
    ...settings,
  }
  return { asked, clock, client: new TokenClient(all, http, () => clock.now) }
}

const numbered = () => {
  let count = 0
  return () => {
    count += 1
    return { status: 200, body: { access_token: `t${count}`, token_type: "bearer", expires_in: 600 } }
  }
}

describe("client credentials", () => {
  test("asks once for all who wait, keeps the token until shortly before its end", async () => {
    const { asked, clock, client } = endpoint(numbered())
    expect(await Promise.all([client.token(), client.token(), client.token()])).toEqual(["t1", "t1", "t1"])
    expect(asked).toHaveLength(1)
    clock.now = 569_999
    expect(client.token()).toBe("t1")
    clock.now = 570_000
    expect(await client.token()).toBe("t2")
  })

  test("id and secret are form-encoded before they are joined, scope and audience are sent", async () => {
    const { asked, client } = endpoint(numbered(), { scope: "a b", audience: "x" })
    await client.token()
    const [request] = asked
    const at = request?.headers.indexOf("authorization") ?? -1
    const basic = Buffer.from((request?.headers[at + 1] ?? "").slice(6), "base64").toString()
    expect(basic).toBe("gate+way:s%3A%C3%BC")
    expect(request?.body?.toString()).toBe("grant_type=client_credentials&scope=a+b&audience=x")
  })

  test("in the form where it is said, or where the discovery document knows no other way", async () => {
    const said = endpoint(numbered(), { inBody: true })
    await said.client.token()
    expect(said.asked[0]?.body?.toString()).toContain("client_id=gate+way&client_secret=s%3A%C3%BC")
    expect(said.asked[0]?.headers).not.toContain("authorization")
    const give = numbered()
    const found = endpoint(
      ({ method }) =>
        method === "GET"
          ? {
              status: 200,
              body: {
                token_endpoint: "https://id.example/t",
                token_endpoint_auth_methods_supported: ["client_secret_post"],
              },
            }
          : give(),
      { endpoint: { discovery: "https://id.example" } },
    )
    expect(await found.client.token()).toBe("t1")
    expect(found.asked.map(({ url }) => url)).toEqual([
      "https://id.example/.well-known/openid-configuration",
      "https://id.example/t",
    ])
    expect(found.asked[1]?.body?.toString()).toContain("client_secret=")
  })

  test("a refused token is replaced, at most once a second", async () => {
    const { client, clock } = endpoint(numbered())
    expect(await client.token()).toBe("t1")
    expect(client.renew("t1")).toBe(true)
    expect(await client.token()).toBe("t2")
    expect([client.renew("t1"), client.renew("t2")]).toEqual([true, false])
    clock.now = 2_000
    await client.token()
    expect(client.renew("t3")).toBe(true)
  })
})

describe("no token", () => {
  const failures: readonly [string, () => { status: number; body: unknown } | "away", string][] = [
    ["no answer", () => "away", "unreachable"],
    ["a wrong secret", () => ({ status: 401, body: { error: "invalid_client" } }), "refused"],
    ["no JSON", () => ({ status: 200, body: "<html>" }), "refused"],
    ["no token", () => ({ status: 200, body: { token_type: "bearer" } }), "refused"],
    [
      "a token that would split a header",
      () => ({ status: 200, body: { access_token: "a\r\nb: c", token_type: "bearer" } }),
      "refused",
    ],
    [
      "another type of token",
      () => ({ status: 200, body: { access_token: "a", token_type: "mac" } }),
      "refused",
    ],
  ]
  test.each(failures)("%s", async (_, answer, reason) => {
    const { client } = endpoint(answer)
    const error = await Promise.resolve(client.token()).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(NoToken)
    expect((error as NoToken).reason).toBe(reason)
    expect((error as NoToken).message).not.toContain("s:ü")
  })

  test("after a failure nobody asks for a second; then somebody does", async () => {
    let away = true
    const give = numbered()
    const { client, clock, asked } = endpoint(() => (away ? "away" : give()))
    await expect(client.token()).rejects.toThrow("stock")
    await expect(client.token()).rejects.toThrow("stock")
    expect(asked).toHaveLength(1)
    away = false
    clock.now = 1_000
    expect(await client.token()).toBe("t1")
  })

  test("a discovery document does not lead the secret out of https", async () => {
    const { client, asked } = endpoint(
      () => ({ status: 200, body: { token_endpoint: "http://id.example/t" } }),
      { endpoint: { discovery: "https://id.example" } },
    )
    await expect(client.token()).rejects.toThrow("is not https")
    expect(asked).toHaveLength(1)
  })
})
