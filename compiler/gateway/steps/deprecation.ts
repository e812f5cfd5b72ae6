import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import type { Report } from "../../core/diagnostic.ts"
import { nearest } from "../../core/nearest.ts"
import type { Word } from "../ast.ts"
import { type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import { printPath, staticSegment } from "../bind/path.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { statement } from "../print.ts"
import type { RouteSource } from "../routes.ts"
import { optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

/** The statements of a version about its end of life. */
export const deprecationRows: readonly StatementRow[] = [
  {
    keyword: "deprecated",
    forms: [{ args: [optional(slot("date", "date")), optional(slot("documentation", "constant"))] }],
    docs: "Sends a Deprecation header, optionally with a date. The string is the URL of a page with more information.",
    example: "deprecated 2026-03-01",
  },
  {
    keyword: "removed",
    forms: [{ args: [] }],
    docs: "The version is retired: every request gets 410, with a link to its successor if there is one.",
    example: "removed",
  },
  {
    keyword: "successor",
    forms: [{ args: [slot("version", "name", { label: "VERSION" })] }],
    docs: "The version to use instead; every response has a Link header with it.",
    example: "successor v2",
  },
  {
    keyword: "sunset",
    forms: [{ args: [slot("date", "date"), optional(word("then"), word("410"))] }],
    docs: "The day the version ends, announced by a Sunset header; with `then 410` requests are answered 410 from that day on (UTC).",
    example: "sunset 2099-06-30 then 410",
  },
]

/** The end of life of a version: `deprecated`, `sunset`, `removed`, `successor`. Undefined without any of them. */
export function lowerDeprecation(
  { version, api, prefix }: RouteSource,
  { steps, report }: Pick<StepContext, "steps" | "report">,
): Lowered | undefined {
  const said = (keyword: string) => statementOf(version?.block, keyword)
  const [deprecated, sunset, removed, successor] = ["deprecated", "sunset", "removed", "successor"].map(said)
  // The place of the first statement that is written stands for the step, because there are up to four.
  const first = deprecated ?? sunset ?? removed ?? successor
  if (first === undefined) return undefined
  if (removed !== undefined && sunset !== undefined)
    report.add(
      "SP2017",
      sunset.statement.keyword.span,
      "`sunset` has no effect on a version that is `removed`",
      {
        related: [{ span: removed.statement.keyword.span, message: "`removed`" }],
      },
    )
  const since = deprecated?.args.value<string>("date")
  const page = deprecated?.args.get("documentation")
  const documentation = page?.value as string | undefined
  // The URL is put between `<` and `>` in a Link header (RFC 8288), so these may not occur in it.
  if (page !== undefined && documentation !== undefined && !/^https?:\/\/[!#-;=?-~]+$/.test(documentation))
    report.add("SP2026", page.argument.span, "the link to more information is not an http(s) URL")
  const date = sunset?.args.value<string>("date")
  const next = successor?.args.word("version")
  const known = next === undefined ? undefined : successorOf(next, version, api.bound, report)
  // Without the version at its beginning: the successor has the same path below another version.
  const [, ...path] = prefix
  const step: StepOf<"deprecation"> = {
    kind: "deprecation",
    deprecated: since ?? deprecated !== undefined,
    ...(date === undefined ? {} : { sunset: date }),
    // `then 410` are the second and third argument.
    closed: removed !== undefined || (sunset?.statement.args.length ?? 0) > 1,
    ...(known === undefined ? {} : { successor: printPath([staticSegment(known), ...path]) }),
    ...(documentation === undefined ? {} : { documentation }),
  }
  return steps.add(step, headSpan(first.statement))
}

/** The name of another version of the API. Reported if there is none. */
function successorOf(
  { text, span }: Word,
  version: BoundStatement | undefined,
  api: BoundStatement,
  report: Report,
): string | undefined {
  const names = (api.block?.statements ?? []).flatMap((each) =>
    each.row.keyword === "version" && each !== version ? (each.args.word("name")?.text ?? []) : [],
  )
  if (names.includes(text)) return text
  const near = nearest(text, names)
  const hint = near === undefined ? "" : `; did you mean \`${near}\`?`
  report.add("SP2012", span, `the API has no other version \`${text}\`${hint}`)
  return undefined
}

/** Printing and comparison of a step that announces the end of life of a version. */
export const deprecation: StepText<"deprecation"> = {
  // Prints up to three statements of a version, which are lowered to one step.
  print: ({ deprecated, sunset, closed, successor, documentation }) => {
    const since = deprecated === true ? "deprecated" : `deprecated ${deprecated}`
    const page = documentation === undefined ? "" : ` ${textWords(documentation)}`
    return statement(
      [
        ...(deprecated === false ? [] : [`${since}${page}`]),
        ...(closed && sunset === undefined ? ["removed"] : []),
        ...(sunset === undefined ? [] : [`sunset ${sunset}${closed ? " then 410" : ""}`]),
        // The first segment of the successor's path is its name.
        ...(successor === undefined ? [] : [`successor ${successor.split("/", 2)[1]}`]),
      ].join("; "),
    )
  },
  identities: () => ["deprecation"],
  added: ({ deprecated, sunset, closed }) =>
    closed
      ? breaking(`requests get 410 from ${sunset ?? "now"} on`)
      : neutral(
          deprecated
            ? "responses announce that the version is deprecated"
            : sunset === undefined
              ? "responses announce the successor of the version"
              : `responses announce the end of the version on ${sunset}`,
        ),
  removed: ({ sunset, closed }) =>
    closed
      ? opens(`requests no longer get 410 from ${sunset ?? "now"} on`)
      : neutral("responses no longer announce the end of the version"),
  changed: (before, after) => [otherEnd(before, after)],
}

/** From the end of a version on its requests get 410. An earlier end breaks callers, a later one lets requests in. */
function otherEnd(before: Fields<"deprecation">, after: Fields<"deprecation">): Finding {
  // A version that is `removed` ends now, before every date.
  const end = ({ closed, sunset }: Fields<"deprecation">) => (closed ? (sunset ?? "now") : undefined)
  const [old, next] = [end(before), end(after)]
  if (old === next)
    return neutral("responses announce the end or the successor of the version in another way")
  if (next === undefined) return opens(`requests no longer get 410 from ${old} on`)
  if (old === undefined || next === "now" || (old !== "now" && next < old))
    return breaking(
      `requests get 410 from ${next} on${old === undefined ? "" : ` instead of from ${old} on`}`,
    )
  return opens(`requests get 410 from ${next} on instead of from ${old} on`)
}
