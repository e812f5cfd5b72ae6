import type { PathForms } from "../../plan/resources.ts"
import { canonicalPath } from "../../policies/messages/canonical-path.ts"

const patterns: { readonly [Form in keyof Required<PathForms>]: RegExp } = {
  encodedSlash: /%2F/,
  pathParameters: /;|%3B/,
  emptySegments: /\/\//,
}

/** The forms of a canonical path that only routes which pass them may answer. */
export function formsOf(path: string): PathForms {
  const found: { [Form in keyof PathForms]: true } = {}
  for (const [form, pattern] of Object.entries(patterns))
    if (pattern.test(path)) found[form as keyof PathForms] = true
  return found
}

/** Does `passes` have every form of `forms`? */
export function passesAll(passes: PathForms | undefined, forms: PathForms): boolean {
  return Object.keys(forms).every((form) => passes?.[form as keyof PathForms] === true)
}

type Reading = (path: string) => string

/** What servers do to a path before they look for their route, in the order in which one does several of them: parameters may go before the slash is decoded, or after. */
const habits: readonly Reading[] = [
  (path) => path.replaceAll("%3B", ";"),
  (path) => path.replace(/;[^/]*/g, ""),
  (path) => path.replaceAll("%2F", "/"),
  (path) => path.replace(/;[^/]*/g, ""),
  (path) => path.replace(/\/{2,}/g, "/"),
]

/** Nothing before an encoded slash or a parameter, or behind a slash: a value would be empty to some. */
const emptyPiece = /(?:\/|%2F)(?:;|%3B|%2F)|%2F(?:\/|$)/

/** The other paths that a server behind us could take a canonical path for; undefined where one of them has dot segments, an empty value or no canonical form. `passes` may stay in them. */
export function readingsOf(path: string, passes: PathForms): ReadonlySet<string> | undefined {
  if (emptyPiece.test(path)) return undefined
  let found = new Set([path])
  for (const read of habits) found = new Set([...found, ...[...found].map(read)])
  found.delete(path)
  for (const reading of found) if (canonicalPath(reading, passes) === undefined) return undefined
  return found
}
