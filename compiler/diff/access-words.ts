import type { Count, Flag } from "../../runtime/plan/step-values.ts"

/** `5`, or `(CEL)` where it is found per request. */
export function countWordsOf(count: Count | Flag): string {
  return typeof count === "object" ? `(${count.expression.text})` : String(count)
}

/** A block in one line; nothing where it is empty. */
export function blockWords(statements: readonly string[]): string {
  return statements.length === 0 ? "" : ` { ${statements.join("; ")} }`
}
