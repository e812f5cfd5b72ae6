import { RE2JS } from "re2js"

/** A pattern that takes time linear in the text, whatever the text is. */
export interface LinearPattern {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean
  /** Tells patterns apart: by it the compiler of schemas knows whether it has one already. */
  toString(): string
}

/**
 * Compiles the `pattern` of a JSON Schema (ECMA-262, flag `u`). @throws Error for what is no pattern, and for what no automaton can do:
 * looking ahead or behind, and referring back.
 */
export function linearPattern(source: string): LinearPattern {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source))
  return { test: (text) => pattern.matcher(text).find(), toString: () => source }
}
