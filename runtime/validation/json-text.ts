import { duplicateKey } from "../plan/json-scan.ts"

/** The value of a JSON text, or its problem. */
export type JsonValue = { readonly value: unknown } | { readonly problem: string }

/** Parses JSON inside something else: a parameter, or a field of a form. */
export function jsonValue(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text)
    const problem = keysProblem(text, value)
    return problem === undefined ? { value } : { problem }
  } catch {
    return { problem: "must be JSON" }
  }
}

/** The problem of a duplicate key: the backend may read another of its values than the gateway. `value` is the parsed `text`. */
export function keysProblem(text: string, value: unknown): string | undefined {
  const twice = duplicateKey(text, value)
  return twice === undefined ? undefined : `has the key \`${twice.key.slice(0, 100)}\` twice in one object`
}
