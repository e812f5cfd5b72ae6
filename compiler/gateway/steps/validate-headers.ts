import type { ViolationAction } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { compareFields, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import type { SchemaComparison } from "../../analysis/schema-comparison.ts"
import { statementOf } from "../bind/bound.ts"
import { actionOf, addJudging, errorsOf, NamesOnce } from "../lower/violations.ts"
import { errorsText, type Printed, type Printing, requiredBlock, statement, textsOf } from "../print.ts"
import { many, optional, type StatementRow, slot, word } from "../schema/row.ts"
import { action, errors } from "../schema/violations.ts"
import { ruleChanges } from "../schema-rules.ts"
import type { Fields, StatementForm, StepText } from "../step-text.ts"
import { newAnswerActions, otherAnswerAction, otherErrors } from "../violation-rules.ts"

type ValidateHeaders = StepOf<"validate-headers">

/** `validate headers { allow "X-A"; require "X-B" }` */
export const headersForm: StatementForm = {
  form: { args: [word("headers"), optional(action)], block: "validate headers", blockRequired: true },
  lower: (bound, context) => {
    const action = actionOf(bound)
    // A name in two lists would have two actions, and which counts is not visible.
    const names = new NamesOnce(bound, "name", context)
    const allowed = names.of("allow").map((name) => ({ name, required: false, action: "ignore" as const }))
    const required = names.of("require").map((name) => ({ name, required: true, action }))
    const named = (["detect", "prevent"] as const).flatMap((keyword) =>
      names.of(keyword).map((name) => ({ name, action: keyword })),
    )
    const step: ValidateHeaders = {
      kind: "validate-headers",
      headers: [...allowed, ...required],
      ...(named.length === 0 ? {} : { named }),
      // A header without a rule gets the action of the statement, as in APIM.
      unspecified: statementOf(bound.block, "others")?.args.value<ViolationAction>("action") ?? action,
      ...errorsOf(bound),
    }
    return addJudging(step, bound, context)
  },
}

function judged(keyword: string, docs: string, example: string): StatementRow {
  const names = many(slot("name", "header-name"), 50)
  return { keyword, several: true, forms: [{ args: [names] }], docs, example: `${keyword} ${example}` }
}

export const validateHeadersRows: readonly StatementRow[] = [
  judged(
    "allow",
    "Headers that a response may have, in addition to those that every response may have (such as Content-Type).",
    '"X-Total" "X-Page"',
  ),
  judged("require", "Headers that a response must have.", '"X-Total"'),
  judged("detect", "Headers that are logged when a response has them.", '"X-Debug"'),
  judged("prevent", "Headers that turn a response into 502.", '"X-Debug"'),
  {
    keyword: "others",
    forms: [{ args: [action] }],
    byDefault: "as the statement says",
    docs: "What happens to responses with other headers.",
    example: "others ignore",
  },
  errors,
]

/** Printing and comparison of a step that validates the headers of responses. */
export const validateHeaders: StepText<"validate-headers"> = {
  print: (step, printing) => {
    // Documents describe headers by schema and status; no statement can.
    if (step.described !== undefined) printing.lacks("headers as an OpenAPI document describes them")
    return step.described !== undefined && step.headers.length === 0
      ? describedText(step, printing)
      : ownText(step, printing)
  },
  identities: () => ["validate-headers"],
  added: ({ headers, described = [], named = [], unspecified }) =>
    newAnswerActions(
      [
        ...named.map(({ name, action }) => [action, `\`${name}\``] as const),
        ...headers.map(
          ({ name, action, required }) => [required ? action : "ignore", `no \`${name}\``] as const,
        ),
        ...described
          .flatMap((each) => each.headers)
          .map(({ action }) => [action, "invalid headers"] as const),
        [unspecified, "other headers"],
      ],
      "no header of a response is refused or logged",
    ),
  removed: () => opens("the headers of responses are no longer checked"),
  changed: (before, after, { schemas }) => compareFields(rules(schemas), before, after),
}

/** Prints the step as `validate` of a scope, which uses the document. */
function describedText({ described = [], ...step }: ValidateHeaders, printing: Printing): Printed {
  return statement(
    "validate response",
    `headers ${described.flatMap((each) => each.headers)[0]?.action ?? "ignore"}`,
    step.unspecified !== "ignore" && `unknown-headers ${step.unspecified}`,
    (["ignore", "detect", "prevent"] as const).map((action) => namedText(step.named, action, printing)),
    errorsText(step),
  )
}

/** Prints the step as its own statement. There, all required headers have the statement's action. */
function ownText({ headers, named, unspecified, errors }: ValidateHeaders, printing: Printing): Printed {
  // The printed statement has one action. The most telling is that of its required headers.
  const action = headers.find(({ required }) => required)?.action ?? unspecified
  const others = headers.filter((each) => each.action !== (each.required ? action : "ignore"))
  if (others.length > 0)
    printing.lacks(
      others.some(({ required }) => required)
        ? "required headers, each with its own action"
        : "an optional header that is checked",
    )
  const list = (keyword: string, isRequired: boolean) => {
    const found = headers.filter(({ required }) => required === isRequired)
    return found.length > 0 && `${keyword}${textsOf(found.map(({ name }) => printing.header(name)))}`
  }
  return requiredBlock(
    `validate headers ${action}`,
    list("allow", false),
    list("require", true),
    (["ignore", "detect", "prevent"] as const).map((each) => namedText(named, each, printing)),
    unspecified !== action && `others ${unspecified}`,
    errorsText({ errors }),
  )
}

function namedText(
  named: ValidateHeaders["named"] = [],
  action: ViolationAction,
  { header }: Printing,
): string | false {
  const names = named.flatMap((each) => (each.action === action ? [header(each.name)] : []))
  return names.length > 0 && `${action === "ignore" ? "allow" : action}${textsOf(names)}`
}

/** The action for a response header without a rule. */
function unlistedAction(step: Fields<"validate-headers">, name: string): ViolationAction {
  // Listed headers are allowed whatever the rule for others says.
  if (step.headers.some((each) => each.name === name)) return "ignore"
  return step.named?.find((each) => each.name === name)?.action ?? step.unspecified
}

/** Compares headers by their schemas if a document describes them. */
const rules = (schemas: SchemaComparison): FieldRules<Fields<"validate-headers">> => ({
  described: (before = [], after = []) => {
    const listed = (list: typeof before) =>
      list.flatMap(({ status, headers }) => headers.map((rule) => ({ ...rule, status })))
    const found = ruleChanges(
      listed(before),
      listed(after),
      {
        message: "response",
        nameOf: ({ status, name }) => `${name}\` of responses with \`${status}`,
        subject: (name) => `responses with \`${name}\``,
        isText: () => true,
        gone: () => undefined,
        come: () => undefined,
      },
      schemas,
    )
    return found.length > 0 ? found : neutral("other statuses are described")
  },
  headers: (before, after, items) => {
    const wanted = (headers: typeof before, name: string): ViolationAction =>
      headers.find((each) => each.name === name && each.required)?.action ?? "ignore"
    const names = [...new Set([...before, ...after].map(({ name }) => name))]
    const found = names.flatMap((name) => [
      ...otherAnswerAction(wanted(before, name), wanted(after, name), `no \`${name}\``),
      ...otherUnlisted(items, name),
    ])
    return found.length > 0
      ? found
      : neutral("the rules for headers are written differently but mean the same")
  },
  named: (before = [], after = [], items) => {
    // A header that is listed on one side only is reported with the list.
    const listed = new Set([...items.before.headers, ...items.after.headers].map(({ name }) => name))
    const names = new Set([...before, ...after].map(({ name }) => name))
    const found = [...names].flatMap((name) => (listed.has(name) ? [] : otherUnlisted(items, name)))
    return found.length > 0
      ? found
      : neutral("the rules for headers are written differently but mean the same")
  },
  unspecified: (before, after) => otherAnswerAction(before, after, "other headers"),
  errors: otherErrors,
})

/** A header that a rule no longer lists is treated like every unlisted one. */
function otherUnlisted(
  items: { readonly before: Fields<"validate-headers">; readonly after: Fields<"validate-headers"> },
  name: string,
) {
  return otherAnswerAction(
    unlistedAction(items.before, name),
    unlistedAction(items.after, name),
    `\`${name}\``,
  )
}
