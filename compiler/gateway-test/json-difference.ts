import type { Mismatch } from "./gateway-suite.ts"

/** The first place where two values of JSON differ: its path and both values. Undefined: they are equal. */
export function firstDifference(expected: unknown, got: unknown, path = ""): Mismatch | undefined {
  if (isMap(expected) && isMap(got)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const found = firstDifference(valueAt(expected, name), valueAt(got, name), `${path}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (Array.isArray(expected) && Array.isArray(got)) {
    for (let at = 0; at < Math.max(expected.length, got.length); at += 1) {
      const found = firstDifference(expected[at], got[at], `${path}[${at}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (expected === got) return undefined
  const place = path === "" ? "" : ` at ${path}`
  return { expected: `${textOf(expected)}${place}`, got: `${textOf(got)}${place}` }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function valueAt(map: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

function textOf(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value)
}
