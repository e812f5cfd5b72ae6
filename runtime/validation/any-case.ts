/** Limit on the depth in which names are folded. Validators reject deeper values. */
const depthMax = 200

/** The value with folded names, for validation without letter case. A problem if two names of one object differ only in letter case. */
export function withoutCase(value: unknown): { readonly value: unknown } | { readonly problem: string } {
  const twice: string[] = []
  const lower = (each: unknown, depth: number): unknown => {
    if (typeof each !== "object" || each === null || depth > depthMax) return each
    if (Array.isArray(each)) return each.map((item) => lower(item, depth + 1))
    // Without a prototype, so that `__proto__` is an ordinary name.
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
  return {
    problem: `has the property ${JSON.stringify(first.slice(0, 100))} twice, with different upper and lower case`,
  }
}

/** A JSON pointer into the result of `withoutCase`, translated to the names of the original value. */
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
 * A name without letter case. The result is the same for all spellings that some server treats as one letter. It converts to upper case and then to
 * lower case: lower case alone keeps `ſ` and `ı`, and a name with these letters would bypass validation.
 *
 * @example
 * foldedName("\u017ftatus") // "status"
 */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase()
}
