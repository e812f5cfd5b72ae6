import { type StatementRow, slot } from "./row.ts"

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "ANY"] as const

/** One row per method; `ANY` covers the methods without an operation of their own for the same path. */
export const operations: readonly StatementRow[] = methods.map((method) => ({
  keyword: method,
  several: true,
  forms: [{ args: [slot("path", "path")], block: "operation" }],
  docs:
    method === "ANY"
      ? "An operation for every method that has no other operation on this path."
      : `An operation: ${method} on a path below the path of the API. \`{id}\` is a parameter, optionally with text around it (\`{id}:cancel\`); \`{rest*}\` at the end is the rest of the path.`,
  example: `${method} "/{id}" { require viewer of "order:\${path.id}" for "user:\${jwt.sub}" }`,
}))

const keywords: ReadonlySet<string> = new Set(methods)

/** Whether a statement is an operation of an API. */
export function isOperation({ row }: { readonly row: StatementRow }): boolean {
  return keywords.has(row.keyword)
}
