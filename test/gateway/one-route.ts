import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import type { TokenVerifier } from "../../runtime/identity/verifier.ts"
import type { Text } from "../../runtime/plan/text.ts"
import {
  type Draft,
  type RawAnswer,
  type Running,
  sendRaw,
  startGateway,
  startUpstream,
  type Upstream,
} from "./harness.ts"
import type { RouteDraft, StepDraft } from "./plan-builder.ts"

/** What is to be closed when a test has ended. */
export const closers: (() => Promise<void>)[] = []

/** Closes what `start` opened; for `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0)) await close()
}

/** A gateway with one route `* /a/{id}` before an echoing backend. */
export async function start(
  route: Partial<RouteDraft>,
  draft: Partial<Draft> = {},
  options: Partial<GatewayOptions> = {},
): Promise<{
  running: Running
  upstream: Upstream
  get: (path?: string, headers?: string) => Promise<RawAnswer>
}> {
  const upstream = await startUpstream()
  const running = await startGateway(
    { backends: { main: upstream.url }, routes: [{ method: "*", path: "/a/{id}", ...route }], ...draft },
    options,
  )
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  const get = (path = "/a/7", headers = "") =>
    sendRaw(running.port, `GET ${path} HTTP/1.1\r\nHost: gw:81\r\n${headers}\r\n`, 60)
  return { running, upstream, get }
}

export const cel = (text: string): Text => ({ text: [{ expression: { lang: "cel", text, type: "string" } }] })
export const header = (
  name: string,
  value: Text,
  action: "set" | "append" | "default" = "set",
): StepDraft => ({
  kind: "set-header",
  message: "request",
  action,
  name,
  values: [value],
})

/** The parts of a text, to be joined with others. */
export function parts(text: Text): Exclude<Text, string>["text"] {
  return typeof text === "string" ? [text] : text.text
}

/** A verifier whose tokens are JSON claims in base64url (answered at once or later by its length); `away` is not to be had. */
function fakeVerifier(): TokenVerifier {
  return {
    verify(token) {
      if (token === "away") return { kind: "unavailable", retryAfterSeconds: 7 }
      const verification = readToken(token)
      return token.length % 2 === 0 ? verification : Promise.resolve(verification)
    },
    issuer: () => undefined,
    state: () => ({ ready: true, lastError: undefined, keys: [], ageMs: 0 }),
    close: () => undefined,
  }
}

function readToken(token: string): ReturnType<TokenVerifier["verify"]> & { kind: string } {
  try {
    return {
      kind: "verified",
      claims: JSON.parse(Buffer.from(token, "base64url").toString()) as Record<string, unknown>,
      header: { alg: "none" },
    }
  } catch {
    return { kind: "invalid", reason: 'the token is "not" one', fault: "JwtInvalid" }
  }
}

export const tokenOf = (claims: object) =>
  `Authorization: Bearer ${Buffer.from(JSON.stringify(claims)).toString("base64url")}\r\n`
export const issuers: NonNullable<Draft["issuers"]> = {
  acme: {
    source: { discovery: "http://127.0.0.1:1" },
    audiences: ["a"],
    clockSkewSeconds: 0,
    algorithms: ["RS256"],
    claims: null,
  },
}
export const jwt: StepDraft = {
  kind: "validate-jwt",
  issuers: ["acme"],
  from: { header: "authorization", scheme: "Bearer" },
  claims: [{ claim: "scope", test: "has-any", values: ["read"] }],
  requireExpiration: true,
  status: 401,
  claimStatus: 403,
}
export const key: StepDraft = {
  kind: "validate-key",
  api: "main",
  header: "x-key",
  query: "key",
  status: 401,
  forward: false,
}
export const keyDraft: Partial<Draft> = {
  issuers,
  secrets: { k: { env: "K", default: "right" }, other: { env: "O", default: "elsewhere" } },
  products: { all: { apis: ["main"] }, none: { apis: [] } },
  subscriptions: {
    ann: { scope: { product: "all" }, key: "k" },
    bob: { scope: { product: "none" }, key: "other" },
  },
}
export const verifier = { createVerifier: fakeVerifier }
