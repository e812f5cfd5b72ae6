import { createHash } from "node:crypto"
import type { StepId } from "./steps.ts"

/**
 * JSON with keys in code-unit order, no blanks, absent for undefined: the same bytes for the same value on any machine (the rules of RFC 8785,
 * which JSON.stringify's numbers and strings already follow).
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(",")}]`
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`
}

/** `sha256:…` over the canonical bytes of a value. */
export function digestOf(value: unknown): string {
  return `sha256:${sha256(canonicalJson(value))}`
}

/** Key of a step in the plan's table. */
export function stepIdOf(step: unknown): StepId {
  return sha256(canonicalJson(step)).slice(0, 16)
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex")
}
