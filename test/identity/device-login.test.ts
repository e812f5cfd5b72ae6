import { describe, expect, test } from "vitest"
import { DeviceLogin } from "../../runtime/oidc/device-login.ts"

const discovery = "https://id.example/.well-known/openid-configuration"
const endpoints = {
  issuer: "https://id.example",
  token_endpoint: "https://id.example/token",
  device_authorization_endpoint: "https://id.example/device",
  revocation_endpoint: "https://id.example/revoke",
}
const started = {
  ...{ device_code: "dc", user_code: "WDJB-MJHT", verification_uri: "https://id.example/go" },
  ...{ expires_in: 600, interval: 5 },
}
const tokens = { access_token: "at", token_type: "Bearer", expires_in: 300, refresh_token: "rt" }

interface Sent {
  readonly url: string
  readonly body: Buffer | undefined
}

type Scripted = { readonly status: number; readonly body: unknown } | "away"
const ok = (body: unknown): Scripted => ({ status: 200, body })
const error = (code: string, status = 400): Scripted => ({ status, body: { error: code } })

/** A provider whose responses by path are given in order, the last one for all later requests, and a clock that only sleeping moves. */
function provider(script: Readonly<Record<string, readonly Scripted[]>>, document: object = endpoints) {
  const counts = new Map<string, number>()
  const forms: Record<string, string>[] = []
  const pauses: number[] = []
  let now = 0
  const http = {
    send: async ({ url, body }: Sent) => {
      const answer = (): Scripted => {
        if (url === discovery) return ok(document)
        forms.push(Object.fromEntries(new URLSearchParams(body?.toString())))
        const { pathname } = new URL(url)
        const at = counts.get(pathname) ?? 0
        counts.set(pathname, at + 1)
        return script[pathname]?.[Math.min(at, script[pathname].length - 1)] ?? "away"
      }
      const found = answer()
      if (found === "away") throw new Error("ECONNREFUSED")
      const text = typeof found.body === "string" ? found.body : JSON.stringify(found.body)
      return { status: found.status, body: Buffer.from(text) }
    },
  }
  const clocks = {
    monotonic: () => now,
    sleep: async (ms: number) => {
      pauses.push(ms / 1000)
      now += ms
    },
  }
  const settings = { discovery, client: "cli", scope: "openid groups" }
  return { login: new DeviceLogin(settings, http, clocks), forms, pauses }
}

describe("the code", () => {
  test("is requested for the client and scope of the plan", async () => {
    const complete = { ...started, verification_uri_complete: "https://id.example/go?c=WDJB-MJHT" }
    const { login, forms } = provider({ "/device": [ok(complete)] })
    expect(await login.start()).toEqual({
      ...{ userCode: "WDJB-MJHT", page: "https://id.example/go", deviceCode: "dc" },
      ...{ pageWithCode: "https://id.example/go?c=WDJB-MJHT", lifetimeMs: 600_000, intervalMs: 5_000 },
    })
    expect(forms).toEqual([{ client_id: "cli", scope: "openid groups" }])
  })

  test("has an interval of five seconds where the provider names none, and at least one", async () => {
    const { interval: _, ...without } = started
    const { login } = provider({ "/device": [ok(without), ok({ ...started, interval: 0.01 })] })
    expect([(await login.start()).intervalMs, (await login.start()).intervalMs]).toEqual([5_000, 1_000])
  })

  test.each([
    ["control characters in the code", { ...started, user_code: "A\u001b[2J" }, /lacks/],
    ["a page that is a script", { ...started, verification_uri: "javascript:alert(1)" }, /lacks/],
    ["no end", { ...started, expires_in: "soon" }, /lacks/],
    ["HTML", "<html>", /lacks/],
  ])("a response with %s is refused", async (_, body, said) => {
    const { login } = provider({ "/device": [ok(body)] })
    await expect(login.start()).rejects.toMatchObject({
      reason: "invalid",
      message: expect.stringMatching(said),
    })
  })

  test("a page with the code that is no page is left out", async () => {
    const { login } = provider({ "/device": [ok({ ...started, verification_uri_complete: "data:x" })] })
    expect((await login.start()).pageWithCode).toBeUndefined()
  })

  test("the provider's reason is shown, without control characters", async () => {
    const refused = (said: string) => ({
      status: 401,
      body: { error: "invalid_client", error_description: said },
    })
    const { login } = provider({ "/device": [refused("Unknown client"), refused("\u001b[2J")] })
    await expect(login.start()).rejects.toThrow("responds with 401 (invalid_client: Unknown client)")
    await expect(login.start()).rejects.toThrow(/responds with 401 \(invalid_client\)$/)
  })

  test.each([
    ["has no device login", { ...endpoints, device_authorization_endpoint: undefined }, "invalid"],
    [
      "is not https",
      { ...endpoints, device_authorization_endpoint: "http://id.example/device" },
      "unavailable",
    ],
    ["is a private address", { ...endpoints, token_endpoint: "https://10.0.0.1/token" }, "unavailable"],
    ["has no `token_endpoint`", { ...endpoints, token_endpoint: undefined }, "unavailable"],
  ])("a provider that %s", async (said, document, reason) => {
    await expect(provider({}, document).login.start()).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(said),
    })
  })
})

describe("polling", () => {
  const polled = async (script: readonly Scripted[]) => {
    const { login, ...seen } = provider({ "/device": [ok(started)], "/token": script })
    const result = login.wait(await login.start())
    return { result, ...seen }
  }

  test("waits for the interval, and longer after `slow_down`", async () => {
    const pending = error("authorization_pending")
    const { result, pauses, forms } = await polled([pending, error("slow_down"), pending, ok(tokens)])
    expect(await result).toMatchObject({ accessToken: "at", refreshToken: "rt", lifetimeMs: 300_000 })
    expect(pauses).toEqual([5, 5, 10, 10])
    expect(forms.at(-1)).toEqual({
      ...{ grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "dc", client_id: "cli" },
    })
  })

  test("goes on, less often, while the provider is away or busy", async () => {
    const busy: Scripted = { status: 503, body: "" }
    const { result, pauses } = await polled(["away", busy, error("slow_down", 429), ok(tokens)])
    await result
    expect(pauses).toEqual([5, 10, 20, 40])
  })

  test.each([
    ["access_denied", "refused", "the login was denied at the provider"],
    ["expired_token", "refused", "the code expired before the login was finished"],
    ["invalid_grant", "refused", "the token endpoint responds with 400 (invalid_grant)"],
    ["unsupported_grant_type", "invalid", "the token endpoint responds with 400 (unsupported_grant_type)"],
  ])("ends with %s", async (code, reason, message) => {
    const { result, pauses } = await polled([error("authorization_pending"), error(code)])
    await expect(result).rejects.toMatchObject({ reason, message })
    expect(pauses).toHaveLength(2)
  })

  test("ends when the code expires, although the provider does not say so", async () => {
    const { result, pauses } = await polled([error("authorization_pending")])
    await expect(result).rejects.toMatchObject({ reason: "refused" })
    expect(pauses.reduce((sum, each) => sum + each)).toBe(600)
  })

  test("a token of another type is not taken", async () => {
    const { result } = await polled([ok({ ...tokens, token_type: "DPoP" })])
    await expect(result).rejects.toThrow("a token of another type than Bearer")
  })
})

describe("after the login", () => {
  test("a refresh keeps the refresh token where the provider gives no new one", async () => {
    const { refresh_token: _, ...without } = tokens
    const { login, forms } = provider({ "/token": [ok({ ...tokens, refresh_token: "rt2" }), ok(without)] })
    expect(await login.refresh("rt1")).toMatchObject({ refreshToken: "rt2" })
    expect(await login.refresh("rt2")).toMatchObject({ refreshToken: "rt2" })
    expect(forms[0]).toEqual({ grant_type: "refresh_token", refresh_token: "rt1", client_id: "cli" })
  })

  test("a refresh tells a refused grant from a provider that is away", async () => {
    const { login } = provider({ "/token": [error("invalid_grant"), "away", { status: 502, body: "" }] })
    const reasons = []
    for (let at = 0; at < 3; at += 1)
      reasons.push(await login.refresh("rt").catch(({ reason }: { reason: string }) => reason))
    expect(reasons).toEqual(["refused", "unavailable", "unavailable"])
  })

  test("tokens are revoked where the provider can", async () => {
    const { login, forms } = provider({ "/revoke": [ok("")] })
    expect(await login.revoke("rt", "refresh_token")).toBe(true)
    expect(forms).toEqual([{ token: "rt", token_type_hint: "refresh_token", client_id: "cli" }])
    const { revocation_endpoint: _, ...without } = endpoints
    expect(await provider({}, without).login.revoke("rt", "refresh_token")).toBe(false)
    await expect(
      provider({ "/revoke": [error("invalid_client", 401)] }).login.revoke("rt", "refresh_token"),
    ).rejects.toThrow("the revocation endpoint responds with 401 (invalid_client)")
  })
})
