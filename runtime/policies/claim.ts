import type { Claims } from "../identity/verifier.ts"
import type { ClaimRule } from "../plan/steps.ts"

/**
 * A claim by name. The name as a whole comes first (URLs with dots are common claim names), then its dots walk into objects
 * (`realm_access.roles`). Own properties only.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let node: unknown = claims
  for (const part of name.split(".")) {
    if (typeof node !== "object" || node === null || Array.isArray(node) || !Object.hasOwn(node, part))
      return undefined
    node = (node as Record<string, unknown>)[part]
  }
  return node
}

/** Whether claims meet a rule. Compared as text and exactly; a claim that is neither text, number, boolean nor a list of those meets no comparison. */
export function meets(claims: Claims, rule: ClaimRule): boolean {
  const value = claimAt(claims, rule.claim)
  if (value === undefined || value === null) return false
  return tests[rule.test](value, rule.values)
}

const tests: {
  readonly [Test in ClaimRule["test"]]: (value: unknown, wanted: readonly string[]) => boolean
} = {
  present: () => true,
  "has-any": (value, wanted) => {
    const held = listOf(value)
    return wanted.some((item) => held.includes(item))
  },
  "has-all": (value, wanted) => {
    const held = listOf(value)
    return wanted.every((item) => held.includes(item))
  },
  "equals-any": (value, wanted) => {
    const text = scalar(value)
    return text !== undefined && wanted.includes(text)
  },
}

/** A list of the claim's own, or the words of a string (RFC 8693 §4.2). */
function listOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(" ")
  if (Array.isArray(value)) return value.map(scalar).filter((item) => item !== undefined)
  const text = scalar(value)
  return text === undefined ? [] : [text]
}

function scalar(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined
}
