import { mediaRange } from "../../../runtime/plan/media-range.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { shown } from "../../core/shown.ts"
import { describedContents } from "../../openapi/described-contents.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import { type Bound, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import type { Lowered, StepContext } from "../lower/step.ts"

type Plan = StepOf<"validate-content">
type Rule = Plan["types"][number]
type Action = Rule["action"]
type MediaMap = NonNullable<Plan["mediaMap"]>

const bytesDefault = 1_000_000

/** `validate content { json "application/json" { schema "FILE" }; map missing to "application/json"; size 100KB }` */
export function lowerValidateContent(bound: Bound, context: StepContext): Lowered | undefined {
  const { block, args, statement } = bound
  const action = args.value<Action>("action") ?? "prevent"
  const types = (block?.statements ?? []).flatMap((each): (readonly Rule[] | undefined)[] => {
    const { keyword } = each.row
    if (each.broken || (keyword !== "json" && keyword !== "xml" && keyword !== "soap")) return []
    return [lowerRule(each, keyword, action, context)]
  })
  const mediaMap = lowerMap(statementsOf(block, "map"), context)
  const size = statementOf(block, "size")?.args
  const errors = statementOf(block, "errors")?.args.value<string>("variable")
  if (types.includes(undefined) || mediaMap === "broken") return undefined
  const step: Plan = {
    kind: "validate-content",
    message: messageAt(context.place),
    bytesMax: size?.value<number>("size") ?? bytesDefault,
    onSize: size?.value<Action>("action") ?? action,
    onUnspecified: action,
    ...(mediaMap === undefined ? {} : { mediaMap }),
    types: (types as (readonly Rule[])[]).flat(),
    ...(errors === undefined ? {} : { errors }),
  }
  const declares = errors === undefined ? {} : { declares: { [errors]: "dyn" as const } }
  return { ...context.steps.add(step, headSpan(statement)), ...declares }
}

/** Without `schema` those of the operation's document count; without a media type all the document describes are meant, or any. */
function lowerRule(
  bound: Bound,
  as: "json" | "xml" | "soap",
  otherwise: Action,
  context: StepContext,
): readonly Rule[] | undefined {
  const { args, block } = bound
  const media = mediaOf(bound, "media", context) ?? "*"
  const action = args.value<Action>("action") ?? otherwise
  const message = messageAt(context.place)
  const additional = statementOf(block, "additional-properties")?.args.value<string>("how")
  const overrides: SchemaOverrides = {
    ...(additional === undefined ? {} : { additional: additional === "allow" }),
    ...(mentions(block, "any-case") ? { anyCase: true as const } : {}),
  }
  const own: Rule = { media, as, action }
  const named = statementOf(block, "schema")
  if (named !== undefined) {
    const ref = named.args.value<string>("ref")
    const said = (named.args.get("ref") ?? named.args.get("path"))?.argument.span ?? headSpan(named.statement)
    const schema = context.bodySchemas.of(named, { said, ref, message, overrides })
    const anyCase = overrides.anyCase === true ? { anyCase: true as const } : {}
    return schema === undefined ? undefined : [{ ...own, schema, ...anyCase }]
  }
  const known = context.place.described?.contents(message, overrides) ?? []
  const fitting = known.filter((each) => (each.as === "xml") === (as !== "json"))
  if (media === "*" && fitting.length > 0)
    return fitting.map((each) => ({ ...each, ...(as === "json" ? {} : { as }), action }))
  if (as !== "json") return [own]
  return describedContents(fitting, own, message).contents
}

/** A media type or range in lower case; what is none is reported. */
function mediaOf({ args }: Bound, slot: string, { report }: StepContext): string | undefined {
  const filled = args.get(slot)
  const media = args.value<string>(slot)?.trim().toLowerCase()
  if (filled === undefined || media === undefined) return undefined
  if (mediaRange.safeParse(media).success) return media
  report.add("SP2040", filled.argument.span, `\`${shown(media)}\` is no media type`)
  return undefined
}

function lowerMap(statements: readonly Bound[], context: StepContext): MediaMap | undefined | "broken" {
  if (statements.length === 0) return undefined
  const rules: MediaMap["rules"] = []
  const whole: { missing?: string; any?: string } = {}
  const { errors } = context.report
  for (const each of statements) {
    const to = mediaOf(each, "to", context)
    const from = mediaOf(each, "from", context)
    const word = each.args.value<"missing" | "any">("what")
    const condition = each.args.cel("test")
    const when =
      condition === undefined ? undefined : context.expressions.lower(condition, context.place, "bool")
    if (word !== undefined) {
      if (whole[word] !== undefined)
        context.report.add("SP2008", headSpan(each.statement), `\`map ${word}\` is there twice`)
      whole[word] = to ?? ""
    } else if (to !== undefined && when !== undefined) rules.push({ when, to })
    else if (to !== undefined && from !== undefined) rules.push({ from, to })
  }
  return context.report.errors > errors ? "broken" : { rules, ...whole }
}
