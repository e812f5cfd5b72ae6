import type { Address } from "../../runtime/plan/resources.ts"
import type { LimitKey, StepOf } from "../../runtime/plan/steps.ts"
import type { Reference, Text, TextPart } from "../../runtime/plan/text.ts"

/** A text as gateway.conf writes it, on one line and not longer than a line has room for. */
export function textWords(text: Text): string {
  const written = typeof text === "string" ? text : text.text.map(partWords).join("")
  const line = JSON.stringify(written).replaceAll('\\"', '"')
  return line.length > 70 ? `${line.slice(0, 69)}…"` : line
}

function partWords(part: TextPart): string {
  if (typeof part === "string") return part
  if ("value" in part) return `\${${part.value}}`
  if ("secret" in part) return `\${${part.secret}}`
  return `\${${part.expression.text}}`
}

/** `env(NAME)`, `file("path")`. */
export function referenceWords(reference: Reference): string {
  if ("file" in reference) return `file(${JSON.stringify(reference.file)})`
  return reference.default === undefined
    ? `env(${reference.env})`
    : `env(${reference.env}, ${JSON.stringify(reference.default)})`
}

/** `127.0.0.1:8000`. */
export function addressWords({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}

/** `30s`, `5m`, `1500ms`; `none` for null. */
export function durationWords(ms: number | null): string {
  if (ms === null) return "none"
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "m"],
    [1_000, "s"],
  ] as const
  const unit = units.find(([size]) => ms % size === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unit[0]}${unit[1]}`
}

/** `100 per 1m by subscription else ip`. */
export function limitWords({ callsMax, periodSeconds, keys }: StepOf<"rate-limit">): string {
  return `${callsMax} per ${durationWords(periodSeconds * 1000)} by ${keys.map(limitKeyWords).join(" else ")}`
}

function limitKeyWords(key: LimitKey): string {
  return key.by === "claim" ? `jwt.${key.claim}` : key.by
}
