import type { Claims } from "./verifier.ts"

/**
 * A claim by name. The whole name is tried first, because URLs with dots are common claim names; then its dots are a path into objects
 * (`realm_access.roles`). Only own properties count.
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
