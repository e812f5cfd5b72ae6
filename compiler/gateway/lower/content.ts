import type { BodyContent } from "../../../runtime/plan/step-values.ts"
import type { TextArgument, Word } from "../ast.ts"
import type { BoundStatement } from "../bind/bound.ts"
import { neededWing } from "../policy-files.ts"
import { isJsonMedia, mediaTypes } from "../schema/content.ts"
import { placeIn } from "./literal.ts"
import { warnOfRawValues } from "./raw-values.ts"
import type { StepContext } from "./step.ts"

/** The content of a body statement: `json|text|xml|"media/type"`, optionally `liquid` or `xml`, and a text or expression. */
export function lowerContent(
  bound: BoundStatement,
  context: StepContext,
): { media: string | null; content: BodyContent } | undefined {
  const { texts, expressions, place } = context
  const word = bound.args.value<"json" | "text">("media")
  const written = bound.args.value<string>("type")
  const media = written ?? (word === undefined ? null : mediaTypes[word])
  const template = bound.args.text("template")
  if (template !== undefined) {
    const liquid = lowerLiquid(template, context)
    return liquid === undefined ? undefined : { media, content: { liquid } }
  }
  const markup = bound.args.text("markup")
  if (markup !== undefined) {
    const text = texts.lowerXml(markup, place)
    return text === undefined ? undefined : { media: media ?? mediaTypes.xml, content: { text } }
  }
  const content = bound.args.cel("expression") ?? bound.args.text("text")
  if (content === undefined) return undefined
  const isJson = word === "json" || (written !== undefined && isJsonMedia(written))
  if (content.kind === "cel" && word !== "json" && word !== "text") {
    const value = expressions.lower(content, place)
    // A value that is not text is written as JSON, which escapes it.
    if (value === undefined || !isJson || value.type === "string") warnOfRawValues(content, media, context)
    return value === undefined ? undefined : { media, content: { value } }
  }
  if (!isJson) warnOfRawValues(content, media, context)
  const text = isJson ? texts.lowerJson(content, place) : texts.lowerBody(content, place)
  return text === undefined ? undefined : { media, content: { text } }
}

/** A Liquid template, which must be constant text; undefined when it is invalid (reported, with the place in the template). */
function lowerLiquid(
  argument: TextArgument | Word,
  { report, azure }: Pick<StepContext, "report" | "azure">,
): string | undefined {
  if (argument.kind !== "text") {
    report.add("SP2031", argument.span, "a template must be a constant string", {
      help: "Write it in quotes or as `<<LIQUID`.",
    })
    return undefined
  }
  const dynamic = argument.parts.find((part) => part.kind === "cel")
  if (dynamic !== undefined) {
    report.add("SP2031", dynamic.span, "a template cannot contain `${…}`", {
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
