import { duplicateKey } from "../plan/duplicate-key.ts"

/** What JSON says, or what is wrong with it. */
export type JsonValue = { readonly value: unknown } | { readonly problem: string }

/** Reads JSON that is a part of something else: a parameter, a field of a form. */
export function jsonValue(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text)
    const problem = keysProblem(text)
    return problem === undefined ? { value } : { problem }
  } catch {
    return { problem: "must be JSON" }
  }
}

/** A key that is there twice in an object is one to us and another to whoever reads on. `text` must be JSON. */
export function keysProblem(text: string): string | undefined {
  const twice = duplicateKey(text)
  return twice === undefined ? undefined : `has the key \`${twice.key.slice(0, 100)}\` twice in one object`
}
