import { canonicalJson } from "../plan/canonical.ts"

/** Whether two items of a list are equal as JSON. Takes time linear in the list. */
export function hasRepetition(items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonicalJson(item)
    if (seen.has(text)) return true
    seen.add(text)
  }
  return false
}
