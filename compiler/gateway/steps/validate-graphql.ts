import type { StepOf } from "../../../runtime/plan/steps.ts"
import { closes, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { statementOf } from "../bind/bound.ts"
import { actionOf, addJudging, errorsOf } from "../lower/violations.ts"
import { errorsText, requiredBlock } from "../print.ts"
import { optional, type StatementRow, slot, word } from "../schema/row.ts"
import { action, errors } from "../schema/violations.ts"
import type { StatementForm, StepText } from "../step-text.ts"
import { otherAction, otherErrors } from "../violation-rules.ts"

type Graphql = StepOf<"validate-graphql">

/** `validate graphql { depth 8; fields 200; introspection deny }` */
export const graphqlForm: StatementForm = {
  form: { args: [word("graphql"), optional(action)], block: "validate graphql", blockRequired: true },
  lower: (bound, context) => {
    const count = (keyword: string) => statementOf(bound.block, keyword)?.args.value<number>("count")
    const [depthMax, fieldsMax] = [count("depth"), count("fields")]
    const introspection = statementOf(bound.block, "introspection")?.args.value<"allow" | "deny">("how")
    const step: Graphql = {
      kind: "validate-graphql",
      ...(depthMax === undefined ? {} : { depthMax }),
      ...(fieldsMax === undefined ? {} : { fieldsMax }),
      introspection: introspection ?? "allow",
      action: actionOf(bound),
      ...errorsOf(bound),
    }
    return addJudging(step, bound, context)
  },
}

/** Statements in the block of `validate graphql`. */
export const validateGraphqlRows: readonly StatementRow[] = [
  {
    keyword: "depth",
    forms: [{ args: [slot("count", "count", { min: 1, max: 1000 })] }],
    byDefault: "any depth",
    docs: "Most levels of fields in a query: `{ order { lines { sku } } }` has 3.",
    example: "depth 8",
  },
  {
    keyword: "fields",
    forms: [{ args: [slot("count", "count", { min: 1, max: 100_000 })] }],
    byDefault: "any number",
    docs: "Most fields that an operation selects. The fields of a fragment count wherever it is used, and those with another alias each time.",
    example: "fields 200",
  },
  {
    keyword: "introspection",
    forms: [{ args: [slot("how", "choice", { choices: ["allow", "deny"] })] }],
    byDefault: "allow",
    docs: "Whether a query may read the schema (`__schema`, `__type`).",
    example: "introspection deny",
  },
  errors,
]

/** Printing and comparison of a step that judges GraphQL queries. */
export const validateGraphql: StepText<"validate-graphql"> = {
  print: (step) =>
    requiredBlock(
      `validate graphql ${step.action}`,
      step.depthMax !== undefined && `depth ${step.depthMax}`,
      step.fieldsMax !== undefined && `fields ${step.fieldsMax}`,
      step.introspection === "deny" && "introspection deny",
      errorsText(step),
    ),
  identities: () => ["validate-graphql"],
  added: ({ action }) =>
    action === "prevent"
      ? closes("requests without a GraphQL query, or with one beyond the limits, get 400")
      : neutral("requests with a GraphQL query beyond the limits are logged"),
  removed: ({ action }) =>
    action === "prevent"
      ? opens("GraphQL queries of any size reach the backend")
      : neutral("GraphQL queries are no longer judged"),
  changed: {
    depthMax: (before, after) => otherLimit(before, after, "levels"),
    fieldsMax: (before, after) => otherLimit(before, after, "fields"),
    introspection: (_, after) =>
      after === "allow"
        ? opens("queries may read the schema")
        : closes("queries that read the schema are refused"),
    action: (before, after) => otherAction(before, after, "GraphQL queries beyond the limits"),
    errors: otherErrors,
  },
}

/** Undefined: no limit. */
function otherLimit(before: number | undefined, after: number | undefined, what: string): Finding {
  if (after === undefined) return opens(`queries may have any number of ${what}`)
  return before === undefined || after < before
    ? closes(`queries with more than ${after} ${what} are refused`)
    : opens(`queries may have ${after} ${what}`)
}
