import type { ViolationAction } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import {
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../../analysis/finding.ts"
import type { SchemaComparison } from "../../analysis/schema-comparison.ts"
import { textWords } from "../../analysis/words.ts"
import { statement } from "../print.ts"
import { type Judged, ruleChanges } from "../schema-rules.ts"
import type { Fields, StepText } from "../step-text.ts"
import { otherAction, otherErrors, strongest } from "../violation-rules.ts"

type Parameters = StepOf<"validate-parameters">
type Unspecified = Parameters["unspecified"]
type Named = NonNullable<Unspecified["named"]>[number]

/** Printing and comparison of a step that validates the parameters of requests. */
export const validateParameters: StepText<"validate-parameters"> = {
  print: ({ parameters, unspecified }, printing) => {
    // The step comes from a document; there is no statement with all these rules.
    const { query, header, named = [] } = unspecified
    printing.refuses(
      `an OpenAPI document describes the parameters; in the API that has one, write \`validate request { unknown-query ${query}; unknown-headers ${header} }\``,
    )
    return statement(
      "validate request",
      `parameters ${strongest(parameters)}`,
      query !== "ignore" && `unknown-query ${query}`,
      header !== "ignore" && `unknown-headers ${header}`,
      named.map(({ in: place, name, action }) => `${place} ${textWords(name)} ${action}`),
    )
  },
  identities: () => ["validate-parameters"],
  added: ({ parameters, unspecified }) =>
    [
      unspecified.query,
      unspecified.header,
      ...[...parameters, ...(unspecified.named ?? [])].map(({ action }) => action),
    ].includes("prevent")
      ? closes("requests with invalid parameters get 400")
      : neutral("requests with invalid parameters are logged"),
  removed: () => opens("the parameters of requests are no longer checked"),
  changed: (before, after, { schemas }) => compareFields(rules(schemas), before, after),
}

/** The effect of each changed field. */
const rules = (schemas: SchemaComparison): FieldRules<Fields<"validate-parameters">> => ({
  parameters: (before, after, items) => parameterChanges(before, after, items, schemas),
  unspecified: (before, after) =>
    orOtherWords([
      ...(before.query === after.query
        ? []
        : [otherAction(before.query, after.query, "other query parameters")]),
      ...(before.header === after.header ? [] : [otherAction(before.header, after.header, "other headers")]),
      ...namedChanges(before, after),
    ]),
  errors: otherErrors,
  withBody: (_, after) =>
    neutral(
      after === true
        ? "errors of parameters and of the body are reported in one response"
        : "errors of parameters are reported without those of the body",
    ),
})

/** A parameter that is no longer listed is treated like an undescribed one of its place. */
function parameterChanges(
  before: Parameters["parameters"],
  after: Parameters["parameters"],
  items: { readonly before: Fields<"validate-parameters">; readonly after: Fields<"validate-parameters"> },
  schemas: SchemaComparison,
): Finding[] {
  const unknownAction = (
    { unspecified }: Fields<"validate-parameters">,
    rule: Parameters["parameters"][number],
  ): ViolationAction => {
    const { in: place, name } = rule
    // Parameters in paths and cookies without a description are never refused.
    if (place !== "query" && place !== "header") return "ignore"
    return (
      unspecified.named?.find((each) => each.in === place && each.name === name)?.action ?? unspecified[place]
    )
  }
  const judged: Judged<Parameters["parameters"][number]> = {
    message: "request",
    nameOf: (rule) => `${rule.in} ${rule.name}`,
    subject: (name) => `requests with \`${name}\``,
    // Parameters are texts, so differences between types are judged as texts.
    isText: () => true,
    gone: (name, rule) =>
      unknownAction(items.after, rule) === "prevent"
        ? // Refused if it is sent, and no longer demanded: both happen to different callers.
          [
            closes(`requests with \`${name}\` are refused: the document no longer describes it`),
            ...(rule.required ? [opens(`requests without \`${name}\` are now let through`)] : []),
          ]
        : undefined,
    come: (name, rule) =>
      unknownAction(items.before, rule) === "prevent"
        ? [
            opens(`requests with a valid \`${name}\` are let through`),
            ...(rule.required ? [closes(`requests without \`${name}\` are refused`)] : []),
          ]
        : undefined,
  }
  return ruleChanges(before, after, judged, schemas)
}

function orOtherWords(found: Finding[]): Finding[] {
  return found.length > 0
    ? found
    : [neutral("the rules for other parameters are written differently but mean the same")]
}

/** Changes for the names with an action of their own. */
function namedChanges(before: Unspecified, after: Unspecified): Finding[] {
  const keyOf = ({ in: place, name }: Named): string => `${place} ${name}`
  const all = new Map([...(before.named ?? []), ...(after.named ?? [])].map((each) => [keyOf(each), each]))
  return [...all].flatMap(([key, { in: place }]) => {
    const actionIn = (where: Unspecified): ViolationAction =>
      // A name without an action of its own has the one of its place.
      where.named?.find((each) => keyOf(each) === key)?.action ?? where[place]
    const [old, now] = [actionIn(before), actionIn(after)]
    return old === now ? [] : [otherAction(old, now, `requests with \`${key}\``)]
  })
}
