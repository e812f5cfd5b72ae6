import { closes, neutral, opens } from "../../analysis/finding.ts"
import { otherResource } from "../../analysis/message-rules.ts"
import { callersDecide } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import { headSpan } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { optional, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/**
 * Characters that cannot be unescaped in a canonical path: those not in RFC 3986 §3.3, and `;` and `\\`, which servers interpret in
 * different ways.
 */
const notInPath = /[^\w.~!$&'()*+,=:@%/?-]/
/** Characters that must not be percent-encoded: control characters, `/`, `;`, `\\`, and a `%` that begins another encoding. */
const refusedEncoding = /%(?:[01][0-9A-F]|2F|3B|5C|7F|25[0-9A-F]{2})|%(?![0-9A-F]{2})/i

/** `rewrite "/path/${path.id}?query" [raw] [without query]`: the constant parts must be valid in a canonical path. */
export const rewriteStatement: StatementDefinition = {
  row: {
    keyword: "rewrite",
    several: true,
    forms: [
      {
        args: [
          slot("path", "text", { label: '"/PATH"' }),
          optional(word("raw")),
          optional(word("without"), word("query")),
        ],
      },
    ],
    docs: "The path of the request to the backend, below the base path of the backend, optionally with a query. The value of an expression is one segment; with `raw` it may contain several. `without query` drops the query of the caller.",
    example: 'rewrite "/internal/orders/${path.id}"',
  },
  lower: (bound, { texts, place, report, steps }) => {
    const argument = bound.args.text("path")
    if (argument === undefined) return undefined
    const path = texts.lower(argument, place, { constant: checkPart })
    if (path === undefined) return undefined
    const first = typeof path === "string" ? path : path.text[0]
    if (typeof first === "string" && !first.startsWith("/")) {
      report.add("SP3001", argument.span, `\`${shown(first)}\` does not start with \`/\``, {
        help: "Write a path that starts with `/`.",
      })
      return undefined
    }
    if (typeof path === "string" && hasOddSegment(path)) {
      report.add("SP3001", argument.span, `\`${shown(path)}\` is not in canonical form`, {
        help: "Leave out `//`, segments that end with a dot, and encoded separators.",
      })
      return undefined
    }
    const words = new Set(bound.statement.args.map((each) => (each.kind === "word" ? each.text : "")))
    return steps.add(
      { kind: "rewrite", path, raw: words.has("raw"), keepQuery: !words.has("without") },
      headSpan(bound.statement),
    )
  },
}

/** Printing and comparison of a step that changes the path of the request to the backend. */
export const rewrite: StepText<"rewrite"> = {
  print: ({ path, raw, keepQuery, parameters }, printing) => {
    if (parameters !== undefined)
      printing.lacks("a path that is a template: write its parameters as `${path.NAME}`")
    return statement(`rewrite ${textWords(path)}${raw ? " raw" : ""}${keepQuery ? "" : " without query"}`)
  },
  identities: () => ["rewrite"],
  added: ({ keepQuery }) => [
    otherResource("requests reach the backend with another path"),
    ...(keepQuery ? [] : [closes("the backend no longer gets the caller's query")]),
  ],
  removed: ({ keepQuery }) => [
    otherResource("requests reach the backend with their own path"),
    ...(keepQuery ? [] : [opens("the caller's query reaches the backend")]),
  ],
  changed: {
    path: (before, after) => [
      otherResource("requests reach the backend with another path"),
      ...callersDecide(before, after),
    ],
    raw: (_, after) =>
      after
        ? opens("the value of an expression may contain several segments of the path")
        : neutral("the value of each expression is one segment of the path"),
    keepQuery: (_, after) =>
      after
        ? opens("the caller's query reaches the backend")
        : closes("the backend no longer gets the caller's query"),
    parameters: () => otherResource("requests reach the backend with another path"),
  },
}

function checkPart(value: string, report: Report, at: (offset: number) => Span): void {
  const bad = value.search(notInPath)
  if (bad >= 0)
    report.add("SP3001", at(bad), "this character is not allowed in a path", {
      help: "Remove or percent-encode it.",
    })
}

/**
 * Whether the runtime would refuse the path: it has an empty segment before the last one, a segment that ends with a dot, or a refused
 * encoding.
 */
function hasOddSegment(path: string): boolean {
  const [plain = ""] = path.split("?", 1)
  const segments = plain.split("/").slice(1)
  return (
    segments.slice(0, -1).includes("") ||
    segments.some((segment) => segment.endsWith(".")) ||
    refusedEncoding.test(plain)
  )
}
