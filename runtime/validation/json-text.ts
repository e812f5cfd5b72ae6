import { duplicateKey } from "../plan/json-scan.ts"

/** What JSON says, or what is wrong with it. */
export type JsonValue = { readonly value: unknown } | { readonly problem: string }

/** Reads JSON that is a part of something else: a parameter, a field of a form. */
export function jsonValue(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text)
    const problem = keysProblem(text, value)
    return problem === undefined ? { value } : { problem }
  } catch {
    return { problem: "must be JSON" }
  }
}

/** A key that is there twice in an object is one to us and another to whoever reads on. `value` is what `text` says. */
export function keysProblem(text: string, value: unknown): string | undefined {
  const twice = duplicateKey(text, value)
  return twice === undefined ? undefined : `has the key \`${twice.key.slice(0, 100)}\` twice in one object`
}
