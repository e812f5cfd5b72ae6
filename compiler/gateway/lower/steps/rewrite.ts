import type { Report } from "../../../core/diagnostic.ts"
import type { Span } from "../../../core/source.ts"
import { headSpan } from "../../bind/bound.ts"
import { shown } from "../../bind/names.ts"
import type { LowerStep } from "../step.ts"

// biome-ignore lint/suspicious/noControlCharactersInRegex: they can't be in a path.
const notInPath = /[\u0000-\u0020\u007f#\\]/

/** `rewrite "/path/${path.id}?query"`: the constant parts must be what a canonical path can hold. */
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
      help: "Leave out `//`, `.` and `..` segments.",
    })
    return undefined
  }
  return steps.add({ kind: "rewrite", path }, headSpan(bound.statement))
}

function checkPart(value: string, report: Report, at: (offset: number) => Span): void {
  const bad = value.search(notInPath)
  if (bad >= 0)
    report.add("SP3001", at(bad), "this character can't be in a path", {
      help: "Remove or percent-encode it.",
    })
}

function hasOddSegment(path: string): boolean {
  const [plain = ""] = path.split("?", 1)
  return (
    plain.split("/").slice(1, -1).includes("") ||
    plain.split("/").some((segment) => segment === "." || segment === "..")
  )
}
