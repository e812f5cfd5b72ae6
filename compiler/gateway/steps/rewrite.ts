import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import { headSpan } from "../bind/bound.ts"
import type { LowerStep } from "../lower/step.ts"

/** Characters that are in no canonical path, raw: RFC 3986 §3.3 and `;` and `\\`, which servers read in different ways. */
const notInPath = /[^\w.~!$&'()*+,=:@%/?-]/
/** What percent-encoding may not stand for: control characters, `/`, `;`, `\\`, and a `%` of another encoding. */
const refusedEncoding = /%(?:[01][0-9A-F]|2F|3B|5C|7F|25[0-9A-F]{2})|%(?![0-9A-F]{2})/i

/** `rewrite "/path/${path.id}?query" [raw] [without query]`: the constant parts must be what a canonical path can hold. */
export const lowerRewrite: LowerStep = (bound, { texts, place, report, steps }) => {
  const argument = bound.args.text("path")
  if (argument === undefined) return undefined
  const path = texts.lower(argument, place, { constant: checkPart })
  if (path === undefined) return undefined
  const first = typeof path === "string" ? path : path.text[0]
  if (typeof first === "string" && !first.startsWith("/")) {
    report.add("SP3001", argument.span, `\`${shown(first)}\` does not start with \`/\``, {
      help: "Write the path from its `/` on.",
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
}

function checkPart(value: string, report: Report, at: (offset: number) => Span): void {
  const bad = value.search(notInPath)
  if (bad >= 0)
    report.add("SP3001", at(bad), "this character can't be in a path", {
      help: "Remove or percent-encode it.",
    })
}

/** Whether the runtime would refuse the path: no empty segment but the last, none that ends with a dot, no odd encoding. */
function hasOddSegment(path: string): boolean {
  const [plain = ""] = path.split("?", 1)
  const segments = plain.split("/").slice(1)
  return (
    segments.slice(0, -1).includes("") ||
    segments.some((segment) => segment.endsWith(".")) ||
    refusedEncoding.test(plain)
  )
}
