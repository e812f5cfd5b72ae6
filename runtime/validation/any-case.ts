/** Deeper values are refused by whoever judges them; up to here names are looked at. */
const depthMax = 200

/** What is judged where the letter case of names does not count; a problem where two names of one object differ in nothing else. */
export function withoutCase(value: unknown): { readonly value: unknown } | { readonly problem: string } {
  const twice: string[] = []
  const lower = (each: unknown, depth: number): unknown => {
    if (typeof each !== "object" || each === null || depth > depthMax) return each
    if (Array.isArray(each)) return each.map((item) => lower(item, depth + 1))
    // Without a prototype, so that `__proto__` is a name like any other.
    const made: Record<string, unknown> = Object.create(null)
    for (const [name, item] of Object.entries(each)) {
      const folded = foldedName(name)
      if (folded in made) twice.push(name)
      made[folded] = lower(item, depth + 1)
    }
    return made
  }
  const made = lower(value, 0)
  const [first] = twice
  if (first === undefined) return { value: made }
  return { problem: `has the property ${JSON.stringify(first.slice(0, 100))} twice, in other letter case` }
}

/** A JSON pointer into what `withoutCase` made, in the names the value itself has. */
export function pointerInto(value: unknown, pointer: string): string {
  let at = value
  const steps = pointer.split("/").slice(1)
  const named = steps.map((step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~")
    const isObject = typeof at === "object" && at !== null && !Array.isArray(at)
    const own = isObject ? Object.keys(at as object).find((key) => foldedName(key) === name) : undefined
    at = typeof at === "object" && at !== null ? (at as Record<string, unknown>)[own ?? name] : undefined
    return own === undefined ? step : own.replaceAll("~", "~0").replaceAll("/", "~1")
  })
  return named.map((step) => `/${step}`).join("")
}

/**
 * A name where letter case does not count, the same for all that some server takes for one letter: by upper case to lower case, since `ſ` and `ı` are no other letter in lower case alone, and a
 * name that is written with them would be judged by nothing.
 *
 * @example
 * foldedName("\u017ftatus") // "status"
 */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase()
}
