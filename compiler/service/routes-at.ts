import { durationText } from "../../runtime/plan/quantities.ts"
import { type Span, textOf } from "../core/source.ts"
import type { Statement } from "../gateway/ast.ts"
import { headSpan } from "../gateway/bind/bound.ts"
import type { Insight } from "../gateway/insight.ts"

/** A statement that has an effect on an operation. */
export interface Applying {
  readonly statement: Statement
  /** The block that it comes from: `api orders`, `product gold`, `policy shared`. */
  readonly scope: string
  /** It stands in the block of the operation. */
  readonly own: boolean
}

/** What the compiler made of an operation of gateway.conf. */
export interface OperationEffects {
  /** Keyword and path. */
  readonly head: Span
  /** Keys of its routes, one for each version of the API: `GET /v1/orders/{id}`. */
  readonly routes: readonly string[]
  /** The statements that have an effect on any of them, the outermost first. */
  readonly applying: readonly Applying[]
  /** The time limit of its routes: `30s`, `none`. Different ones are all named. */
  readonly timeouts: readonly string[]
}

/** The operations of a file, in the order of the text. Those that have no routes because of mistakes are missing. */
export function operationsIn(path: string, { routes }: Insight): readonly OperationEffects[] {
  const found = new Map<Statement, Collected>()
  for (const [{ operation, key }, { applying, route }] of routes) {
    const { statement } = operation
    if (statement.span.file.path !== path) continue
    const known = found.get(statement) ?? collected()
    known.routes.push(key)
    known.timeouts.add(route.timeoutMs === null ? "none" : durationText(route.timeoutMs))
    for (const { bound, scope, own } of applying)
      known.applying.set(bound.statement, { statement: bound.statement, scope, own })
    found.set(statement, known)
  }
  return [...found]
    .map(([statement, { routes: keys, applying, timeouts }]) => ({
      ...{ head: headSpan(statement), routes: keys },
      ...{ applying: [...applying.values()], timeouts: [...timeouts] },
    }))
    .sort((a, b) => a.head.start - b.head.start)
}

interface Collected {
  readonly routes: string[]
  readonly applying: Map<Statement, Applying>
  readonly timeouts: Set<string>
}

function collected(): Collected {
  return { routes: [], applying: new Map(), timeouts: new Set() }
}

/** A statement in one line: its head, and how many statements its block has. */
export function shortText({ keyword, args, block }: Statement): string {
  const end = (args.at(-1) ?? keyword).span.end
  const head = textOf({ ...keyword.span, end }).replaceAll(/\s+/g, " ")
  const count = block?.statements.length ?? 0
  return args.length === 0 && count > 0 ? `${head} {${count}}` : head
}

/** `gateway.conf:12`. */
export function placeText({ file, start }: Span): string {
  return `${file.path}:${file.position(start).line}`
}
