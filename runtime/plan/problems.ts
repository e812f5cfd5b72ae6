import type * as z from "zod"
import { toDotPath } from "zod/v4/core"

const problemsMax = 50
const charactersMax = 300
const wordCharactersMax = 60

/** What is wrong with a value: `path` in it, with dots and brackets, empty for the whole. */
export interface SchemaIssue {
  readonly path: string
  readonly message: string
}

/** What a schema found, as sentences for people; what they repeat of the value is cut. At most 50, in the order of the schema. */
export function problemsOf(error: z.ZodError): SchemaIssue[] {
  return error.issues.slice(0, problemsMax).map((issue) => problemOf(issue, []))
}

/** Part of a plan as a message repeats it. */
export function cut(text: string, max = wordCharactersMax): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

function problemOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): SchemaIssue {
  const path = [...above, ...issue.path]
  const inner = issue.code === "invalid_union" ? closest(issue.errors) : undefined
  if (inner !== undefined) return problemOf(inner, path)
  const keys = path.map((key) => (typeof key === "string" ? cut(key, 2 * wordCharactersMax) : key))
  return { path: toDotPath(keys), message: cut(messageOf(issue), charactersMax) }
}

/** Of the alternatives of a union, what is wrong with the one that the value comes closest to. */
function closest(alternatives: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue | undefined {
  const [best] = [...alternatives].sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)
  return best?.[0]
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.min(...issues.map(({ path }) => path.length))
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") {
    const [first = "", ...others] = issue.keys
    return `unknown key ${JSON.stringify(cut(first))}${others.length === 0 ? "" : ` and ${others.length} more`}`
  }
  if (issue.code === "invalid_key") return "this key is not possible here"
  if (issue.code === "invalid_union") return "this is none of what is possible here"
  const text = issue.message.replace(/^Invalid (?:input|option|string): /, "")
  const absent = / ?,? ?received undefined$/.exec(text)
  if (absent !== null) return `is missing (${text.slice(0, absent.index)})`
  return text.replace(", received", ", found").replace(/^Too (big|small)/, (_, size) => `too ${size}`)
}
