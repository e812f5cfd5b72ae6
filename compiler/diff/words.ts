import type { Address, Backend, Issuer } from "../../runtime/plan/resources.ts"
import type { LimitKey } from "../../runtime/plan/steps.ts"
import type { LoadText, Reference, Text, TextPart } from "../../runtime/plan/text.ts"

/** A text as gateway.conf writes it: `"order:${path.id}"`. */
export function textWords(text: Text | LoadText): string {
  return `"${typeof text === "string" ? literalWords(text) : text.text.map(partWords).join("")}"`
}

function partWords(part: TextPart): string {
  if (typeof part === "string") return literalWords(part)
  if ("value" in part) return `\${${part.value}}`
  if ("secret" in part) return `\${${part.secret}}`
  return `\${${part.expression.text}}`
}

function literalWords(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll("${", "$${")
}

/** `env(NAME, "default")`, `file("path")`. */
export function referenceWords(reference: Reference): string {
  if ("file" in reference) return `file(${JSON.stringify(reference.file)})`
  return reference.default === undefined
    ? `env(${reference.env})`
    : `env(${reference.env}, ${JSON.stringify(reference.default)})`
}

/** `127.0.0.1:8000`, `[::1]:8000`. */
export function addressWords({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}

/** `30s`, `5m`, `1500ms`; `none` for null. */
export function durationWords(ms: number | null): string {
  if (ms === null) return "none"
  const unit = durationUnits.find(([size]) => ms !== 0 && ms % size === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unit[0]}${unit[1]}`
}

const durationUnits = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
] as const

/** `10MB`, `16KB`, `100B`: multiples of 1024, as the language counts. */
export function sizeWords(bytes: number): string {
  const unit = sizeUnits.find(([size]) => bytes !== 0 && bytes % size === 0)
  return unit === undefined ? `${bytes}B` : `${bytes / unit[0]}${unit[1]}`
}

const sizeUnits = [
  [2 ** 30, "GB"],
  [2 ** 20, "MB"],
  [2 ** 10, "KB"],
] as const

/** `subscription else ip`. */
export function limitKeyWords(keys: readonly LimitKey[]): string {
  return keys.map((key) => (key.by === "claim" ? `jwt.${key.claim}` : key.by)).join(" else ")
}

/** A backend's block in one line. */
export function backendWords({ targets, connectMs, totalMs, tls }: Backend): string {
  const [only] = targets
  const statements =
    targets.length === 1 && only?.weight === 1
      ? [`url ${textWords(only.url)}`]
      : targets.map(({ url, weight }) => `target ${textWords(url)}${weight === 1 ? "" : ` weight ${weight}`}`)
  if (connectMs !== 2000 || totalMs !== null)
    statements.push(
      `timeout connect ${durationWords(connectMs)}${totalMs === null ? "" : ` total ${durationWords(totalMs)}`}`,
    )
  if (tls.ca !== undefined) statements.push(`tls { ca ${referenceWords(tls.ca)} }`)
  if (tls.insecure) statements.push("tls { insecure }")
  return `{ ${statements.join("; ")} }`
}

/** An issuer's block in one line. */
export function issuerWords({ source, audiences, clockSkewSeconds, algorithms, claims }: Issuer): string {
  const statements =
    "discovery" in source
      ? [`discovery ${textWords(source.discovery)}`]
      : [`keys ${referenceWords(source.keys)}`, `issuer ${textWords(source.issuer)}`]
  statements.push(
    audiences === null ? "any-audience" : `audience ${audiences.map(textWords).join(" ")}`,
    `clock-skew ${clockSkewSeconds}s`,
    `algorithms ${algorithms.join(" ")}`,
  )
  if (claims !== null)
    statements.push(
      `claims { ${Object.entries(claims)
        .sort()
        .map(([name, type]) => `${name} ${type}`)
        .join("; ")} }`,
    )
  return `{ ${statements.join("; ")} }`
}

/** `a`, `a and b`, `a, b and c`, or the first of them and how many more there are. */
export function listWords(items: readonly string[], shownMax = 4): string {
  if (items.length <= 1) return items[0] ?? ""
  if (items.length > shownMax)
    return `${items.slice(0, shownMax - 1).join(", ")} and ${items.length - shownMax + 1} more`
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`
}

/** `1 route`, `10 routes`, `3 APIs`. */
export function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}
