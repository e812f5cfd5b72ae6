import { compileTemplate, TemplateProblem } from "../../../runtime/azure/liquid/compile-template.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Text, Word } from "../ast.ts"
import { placeIn } from "../lower/literal.ts"

/** A Liquid template, which is constant text; undefined when it is wrong (reported, with the place in it). */
export function lowerLiquid(argument: Text | Word, report: Report): string | undefined {
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
  try {
    compileTemplate(source)
    return source
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error
    const [only] = literals
    const span = only === undefined ? argument.span : placeIn(only, error.offset)
    report.add("SP5017", span, error.message)
    return undefined
  }
}
