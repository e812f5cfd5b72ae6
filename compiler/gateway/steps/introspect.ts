import type { StepOf } from "../../../runtime/plan/steps.ts"
import { closes, type FieldRules, opens } from "../../analysis/finding.ts"
import { type BoundStatement, statementsOf } from "../bind/bound.ts"
import {
  type AuthForm,
  authText,
  refusalTexts,
  tokenRules,
  tokenScheme,
  tokenTexts,
} from "../credential-text.ts"
import { lowerClaimRules, lowerList, lowerSaid, lowerSource } from "../lower/caller-token.ts"
import type { StepContext } from "../lower/step.ts"
import { countText } from "../print.ts"
import { callerTokenRows, claimRule } from "../schema/caller-token.ts"
import { many, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

/** `auth introspection NAME { … }`. `jwt` has all fields of the endpoint's response. */
export const authIntrospection: AuthForm = {
  form: {
    args: [word("introspection"), slot("introspection", "reference", { to: ["introspection"] })],
    block: "auth introspection",
  },
  ways: () => [{ kind: "jwt", by: "introspection", claims: "any" }],
  lower: lowerIntrospection,
}

/** The statements in the block of `auth introspection`. */
export const authIntrospectionRows: readonly StatementRow[] = [
  claimRule,
  ...callerTokenRows,
  {
    keyword: "audience",
    several: true,
    forms: [{ args: [many(slot("audience", "data"), 100)] }],
    byDefault: "any audience",
    docs: "Audiences: a token must have one of them.",
    example: "audience orders-api",
  },
]

/** Introspection has no declared claims, so a rule may name any claim. */
function lowerIntrospection(bound: BoundStatement, context: StepContext): StepOf<"introspect"> | undefined {
  const introspection = bound.args.word("introspection")?.text
  const { block } = bound
  const claims = lowerClaimRules(block, ["any"], context)
  const from = lowerSource(block, context)
  const said = lowerSaid(block, context)
  const audiences = lowerList(statementsOf(block, "audience"), "audience", context)
  if (introspection === undefined || from === undefined || said === undefined) return undefined
  if (claims === undefined || audiences === "broken") return undefined
  return {
    kind: "introspect",
    introspection,
    from,
    claims,
    ...(audiences === undefined ? {} : { audiences }),
    ...said,
  }
}

/** Printing and comparison of a step that checks a token at an introspection endpoint. */
export const introspect: StepText<"introspect"> = {
  print: (step, printing) =>
    authText(
      printing,
      `introspection ${step.introspection}`,
      tokenTexts(step, printing),
      refusalTexts(step, printing),
    ),
  identities: () => ["auth"],
  added: ({ introspection, status }) =>
    closes(
      `requests without a token that \`${introspection}\` reports as active now get ${countText(status)}`,
    ),
  removed: ({ introspection }) =>
    opens(`requests without a token that \`${introspection}\` reports as active are now let through`),
  changed: {
    ...tokenRules,
    introspection: () => opens("another service decides which tokens are valid"),
  } satisfies FieldRules<Fields<"introspect">>,
  way: {
    credential: ({ introspection }) => `a token that \`${introspection}\` reports as active`,
    ways: (step) => [step],
    schemes: ({ introspection, from }) => [[`token_${introspection}`, tokenScheme(from)]],
  },
}
