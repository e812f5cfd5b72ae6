const depthMax = 100
const valuesMax = 200_000

/** How many values a value holds, itself among them; or why it is too much to be judged. */
export function measure(value: unknown): number | string {
  const count = countOf(value, 0)
  if (Number.isNaN(count)) return `is nested deeper than ${depthMax}`
  return count > valuesMax ? `has more than ${valuesMax} values` : count
}

/** NaN when it is nested too deep. */
function countOf(value: unknown, depth: number): number {
  if (depth > depthMax) return Number.NaN
  if (typeof value !== "object" || value === null) return 1
  let count = 1
  if (Array.isArray(value)) for (const item of value) count += countOf(item, depth + 1)
  else
    for (const name in value) count += countOf((value as Readonly<Record<string, unknown>>)[name], depth + 1)
  return count
}
