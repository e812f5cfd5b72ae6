import type { SchemaIssue } from "./problems.ts"

/** Deeper JSON is refused before the schema walks it (its recursion is bounded by the stack only). */
const depthMax = 200

/** Whether a value of JSON is an object or a list. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

/** An object or list of the JSON, with the way to it. */
interface Place {
  readonly value: object
  readonly key: string
  readonly level: number
  readonly above: Place | undefined
}

/**
 * What no schema can be asked to judge: JSON that is too deep for it, and keys that it would leave out without a word.
 * With an own stack, because the value may be hostile.
 */
export function shapeProblem(json: unknown): SchemaIssue | undefined {
  if (!isObject(json)) return undefined
  const stack: Place[] = [{ value: json, key: "", level: 1, above: undefined }]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, level } = top
    if (level > depthMax) return { path: "", message: `nested deeper than ${depthMax}` }
    if (Object.hasOwn(value, "__proto__")) return { path: pathOf(top), message: 'unknown key "__proto__"' }
    for (const key of Object.keys(value)) {
      const item = (value as Readonly<Record<string, unknown>>)[key]
      if (isObject(item)) stack.push({ value: item, key, level: level + 1, above: top })
    }
  }
  return undefined
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place | undefined = place; at?.above !== undefined; at = at.above) keys.unshift(at.key)
  return keys.join(".")
}
