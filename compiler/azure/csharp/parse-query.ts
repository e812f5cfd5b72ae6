import { reserved, tryType } from "./parse-type.ts"
import type { Parser } from "./parser-state.ts"
import type {
  ArgumentSyntax,
  BlockSyntax,
  ExpressionSyntax,
  LambdaExpression,
  StatementSyntax,
  TypeSyntax,
} from "./syntax-tree.ts"

/** The state of a query: its sequence so far, the names of its elements for later clauses, and whether a clause was applied. */
interface Query {
  readonly on: ExpressionSyntax
  readonly names: readonly string[]
  readonly isPlain: boolean
}

/** Translates `from x in xs where … orderby … select …` to method calls (C# 7, 12.17.3). Undefined when no query begins here. */
export function tryQuery(parser: Parser): ExpressionSyntax | undefined {
  const { start } = parser.token
  const head = parser.attempt(() => {
    const found = parser.tryTake("from") ? rangeOf(parser) : undefined
    return found !== undefined && parser.tryTake("in") ? found : undefined
  })
  if (head === undefined) return undefined
  parser.queries++
  try {
    const on = sourceOf(parser, head, start)
    return clauses(parser, { on, names: [head.name], isPlain: true })
  } finally {
    parser.queries--
  }
}

interface Range {
  readonly name: string
  readonly type?: TypeSyntax
}

/** `x` or `T x`. */
function rangeOf(parser: Parser): Range | undefined {
  const isName = (distance: number): boolean => {
    const token = parser.peek(distance)
    return token.kind === "name" && !reserved.has(token.text)
  }
  if (isName(0) && parser.isWord("in", 1)) return { name: parser.take().text }
  const type = tryType(parser)
  return type !== undefined && isName(0) ? { name: parser.take().text, type } : undefined
}

/** The source sequence. With a declared type, each element is cast to it. */
function sourceOf(parser: Parser, { type }: Range, start: number): ExpressionSyntax {
  const source = parser.rules.expression(parser)
  if (type === undefined) return source
  const on: ExpressionSyntax = {
    kind: "member",
    on: source,
    name: "Cast",
    nameStart: start,
    types: [type],
    start,
    end: source.end,
  }
  return { kind: "call", on, args: [], start, end: source.end }
}

/** Clauses up to `select` or `group`, and the query after an `into`. */
function clauses(parser: Parser, first: Query): ExpressionSyntax {
  let query = first
  for (;;) {
    const { text, start } = parser.token
    const clause = parser.token.kind === "name" && Object.hasOwn(readers, text) ? readers[text] : undefined
    if (clause !== undefined) {
      parser.take()
      query = parser.nested(() => clause(parser, query, start))
      continue
    }
    const ended = ending(parser, query)
    if (!parser.tryTake("into")) return ended
    query = { on: ended, names: [parser.name().text], isPlain: true }
  }
}

/** `select` and `group` end a query. `select x` of the range variable alone changes nothing and is left out, as C# does. */
function ending(parser: Parser, query: Query): ExpressionSyntax {
  const { start } = parser.token
  if (parser.tryTake("select")) {
    const made = parser.rules.expression(parser)
    const isItself = made.kind === "name" && query.names.length === 1 && made.name === query.names[0]
    return isItself && !query.isPlain
      ? query.on
      : call(query.on, "Select", start, [lambda(parser, query, made)])
  }
  if (!parser.tryTake("group")) throw parser.wrong("`select` or `group` at the end of the query")
  const element = parser.rules.expression(parser)
  parser.expect("by")
  const key = parser.rules.expression(parser)
  const isItself = element.kind === "name" && query.names.length === 1 && element.name === query.names[0]
  const picked = isItself ? [] : [lambda(parser, query, element)]
  return call(query.on, "GroupBy", start, [lambda(parser, query, key), ...picked])
}

/** The clauses of a query by their first word; each returns the query with one call more. */
const readers: Readonly<Record<string, (parser: Parser, query: Query, start: number) => Query>> = {
  where: (parser, query, start) => {
    const test = parser.rules.expression(parser)
    return { ...query, on: call(query.on, "Where", start, [lambda(parser, query, test)]), isPlain: false }
  },
  let: (parser, query, start) => {
    const { text: name } = parser.name()
    parser.expect("=")
    const value = parser.rules.expression(parser)
    return widened(parser, query, name, (made) =>
      call(query.on, "Select", start, [lambda(parser, query, made(value))]),
    )
  },
  from: (parser, query, start) => {
    const range = rangeOf(parser)
    if (range === undefined) throw parser.wrong("a name")
    parser.expect("in")
    const inner = sourceOf(parser, range, start)
    return widened(parser, query, range.name, (made) => {
      const item: ExpressionSyntax = { kind: "name", name: range.name, start, end: inner.end }
      const pair = lambda(parser, query, made(item), range.name)
      return call(query.on, "SelectMany", start, [lambda(parser, query, inner), pair])
    })
  },
  join: parseJoin,
  orderby: (parser, query, start) => {
    let { on } = query
    let name = "OrderBy"
    do {
      const key = parser.rules.expression(parser)
      const isDown = parser.tryTake("descending")
      if (!isDown) parser.tryTake("ascending")
      on = call(on, isDown ? `${name}Descending` : name, start, [lambda(parser, query, key)])
      name = "ThenBy"
    } while (parser.tryTake(","))
    return { ...query, on, isPlain: false }
  },
}

/** `join y in ys on a equals b`; with `into`, all matches as one sequence. */
function parseJoin(parser: Parser, query: Query, start: number): Query {
  const range = rangeOf(parser)
  if (range === undefined) throw parser.wrong("a name")
  parser.expect("in")
  const inner = sourceOf(parser, range, start)
  parser.expect("on")
  const outerKey = parser.rules.expression(parser)
  parser.expect("equals")
  const innerKey = parser.rules.expression(parser)
  const group = parser.tryTake("into") ? parser.name().text : undefined
  const name = group ?? range.name
  const method = group === undefined ? "Join" : "GroupJoin"
  return widened(parser, query, name, (made) => {
    const item: ExpressionSyntax = { kind: "name", name, start, end: inner.end }
    const key = lambda(parser, { ...query, names: [range.name] }, innerKey)
    return call(query.on, method, start, [
      { value: inner, start: inner.start, end: inner.end },
      lambda(parser, query, outerKey),
      key,
      lambda(parser, query, made(item), name),
    ])
  })
}

/** Adds a name: from here on, elements are objects with a field for each name. */
function widened(
  parser: Parser,
  query: Query,
  name: string,
  make: (made: (value: ExpressionSyntax) => ExpressionSyntax) => ExpressionSyntax,
): Query {
  const on = make((value) => {
    const { start, end } = value
    parser.makes(query.names.length, value)
    const kept = query.names.map((each) => ({
      name: each,
      value: { kind: "name", name: each, start, end } as const,
    }))
    return { kind: "anonymous", fields: [...kept, { name, value }], start, end }
  })
  return { on, names: [...query.names, name], isPlain: false }
}

/** A call of a LINQ method, with places for findings. */
function call(
  on: ExpressionSyntax,
  name: string,
  nameStart: number,
  args: readonly ArgumentSyntax[],
): ExpressionSyntax {
  const end = args.at(-1)?.end ?? on.end
  const member: ExpressionSyntax = { kind: "member", on, name, nameStart, start: on.start, end }
  return { kind: "call", on: member, args, start: on.start, end }
}

/**
 * The lambda of an element with the result `body`. With several names, each is declared inside, and the parameter gets a name that cannot
 * occur in source code.
 */
function lambda(parser: Parser, { names }: Query, body: ExpressionSyntax, second?: string): ArgumentSyntax {
  const { start, end } = body
  if (names.length > 1) parser.makes(2 * names.length, body)
  const [only = ""] = names
  const element = names.length === 1 ? only : `$${start}`
  const params = [element, ...(second === undefined ? [] : [second])].map((name) => ({ name }))
  const value: LambdaExpression = {
    kind: "lambda",
    params,
    body: names.length === 1 ? body : declaring(names, element, body),
    start,
    end,
  }
  return { value, start, end }
}

/** A lambda over several range variables gets one object and begins by taking it apart. */
function declaring(names: readonly string[], element: string, body: ExpressionSyntax): BlockSyntax {
  const { start, end } = body
  const on: ExpressionSyntax = { kind: "name", name: element, start, end }
  const declared = names.map((name): StatementSyntax => {
    const value: ExpressionSyntax = { kind: "member", on, name, nameStart: start, start, end }
    return { kind: "declare", type: undefined, names: [{ name, start, end, value }], start, end }
  })
  return { kind: "block", body: [...declared, { kind: "return", on: body, start, end }], start, end }
}
