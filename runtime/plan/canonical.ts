import { sha256Hex } from "#platform"
import type { StepId } from "./steps.ts"

/**
 * JSON with keys in code-unit order, without whitespace and without undefined members: the same bytes for the same value on any machine (RFC 8785;
 * `JSON.stringify` already follows its rules for numbers and strings).
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  return Array.isArray(value) ? canonicalList(value) : canonicalObject(value as Record<string, unknown>)
}

// Appends to a string instead of joining lists: a plan has a hundred thousand values, and building the lists would dominate the time.
function canonicalList(list: readonly unknown[]): string {
  let text = "["
  for (let at = 0; at < list.length; at++) text += (at === 0 ? "" : ",") + canonicalJson(list[at])
  return `${text}]`
}

/** Members in the order of their names, without absent ones (like RFC 8785). */
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
  return `sha256:${sha256Hex(canonicalJson(value))}`
}

/** Key of a step in the plan's table. */
export function stepIdOf(step: unknown): StepId {
  return sha256Hex(canonicalJson(step)).slice(0, 16)
}
