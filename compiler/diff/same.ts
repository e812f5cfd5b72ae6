import { canonicalJson } from "../../runtime/plan/canonical.ts"

/** Whether two values are the same JSON. */
export function same(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b))
}

/** The keys of both tables, sorted, with what each table has there. */
export function pairs<Item>(
  before: Readonly<Record<string, Item>>,
  after: Readonly<Record<string, Item>>,
): { readonly key: string; readonly old: Item | undefined; readonly next: Item | undefined }[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.map((key) => ({
    key,
    old: Object.hasOwn(before, key) ? before[key] : undefined,
    next: Object.hasOwn(after, key) ? after[key] : undefined,
  }))
}

/** What a list lost and what it got, compared as JSON. */
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
