import { sha256Hex } from "#platform"
import type { StepId } from "./steps.ts"

/**
 * JSON with keys in code-unit order, without whitespace and without undefined members: the same bytes for the same value on any machine (RFC 8785;
 * `JSON.stringify` already follows its rules for numbers and strings).
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string") return quoted(value)
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  return Array.isArray(value) ? canonicalList(value) : canonicalObject(value as Record<string, unknown>)
}

/** Printable ASCII that JSON does not escape. */
const plain = /^[ !#-[\]-~]*$/

/** The string in JSON. Almost all strings of a plan are plain, and the test takes less time than the call. */
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

// Appends to a string instead of joining lists: a plan has a hundred thousand values, and building the lists would dominate the time.
function canonicalList(list: readonly unknown[]): string {
  let text = "["
  for (let at = 0; at < list.length; at++) text += (at === 0 ? "" : ",") + canonicalJson(list[at])
  return `${text}]`
}

/** Members in the order of their names, without absent ones (like RFC 8785). */
function canonicalObject(object: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(object)
  for (let at = 1; at < keys.length; at++) {
    if ((keys[at - 1] as string) < (keys[at] as string)) continue
    keys.sort()
    break
  }
  let text = "{"
  for (const key of keys) {
    const item = object[key]
    if (item !== undefined) text += `${text === "{" ? "" : ","}${quoted(key)}:${canonicalJson(item)}`
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
