import { canonicalJson } from "../../runtime/plan/canonical.ts"

/** Whether two values are the same JSON. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  return a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b)
}

/** The keys of both tables, sorted, with the entry of each table. */
export function pairsOf<Item>(
  before: Readonly<Record<string, Item>>,
  after: Readonly<Record<string, Item>>,
): { readonly key: string; readonly old: Item | undefined; readonly next: Item | undefined }[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.map((key) => ({ key, old: ownOf(before, key), next: ownOf(after, key) }))
}

/** A table's own entry, never an inherited one: `constructor` is a valid name of a relation. */
export function ownOf<Item>(table: Readonly<Record<string, Item>>, key: string): Item | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

/** The items removed from a list and those added to it, compared as JSON. The order has no meaning. */
export function listChanges<Item>(
  before: readonly Item[],
  after: readonly Item[],
): { readonly removed: Item[]; readonly added: Item[] } {
  const keysOf = (list: readonly Item[]) => new Set(list.map((item) => canonicalJson(item)))
  const [old, next] = [keysOf(before), keysOf(after)]
  return {
    removed: before.filter((item) => !next.has(canonicalJson(item))),
    added: after.filter((item) => !old.has(canonicalJson(item))),
  }
}

/** The names that only one of two lists has. `*` includes every name, and an entry may cover others. */
export function uncovered(
  before: readonly string[],
  after: readonly string[],
  covers: (wide: string, narrow: string) => boolean = (wide, narrow) => wide === narrow,
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const lacking = (list: readonly string[], other: readonly string[]) =>
    list.filter((each) => !other.some((wide) => wide === "*" || covers(wide, each)))
  return { added: lacking(after, before), removed: lacking(before, after) }
}

/** Compares texts by code units. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
