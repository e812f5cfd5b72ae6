import type { PathForms } from "../../plan/resources.ts"
import { canonicalPath } from "../../policies/messages/canonical-path.ts"

const patterns: { readonly [Form in keyof Required<PathForms>]: RegExp } = {
  encodedSlash: /%2F/,
  pathParameters: /;|%3B/,
  emptySegments: /\/\//,
}

/** The forms in a canonical path that only a route which passes them may match. */
export function formsOf(path: string): PathForms {
  const found: { [Form in keyof PathForms]: true } = {}
  for (const [form, pattern] of Object.entries(patterns))
    if (pattern.test(path)) found[form as keyof PathForms] = true
  return found
}

/** Whether `passes` contains every form of `forms`. */
export function passesAll(passes: PathForms | undefined, forms: PathForms): boolean {
  return Object.keys(forms).every((form) => passes?.[form as keyof PathForms] === true)
}

type Reading = (path: string) => string

/**
 * How servers may transform a path before routing, in the order in which one server applies several of them: parameters may be removed before or
 * after the slash is decoded.
 */
const habits: readonly Reading[] = [
  (path) => path.replaceAll("%3B", ";"),
  (path) => path.replace(/;[^/]*/g, ""),
  (path) => path.replaceAll("%2F", "/"),
  (path) => path.replace(/;[^/]*/g, ""),
  (path) => path.replace(/\/{2,}/g, "/"),
]

/** An empty piece around an encoded slash or a parameter: some servers would read an empty value. */
const emptyPiece = /(?:\/|%2F)(?:;|%3B|%2F)|%2F(?:\/|$)/

/**
 * All other paths that a backend could read a canonical path as; undefined when one of them has dot segments, an empty value or no canonical form.
 * Forms in `passes` may remain.
 */
export function readingsOf(path: string, passes: PathForms): ReadonlySet<string> | undefined {
  if (emptyPiece.test(path)) return undefined
  let found = new Set([path])
  for (const read of habits) found = new Set([...found, ...[...found].map(read)])
  found.delete(path)
  for (const reading of found) if (canonicalPath(reading, passes) === undefined) return undefined
  return found
}
