import { type Span, textOf } from "../core/source.ts"
import type { Statement } from "../gateway/ast.ts"
import type { Insight } from "../gateway/insight.ts"
import { type Applying, operationsIn } from "./routes-at.ts"

/** A line above a part of a file. */
export interface CodeLens {
  readonly span: Span
  readonly title: string
}

/** Above each operation: who can call it, in words, as its statements and those that it inherits say. */
export function callerLenses(path: string, insight: Insight): CodeLens[] {
  return operationsIn(path, insight).map(({ head, applying }) => ({ span: head, title: callersOf(applying) }))
}

/** Who can call an operation: how a caller authenticates, what the caller must be, and from where. */
export function callersOf(applying: readonly Applying[]): string {
  const of = (keyword: string): Statement[] =>
    applying.flatMap(({ statement }) => (statement.keyword.text === keyword ? [statement] : []))
  const credentials = of("auth").map(credentialText)
  const demands = of("require").map((each) => `who is ${argumentsText(each)}`)
  const places = of("allow").map((each) => `from ${argumentsText(each)}`)
  const refused = of("deny").map((each) => `not from ${argumentsText(each)}`)
  const who = credentials.length === 0 ? "nobody: no `auth`" : credentials.join(" or ")
  return `Callers: ${[who, ...demands, ...places, ...refused].join(", ")}`
}

/** The words after `auth`, as a person says them. Every other form is named as it is written. */
function credentialText(statement: Statement): string {
  const [first, second] = statement.args
  const word = first?.kind === "word" ? first.text : ""
  const name = second?.kind === "word" ? second.text : ""
  if (word === "none") return "anyone"
  if (word === "jwt") return `a token of ${name}`
  if (word === "subscription") return "a subscription key"
  return `\`auth ${argumentsText(statement)}\``
}

/** The arguments as written, and the statements of the block: `any (viewer of …; editor of …)`. */
function argumentsText({ args, block }: Statement): string {
  const [first] = args
  const last = args.at(-1)
  const head = first === undefined || last === undefined ? "" : textOf({ ...first.span, end: last.span.end })
  const inside = (block?.statements ?? []).map((each) => `${each.keyword.text} ${argumentsText(each)}`.trim())
  const all = inside.length === 0 ? head : `${head} (${inside.join("; ")})`
  return all.trim().replaceAll(/\s+/g, " ")
}
