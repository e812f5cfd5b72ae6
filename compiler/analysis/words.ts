import { durationText } from "../../runtime/plan/quantities.ts"
import type {
  Backend,
  DiscoveryPlan,
  InlineKey,
  Issuer,
  TokenClientPlan,
} from "../../runtime/plan/resources.ts"
import type { LimitKey } from "../../runtime/plan/step-values.ts"
import type { LoadText, Reference, Text, TextPart } from "../../runtime/plan/text.ts"

/** A text in quotes as gateway.conf writes it, its named values and expressions in `${…}`: `"order:${path.id}"`. */
export function textWords(text: Text | LoadText): string {
  return `"${piecesOf(text)
    .map((piece) => ("literal" in piece ? escaped(piece.literal, piece.beforeExpression) : piece.source))
    .join("")}"`
}

/** A part of a text: a literal or an inserted value. */
export type TextSegment =
  | { readonly literal: string; readonly beforeExpression: boolean }
  | { readonly source: string }

/** The parts of a text, in order. */
export function piecesOf(text: Text | LoadText): TextSegment[] {
  const parts: readonly TextPart[] = typeof text === "string" ? [text] : text.text
  return parts.map((part, index) => {
    if (typeof part === "string")
      return { literal: part, beforeExpression: typeof (parts[index + 1] ?? "") !== "string" }
    if ("value" in part) return { source: `\${${part.value}}` }
    if ("secret" in part) return { source: `\${${part.secret}}` }
    return { source: `\${${part.expression.text}}` }
  })
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\t": "\\t",
  "\r": "\\r",
}

/** Escapes a text as gateway.conf does. `$` before an expression would begin another one. */
function escaped(text: string, beforeExpression: boolean): string {
  const made = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are escaped here.
    .replace(/[\\"\u0000-\u001f\u007f-\u009f]/g, (character) => {
      const code = character.charCodeAt(0).toString(16)
      return escapes[character] ?? `\\u{${code}}`
    })
    .replaceAll("${", () => "$${")
  return beforeExpression && made.endsWith("$") ? `${made.slice(0, -1)}\\u{24}` : made
}

/** `env(NAME, "default")`, `file("path")`. */
export function referenceWords(reference: Reference): string {
  if ("file" in reference) return `file(${JSON.stringify(reference.file)})`
  return reference.default === undefined
    ? `env(${reference.env})`
    : `env(${reference.env}, ${JSON.stringify(reference.default)})`
}

/** `30s`, `5m`, `1500ms`; `none` for null. */
export function durationWords(ms: number | null): string {
  return ms === null ? "none" : durationText(ms)
}

/** `subscription else ip`. */
export function limitKeyWords(keys: readonly LimitKey[]): string {
  return keys.map(limitKeyWord).join(" else ")
}

function limitKeyWord(key: LimitKey): string {
  if (key.by === "text") return textWords(key.text)
  return key.by === "claim" ? `jwt.${key.claim}` : key.by
}

/** The statements of a backend, by field of the plan. */
export const backendStatements: {
  readonly [Key in keyof Required<Backend>]: (backend: Pick<Backend, Key>) => string
} = {
  targets: ({ targets }) => {
    const [only] = targets
    if (targets.length === 1 && only?.weight === 1) return `url ${textWords(only.url)}`
    return targets
      .map(({ url, weight }) => `target ${textWords(url)}${weight === 1 ? "" : ` weight ${weight}`}`)
      .join("; ")
  },
  discovery: ({ discovery }) =>
    discovery === undefined
      ? "targets of the plan"
      : discovery.by === "kubernetes"
        ? serviceWords(discovery)
        : `targets ${discovery.by}`,
  connectMs: ({ connectMs }) => `timeout connect ${durationWords(connectMs)}`,
  totalMs: ({ totalMs }) => `timeout total ${durationWords(totalMs)}`,
  firstByteMs: ({ firstByteMs }) => `timeout first-byte ${durationWords(firstByteMs ?? null)}`,
  idleMs: ({ idleMs }) => `timeout idle ${durationWords(idleMs ?? null)}`,
  tls: ({ tls: { ca, insecure, certificate } }) => {
    const shown = certificate === undefined ? "" : `; authenticate certificate ${certificate}`
    if (insecure) return `tls { insecure }${shown}`
    return ca === undefined ? `tls { }${shown}` : `tls { ca ${referenceWords(ca)} }${shown}`
  },
  authentication: ({ authentication }) => {
    if (authentication === undefined) return "no credentials of the gateway"
    return authentication.scheme === "token"
      ? `authenticate token ${authentication.client}`
      : `authenticate basic ${textWords(authentication.user)} ${authentication.password}`
  },
  http2: ({ http2 }) => (http2 === "h2c" ? "http2 h2c" : http2 === true ? "http2" : "HTTP/1.1"),
  balance: ({ balance }) => `balance ${balance ?? "round-robin"}`,
  health: ({ health }) =>
    health === undefined
      ? "no health checks"
      : `health ${health.method} "${health.path}" every ${durationWords(health.everyMs)}`,
  breaker: ({ breaker }) => {
    if (breaker === undefined) return "no breaker"
    const { calls, percent, windowMs, openMs } = breaker
    const rule = percent === undefined ? `${calls} failures` : `${percent}% of ${calls} calls`
    return `breaker ${rule} in ${durationWords(windowMs)} open ${durationWords(openMs)}`
  },
  retry: ({ retry }) =>
    retry === undefined
      ? "no retries"
      : `retry ${retry.times} on ${retry.on.join(" ")}${retry.methods.length === 0 ? "" : ` { even ${retry.methods.join(" ")} }`}`,
}

const optionalFields = [
  "firstByteMs",
  "idleMs",
  "http2",
  "balance",
  "health",
  "breaker",
  "retry",
  "authentication",
] as const

/** Where the targets of a backend come from: the plan, or what finds them. */
function targetsWords(backend: Backend): string {
  const [only] = backend.targets
  if (backend.discovery === undefined || only === undefined) return backendStatements.targets(backend)
  if (backend.discovery.by !== "kubernetes") return `targets ${backend.discovery.by} ${textWords(only.url)}`
  const isSecure = textWords(only.url).startsWith('"https:')
  return `${serviceWords(backend.discovery)}${isSecure ? " https" : ""}`
}

function serviceWords({ namespace, service, port }: Extract<DiscoveryPlan, { by: "kubernetes" }>): string {
  const before = namespace === undefined ? "" : `${namespace}/`
  return `targets kubernetes "${before}${service}${port === undefined ? "" : `:${port}`}"`
}

/** A backend's block on one line, without settings that have their default. */
export function backendWords(backend: Backend): string {
  const { connectMs, totalMs, tls } = backend
  return `{ ${[
    targetsWords(backend),
    ...(connectMs === 2000 ? [] : [backendStatements.connectMs(backend)]),
    ...(totalMs === null ? [] : [backendStatements.totalMs(backend)]),
    ...(tls.insecure || tls.ca !== undefined || tls.certificate !== undefined
      ? [backendStatements.tls(backend)]
      : []),
    ...optionalFields.flatMap((field) =>
      backend[field] === undefined ? [] : [backendStatements[field](backend)],
    ),
  ].join("; ")} }`
}

/** The statements of an issuer, by field of the plan. */
export const issuerStatements: { readonly [Key in keyof Required<Issuer>]: (issuer: Issuer) => string } = {
  source: ({ source }) =>
    "discovery" in source
      ? `discovery ${textWords(source.discovery)}${source.exact === true ? " exact" : ""}`
      : [
          ...("inline" in source ? source.inline.map(keyWords) : [`keys ${referenceWords(source.keys)}`]),
          source.issuer === null ? "issuer *" : `issuer ${textWords(source.issuer)}`,
        ].join("; "),
  audiences: ({ audiences }) =>
    audiences === null ? "audience *" : `audience ${audiences.map(textWords).join(" ")}`,
  clockSkewSeconds: ({ clockSkewSeconds }) => `clock-skew ${clockSkewSeconds}s`,
  algorithms: ({ algorithms }) => `algorithms ${algorithms.join(" ")}`,
  claims: ({ claims }) => {
    if (claims === null) return "any claims"
    const listed = Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1))
    return `claims { ${listed.map(([name, type]) => `${name} ${type}`).join("; ")} }`
  },
}

/** A key for display. The beginning of a public key suffices to identify it. */
function keyWords(key: InlineKey): string {
  const id = key.id === null ? "" : ` ${JSON.stringify(key.id)}`
  if ("secret" in key) return `key secret ${key.secret}${key.encoding === "base64" ? " base64" : ""}${id}`
  if ("certificate" in key) return `key certificate ${referenceWords(key.certificate)}${id}`
  return `key rsa "${key.rsa.n.slice(0, 12)}…" "${key.rsa.e}"${id}`
}

/** An issuer's block on one line. */
export function issuerWords(issuer: Issuer): string {
  return `{ ${issuerStatements.source(issuer)}; ${issuerStatements.audiences(issuer)} }`
}

/** `a`, `a and b`, `a, b and c`, or the first items and the number of the others. */
export function listWords(items: readonly string[], shownMax = 4): string {
  if (items.length <= 1) return items[0] ?? ""
  if (items.length > shownMax)
    return `${items.slice(0, shownMax - 1).join(", ")} and ${items.length - shownMax + 1} more`
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`
}

/** The same for names, formatted as code. */
export function codeWords(names: readonly string[]): string {
  return listWords(names.map((name) => `\`${name}\``))
}

/** `1 route`, `10 routes`, `3 APIs`. */
export function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}

/** A route's key as the language writes it: `ANY /items/{rest*}`. */
export function routeWords(key: string): string {
  return key.replace(/^\* /, "ANY ")
}

/** A token client's block on one line. */
export function tokenWords({ endpoint, client, secret, scope, audience, inBody }: TokenClientPlan): string {
  return `{ ${[
    "url" in endpoint ? `url ${textWords(endpoint.url)}` : `discovery ${textWords(endpoint.discovery)}`,
    `client ${textWords(client)} secret ${secret}`,
    ...(scope === undefined ? [] : [`scope ${textWords(scope)}`]),
    ...(audience === undefined ? [] : [`audience ${textWords(audience)}`]),
    ...(inBody === true ? ["in-body"] : []),
  ].join("; ")} }`
}

/** `"X-A"`, or the text of a name that is evaluated per request. */
export function nameWords(name: string | { readonly text: Text }): string {
  return typeof name === "string" ? JSON.stringify(name) : textWords(name.text)
}

/** A header's name for a sentence. */
export function nameShown(name: string | { readonly text: Text }): string {
  return `\`${typeof name === "string" ? name : nameWords(name)}\``
}

/** The name of a header if it is constant. */
export function constantName(name: string | { readonly text: Text }): string | undefined {
  if (typeof name === "string") return name
  return typeof name.text === "string" ? name.text : undefined
}
