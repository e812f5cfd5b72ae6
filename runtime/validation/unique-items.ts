/** Whether two items of a list are equal as JSON. Takes time linear in the list. */
export function hasRepetition(items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = JSON.stringify(inOrder(item))
    if (seen.has(text)) return true
    seen.add(text)
  }
  return false
}

function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(inOrder)
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => [key, inOrder(each)])
}
