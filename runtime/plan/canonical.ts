import { hash } from "node:crypto"
import type { StepId } from "./steps.ts"

/**
 * JSON with keys in code-unit order, no blanks, absent for undefined: the same bytes for the same value on any machine (the rules of RFC 8785,
 * which JSON.stringify's numbers and strings already follow).
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  return Array.isArray(value) ? canonicalList(value) : canonicalObject(value as Record<string, unknown>)
}

// By appending, not by joining lists: plans have a hundred thousand values, and the lists would be most of the work.
function canonicalList(list: readonly unknown[]): string {
  let text = "["
  for (let at = 0; at < list.length; at++) text += (at === 0 ? "" : ",") + canonicalJson(list[at])
  return `${text}]`
}

function canonicalObject(object: Readonly<Record<string, unknown>>): string {
  let text = "{"
  for (const key of Object.keys(object).sort()) {
    const item = object[key]
    if (item === undefined) continue
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(item)}`
  }
  return `${text}}`
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
  return hash("sha256", text, "hex")
}
