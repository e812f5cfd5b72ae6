const depthMax = 100
const valuesMax = 200_000

/** How many values a value holds, itself among them; or why it is too much to be judged. */
export function measure(value: unknown): number | string {
  let level: unknown[] = [value]
  let count = 0
  for (let depth = 0; level.length > 0; depth += 1) {
    count += level.length
    if (count > valuesMax) return `has more than ${valuesMax} values`
    if (depth > depthMax) return `is nested deeper than ${depthMax}`
    const below: unknown[] = []
    for (const each of level)
      if (typeof each === "object" && each !== null) for (const item of Object.values(each)) below.push(item)
    level = below
  }
  return count
}
