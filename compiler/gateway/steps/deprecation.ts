import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { nearest } from "../../core/nearest.ts"
import type { Word } from "../ast.ts"
import { type Bound, headSpan, statementOf } from "../bind/bound.ts"
import { printPath, staticSegment } from "../bind/path.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import type { RouteSource } from "../routes.ts"

/** What a version says of its end: `deprecated`, `sunset`, `removed`, `successor`. Undefined where it says nothing. */
export function lowerDeprecation(
  { version, api, prefix }: RouteSource,
  { steps, report }: Pick<StepContext, "steps" | "report">,
): Lowered | undefined {
  const said = (keyword: string) => statementOf(version?.block, keyword)
  const [deprecated, sunset, removed, successor] = ["deprecated", "sunset", "removed", "successor"].map(said)
  const first = deprecated ?? sunset ?? removed ?? successor
  if (first === undefined) return undefined
  if (removed !== undefined && sunset !== undefined)
    report.add("SP2017", sunset.statement.keyword.span, "a version that is `removed` has no end to come", {
      related: [{ span: removed.statement.keyword.span, message: "`removed`" }],
    })
  const since = deprecated?.args.value<string>("date")
  const page = deprecated?.args.get("documentation")
  const documentation = page?.value as string | undefined
  if (page !== undefined && documentation !== undefined && !/^https?:\/\/[!#-;=?-~]+$/.test(documentation))
    report.add("SP2026", page.argument.span, "the page that says more is not an http(s) URL")
  const date = sunset?.args.value<string>("date")
  const next = successor?.args.word("version")
  const known = next === undefined ? undefined : successorOf(next, version, api.bound, report)
  const [, ...path] = prefix
  const step: StepOf<"deprecation"> = {
    kind: "deprecation",
    deprecated: since ?? deprecated !== undefined,
    ...(date === undefined ? {} : { sunset: date }),
    closed: removed !== undefined || (sunset?.statement.args.length ?? 0) > 1,
    ...(known === undefined ? {} : { successor: printPath([staticSegment(known), ...path]) }),
    ...(documentation === undefined ? {} : { documentation }),
  }
  return steps.add(step, headSpan(first.statement))
}

/** The name of another version of the API; reported where it is none. */
function successorOf(
  { text, span }: Word,
  version: Bound | undefined,
  api: Bound,
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
