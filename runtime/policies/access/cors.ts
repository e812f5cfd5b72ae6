import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import type { DirectAnswer } from "../messages/answer.ts"
import type { Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/**
 * Cross-origin resource sharing (Fetch standard §3.2). It runs before all other steps: it answers preflights itself, and adds the CORS headers to
 * every other response, including refusals. In an outbound section it removes the CORS headers of the backend, because browsers reject duplicates.
 */
export const cors: Policy<"cors"> = (plan, provision) => {
  if (plan.credentials && plan.origins.includes("*"))
    throw new Error("cors: credentials cannot be allowed to every origin")
  const origins = compileOrigins(plan, provision)
  const preflight = preflightAnswer(plan)
  const exposed = plan.expose.join(", ")
  return (exchange) => {
    if (exchange.section !== "inbound") {
      dropSharing(exchange)
      return undefined
    }
    const origin = exchange.headers.get("origin")
    const allowed = origin === undefined ? undefined : origins.allowed(origin, exchange)
    if (isPreflight(exchange)) {
      if (allowed === undefined) return plan.terminateUnmatched ? otherOrigin : undefined
      return preflight(allowed, exchange) ?? (plan.terminateUnmatched ? otherMethod : undefined)
    }
    if (origins.varies) exchange.answerWith("vary", "Origin")
    if (allowed === undefined) return undefined
    exchange.answerWith("access-control-allow-origin", allowed)
    if (plan.credentials) exchange.answerWith("access-control-allow-credentials", "true")
    if (exposed !== "") exchange.answerWith("access-control-expose-headers", exposed)
    return undefined
  }
}

/** Whether a request is a preflight: the browser asks whether it may send the actual request. */
export function isPreflight({ method, headers }: Pick<Exchange, "method" | "headers">): boolean {
  return (
    method === "OPTIONS" &&
    headers.get("origin") !== undefined &&
    headers.get("access-control-request-method") !== undefined
  )
}

const unmatched = { kind: "answer", status: 200, headers: ["vary", "Origin"], body: undefined } as const
const otherOrigin: DirectAnswer = {
  ...unmatched,
  cause: "the origin of the preflight request is not in `origins`",
}
const otherMethod: DirectAnswer = {
  ...unmatched,
  cause: "the method of the preflight request is not in `methods`",
}

interface Origins {
  /** Whether the response depends on the origin. */
  readonly varies: boolean
  /** Value of Access-Control-Allow-Origin. */
  allowed(origin: string, exchange: Exchange): string | undefined
}

/**
 * The origins of the plan: exact ones in a set, patterns for subdomains, and those that an expression computes. `varies`: the response
 * depends on Origin, which caches must know.
 */
function compileOrigins(plan: StepOf<"cors">, provision: Provision): Origins {
  if (plan.origins.includes("*")) return { varies: false, allowed: () => "*" }
  const texts = plan.origins.map((origin) => compileText(origin, provision, anyText))
  const exact = new Set<string>()
  const tests: ((origin: string, exchange: Exchange) => boolean)[] = []
  for (const text of texts) {
    const { constant } = text
    if (constant === undefined) tests.push((origin, exchange) => normalOrigin(text.of(exchange)) === origin)
    else if (constant.includes("://*.")) {
      const [scheme = "", host = ""] = normalOrigin(constant).split("://*")
      tests.push((origin) => isSubdomain(origin, scheme, host))
    } else exact.add(normalOrigin(constant))
  }
  return {
    varies: true,
    allowed: (origin, exchange) =>
      exact.has(origin) || tests.some((test) => test(origin, exchange)) ? origin : undefined,
  }
}

/** `host` begins with a dot. The part before it must be one or more labels and nothing else. */
function isSubdomain(origin: string, scheme: string, host: string): boolean {
  const prefix = `${scheme}://`
  if (!origin.startsWith(prefix) || !origin.endsWith(host)) return false
  const labels = origin.slice(prefix.length, origin.length - host.length)
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(labels)
}

/** Normalizes an origin as browsers send it: lower case, no default port, no path (RFC 6454 §6.2). */
function normalOrigin(text: string): string {
  const lower = text.toLowerCase().replace(/\/$/, "")
  if (lower.startsWith("https://")) return lower.replace(/:443$/, "")
  return lower.startsWith("http://") ? lower.replace(/:80$/, "") : lower
}

/** With `*`, a preflight may name methods and headers that are not configured. Only valid tokens are copied into the response. */
const tokens = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}){0,100}$/

/**
 * The answer to a preflight (Fetch standard); undefined if the method is not allowed. The wanted headers are repeated only if they are
 * tokens.
 */
function preflightAnswer(
  plan: StepOf<"cors">,
): (origin: string, exchange: Exchange) => DirectAnswer | undefined {
  const methods = plan.methods.length === 0 ? ["GET", "POST"] : plan.methods
  const anyMethod = methods.includes("*")
  const anyHeader = plan.headers.includes("*")
  const allowedMethods = methods.join(", ")
  const allowedHeaders = plan.headers.join(", ")
  return (origin, { headers }) => {
    const method = headers.get("access-control-request-method") ?? ""
    if (!tokens.test(method) || (!anyMethod && !methods.includes(method))) return undefined
    const wanted = headers.get("access-control-request-headers")
    const lines = ["access-control-allow-origin", origin]
    lines.push("access-control-allow-methods", anyMethod ? method : allowedMethods)
    if (anyHeader && wanted !== undefined && tokens.test(wanted))
      lines.push("access-control-allow-headers", wanted)
    else if (!anyHeader && allowedHeaders !== "") lines.push("access-control-allow-headers", allowedHeaders)
    if (plan.credentials) lines.push("access-control-allow-credentials", "true")
    if (plan.maxAgeSeconds > 0) lines.push("access-control-max-age", String(plan.maxAgeSeconds))
    lines.push("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
    return { kind: "answer", status: 204, headers: lines, body: undefined }
  }
}

function dropSharing({ response }: Exchange): void {
  if (response === undefined) return
  for (const name of sharing) response.headers.remove(name)
}

const sharing = [
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-expose-headers",
  "access-control-max-age",
]
