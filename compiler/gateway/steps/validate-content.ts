import { sizeText } from "../../../runtime/plan/quantities.ts"
import type { ViolationAction } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../../analysis/finding.ts"
import type { SchemaComparison } from "../../analysis/schema-comparison.ts"
import { textWords } from "../../analysis/words.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import { describedContents } from "../../openapi/schema-overrides.ts"
import { type BoundStatement, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { lowerMediaRange } from "../lower/media-range.ts"
import type { StepContext } from "../lower/step.ts"
import { actionOf, addJudging, bytesDefault, errorsOf } from "../lower/violations.ts"
import { errorsText, fixedText, type Printed, type Printing, statement } from "../print.ts"
import { optional, type StatementRow, slot, word } from "../schema/row.ts"
import { action, errors } from "../schema/violations.ts"
import { type Judged, ruleChanges } from "../schema-rules.ts"
import type { Fields, StatementForm, StepText } from "../step-text.ts"
import { otherAction, otherErrors, strongest } from "../violation-rules.ts"

type Content = StepOf<"validate-content">
type Rule = Content["types"][number]
type MediaMap = NonNullable<Content["mediaMap"]>
/** An action, or an expression that yields it per request. */
type FoundAction = Content["onSize"]

/** `validate content { json "application/json" { schema "FILE" }; map missing to "application/json"; size 100KB }` */
export const contentForm: StatementForm = {
  form: { args: [word("content"), optional(action)], block: "validate content", blockRequired: true },
  lower: (bound, context) => {
    const { block } = bound
    const action = actionOf(bound)
    const types = (block?.statements ?? []).flatMap((each): (readonly Rule[] | undefined)[] => {
      const { keyword } = each.row
      // A statement with an invalid schema is left out as a whole: without it, other bodies would pass.
      if (each.broken || (keyword !== "json" && keyword !== "xml" && keyword !== "soap")) return []
      return [lowerRule(each, keyword, action, context)]
    })
    const mediaMap = lowerMap(statementsOf(block, "map"), context)
    const size = statementOf(block, "size")?.args
    if (types.includes(undefined) || mediaMap === "broken") return undefined
    const step: Content = {
      kind: "validate-content",
      message: messageAt(context.place),
      bytesMax: size?.value<number>("size") ?? bytesDefault,
      onSize: size?.value<ViolationAction>("action") ?? action,
      onUnspecified: action,
      ...(mediaMap === undefined ? {} : { mediaMap }),
      types: (types as (readonly Rule[])[]).flat(),
      ...errorsOf(bound),
    }
    return addJudging(step, bound, context)
  },
}

const media = slot("media", "constant", { label: '"TYPE"', max: 256 })
const to = [word("to"), slot("to", "constant", { label: '"TYPE"', max: 256 })]

function form(as: "xml" | "soap", what: string): StatementRow {
  return {
    keyword: as,
    several: 50,
    forms: [{ args: [optional(media), optional(action)] }],
    docs: `Bodies of this media type are ${what}; without a type those the operation's document describes as XML, else all.`,
    example: as === "xml" ? 'xml "application/xml"' : 'soap "application/soap+xml"',
  }
}

/** Statements in the block of `validate content`. */
export const validateContentRows: readonly StatementRow[] = [
  {
    keyword: "json",
    several: 50,
    forms: [{ args: [optional(media), optional(action)], block: "validate content json" }],
    docs: "Bodies of this media type must be JSON that matches the schema: the one in the block, else the one of the OpenAPI document, else any JSON. Without a media type: those in the document, else all.",
    example: 'json "application/json" { schema "models/order.schema.json" }',
  },
  form("xml", "well-formed XML"),
  form("soap", "SOAP messages of the version that belongs to the media type"),
  {
    keyword: "map",
    several: 100,
    forms: [
      { args: [slot("what", "choice", { choices: ["missing", "any"] }), ...to] },
      { args: [slot("from", "constant", { label: '"TYPE"', max: 256 }), ...to] },
      { args: [slot("test", "condition"), ...to] },
    ],
    byDefault: "no media type is replaced",
    docs: "The media type to use instead of the one sent: the first rule with a matching type or condition applies, then `missing` for a body without a type, then `any`.",
    example: 'map "application/hal+json" to "application/json"',
  },
  {
    keyword: "size",
    forms: [{ args: [slot("size", "size", { min: 1, max: 1_073_741_824 }), optional(action)] }],
    byDefault: "1MB; the statement decides what happens to a larger body",
    docs: "Largest body after decoding (gzip etc.), and what happens to a larger one.",
    example: "size 100KB prevent",
  },
  errors,
]

/** Statements of `json` in that block. */
export const contentJsonRows: readonly StatementRow[] = [
  {
    keyword: "schema",
    forms: [
      {
        args: [
          slot("path", "constant", { label: '"FILE"' }),
          optional(slot("ref", "constant", { label: '"#/POINTER"' })),
        ],
      },
    ],
    byDefault: "that of the operation's OpenAPI document, else any JSON",
    docs: "The JSON Schema that a body must match: the file, or the part of it at the JSON Pointer.",
    example: 'schema "models/schemas.json" "#/components/schemas/Order"',
  },
  {
    keyword: "additional-properties",
    forms: [{ args: [slot("how", "choice", { choices: ["allow", "deny"] })] }],
    byDefault: "as the schema says",
    docs: "Whether objects may have properties that the schema does not declare. Overrides `additionalProperties` of the schema.",
    example: "additional-properties deny",
  },
  {
    keyword: "any-case",
    forms: [{ args: [] }],
    byDefault: "property names are case-sensitive",
    docs: "Ignores upper and lower case in property names. An object with two names that differ only in case is refused.",
    example: "any-case",
  },
]

/**
 * Without `schema`, the rule uses the schemas of the operation's document. Without a media type, it applies to all media types of the
 * document, or to any.
 */
function lowerRule(
  bound: BoundStatement,
  as: "json" | "xml" | "soap",
  otherwise: ViolationAction,
  context: StepContext,
  // `*` is any media type that no other rule names.
): readonly Rule[] | undefined {
  const { args, block } = bound
  const media = mediaOf(bound, "media", context) ?? "*"
  const action = args.value<ViolationAction>("action") ?? otherwise
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
  // Each media type of the document has its own schema, so one statement becomes several rules.
  if (media === "*" && fitting.length > 0)
    return fitting.map((each) => ({ ...each, ...(as === "json" ? {} : { as }), action }))
  if (as !== "json") return [own]
  return describedContents(fitting, own, message).contents
}

function mediaOf({ args }: BoundStatement, slot: string, { report }: StepContext): string | undefined {
  const filled = args.get(slot)
  return filled?.value === undefined ? undefined : lowerMediaRange(filled, report)
}

/** `"broken"` after any finding. `missing` and `any` can be given once, other rules are tried in textual order. */
function lowerMap(
  statements: readonly BoundStatement[],
  context: StepContext,
): MediaMap | undefined | "broken" {
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
        // The last one would win silently.
        context.report.add("SP2008", headSpan(each.statement), `\`map ${word}\` is given twice`)
      whole[word] = to ?? ""
    } else if (to !== undefined && when !== undefined) rules.push({ when, to })
    else if (to !== undefined && from !== undefined) rules.push({ from, to })
  }
  return context.report.errors > errors ? "broken" : { rules, ...whole }
}

/** Printing and comparison of a step that validates bodies. */
export const validateContent: StepText<"validate-content"> = {
  print: (step, printing) => (isDescribed(step) ? describedText(step, printing) : ownText(step, printing)),
  identities: () => ["validate-content"],
  added: ({ message, onSize, onUnspecified, types }) => {
    const actions = [onSize, onUnspecified, ...types.map(({ action }) => action)]
    // A computed action may be `prevent`, so it counts as one.
    if (!actions.some((action) => action === "prevent" || typeof action === "object"))
      return neutral(`${message}s with an invalid body are logged`)
    return message === "request"
      ? closes("requests with an invalid body get 400")
      : breaking("responses with an invalid body become 502")
  },
  removed: ({ message }) => opens(`the bodies of ${message}s are no longer checked`),
  changed: (before, after, { schemas }) => compareFields(rules(schemas), before, after),
}

/** Whether the step uses an OpenAPI document: it has schemas, or an action for missing bodies. */
function isDescribed({ onMissing, types }: Content): boolean {
  return onMissing !== undefined || types.some(({ schema }) => schema !== undefined)
}

/** Prints the step as `validate` of a scope, which uses the document. */
function describedText({ message, types, bytesMax, mediaMap }: Content, printing: Printing): Printed {
  // Stores of schemas are an API of APIM; gateway.conf names files.
  const size = sizeWords(bytesMax, printing)
  printing.lacks("a schema from the schema store of Azure API Management")
  return statement(`validate ${message}`, `content ${strongest(types)}`, size, mapText(mediaMap))
}

/** The statement with everything that differs from the defaults of the printing. */
function ownText(step: Content, printing: Printing): Printed {
  const size = sizeWords(step.bytesMax, printing)
  return statement(
    `validate content ${actionText(step.onUnspecified, printing)}`,
    step.types.map(
      ({ as, media, action }) => `${as}${media === "*" ? "" : ` ${textWords(media)}`} ${action}`,
    ),
    mapText(step.mediaMap),
    `${size} ${actionText(step.onSize, printing)}`,
    errorsText(step),
  )
}

function sizeWords(bytes: Content["bytesMax"], printing: Printing): string {
  return `size ${typeof bytes === "number" ? sizeText(bytes) : fixedText(bytes, "a size", printing)}`
}

function actionText(action: FoundAction, printing: Printing): string {
  if (typeof action === "string") return action
  printing.lacks("the action for a violation is computed per request")
  return `(${action.expression.text})`
}

/** The lines of the media type map. */
function mapText(map: Content["mediaMap"]): string[] {
  if (map === undefined) return []
  const { rules, missing, any } = map
  // The schemas of an OpenAPI document are not text of gateway.conf.
  return [
    ...rules.map(
      (rule) =>
        `map ${"from" in rule ? textWords(rule.from) : `(${rule.when.text})`} to ${textWords(rule.to)}`,
    ),
    ...(missing === undefined ? [] : [`map missing to ${textWords(missing)}`]),
    ...(any === undefined ? [] : [`map any to ${textWords(any)}`]),
  ]
}

/** The effect of each changed field. A value that is not a number is computed per request. */
const rules = (schemas: SchemaComparison): FieldRules<Fields<"validate-content">> => ({
  message: (_, after) => neutral(`it now applies to the ${after}`),
  bytesMax: (before, after) => {
    if (typeof after !== "number") return opens("callers may control the maximum size of bodies")
    return typeof before === "number" && after > before
      ? opens(`bodies of up to ${after} bytes are let through`)
      : closes(`bodies may have at most ${after} bytes`)
  },
  onSize: (before, after) => foundChange(before, after, "bodies that are too large"),
  onUnspecified: (before, after) => foundChange(before, after, "bodies of other media types"),
  onMissing: (before, after) => otherAction(before ?? "ignore", after ?? "ignore", "messages without a body"),
  mediaMap: (_, after) =>
    opens(
      after === undefined
        ? "media types are no longer replaced: another rule, or none, may check a body"
        : "media types are replaced in another way: another rule, or none, may check a body",
    ),
  types: (before, after, items) => typeChanges(before, after, items, schemas),
  errors: otherErrors,
})

/** Compares rules by media type, for responses also by status. */
function typeChanges(
  before: Content["types"],
  after: Content["types"],
  items: { readonly before: Fields<"validate-content">; readonly after: Fields<"validate-content"> },
  schemas: SchemaComparison,
): Finding[] {
  const { message } = items.after
  const nameOf = ({ media, status }: Content["types"][number]) =>
    [media, ...(status === undefined ? [] : [status])].join(" ")
  // Another rule may apply: a range of media types or of statuses.
  const isRange = ({ media, status }: Content["types"][number]) =>
    media.includes("*") || (status !== undefined && !/^[1-5][0-9]{2}$/.test(status))
  const others = (name: string) => {
    if (items.before.types.some(isRange) || items.after.types.some(isRange))
      return [opens(`\`${name}\` is checked by another rule`)]
    return undefined
  }
  const judged: Judged<Content["types"][number]> = {
    message,
    nameOf,
    subject: () => (message === "request" ? "bodies" : "answers"),
    isText: ({ as }) => as !== "json",
    gone: (name) =>
      others(name) ??
      (items.after.onUnspecified === "prevent" ? [refused(message, `bodies of \`${name}\``)] : undefined),
    come: (name) =>
      others(name) ??
      (items.before.onUnspecified === "prevent"
        ? [opens(`valid bodies of \`${name}\` are let through`)]
        : undefined),
  }
  return ruleChanges(before, after, judged, schemas)
}

/** An action evaluated per request can be any action. */
function foundChange(before: FoundAction, after: FoundAction, what: string): Finding {
  if (typeof after === "object") return opens(`the action for ${what} is computed per request`)
  return otherAction(typeof before === "object" ? "prevent" : before, after, what)
}

function refused(message: "request" | "response", what: string): Finding {
  return message === "request" ? closes(`${what} are refused`) : breaking(`responses with ${what} become 502`)
}
