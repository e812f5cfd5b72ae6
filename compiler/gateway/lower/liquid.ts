import type { TextArgument, Word } from "../ast.ts"
import { neededWing } from "../policy-files.ts"
import { placeIn } from "./literal.ts"
import type { StepContext } from "./step.ts"

/** A Liquid template, which is constant text; undefined when it is wrong (reported, with the place in it). */
export function lowerLiquid(
  argument: TextArgument | Word,
  { report, azure }: Pick<StepContext, "report" | "azure">,
): string | undefined {
  if (argument.kind !== "text") {
    report.add("SP2031", argument.span, "a template is constant text", {
      help: "Write it in quotes or as `<<LIQUID`.",
    })
    return undefined
  }
  const dynamic = argument.parts.find((part) => part.kind === "cel")
  if (dynamic !== undefined) {
    report.add("SP2031", dynamic.span, "a template has no `${…}`", {
      help: "Set a variable and read it by `{{ context.Variables.NAME }}`, or write `$${` for the characters.",
    })
    return undefined
  }
  const literals = argument.parts.flatMap((part) => (part.kind === "literal" ? [part] : []))
  const source = literals.map(({ value }) => value).join("")
  const problem = neededWing(azure).templateProblem(source)
  if (problem === undefined) return source
  const [only] = literals
  report.add("SP5017", only === undefined ? argument.span : placeIn(only, problem.offset), problem.message)
  return undefined
}
