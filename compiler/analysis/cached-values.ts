import type { StepOf } from "../../runtime/plan/steps.ts"
import { type FieldRules, neutral, opens } from "./finding.ts"
import { callersDecide } from "./text-findings.ts"

/** What a difference means in the fields of steps that read a value of the cache. */
export const cachedValueRules: FieldRules<Omit<StepOf<"cache-get">, "kind">> = {
  // Callers that meet at a key share what is kept under it.
  key: (before, after) => {
    const shared = typeof before !== "string" && typeof after === "string"
    return [
      shared
        ? opens("requests for which the key differed share one value")
        : neutral("a value of another key is meant"),
      ...callersDecide(before, after),
    ]
  },
  variable: (before, after) => neutral(`the value is in \`${after}\`, not in \`${before}\``),
  default: (_, after) =>
    neutral(
      after === undefined
        ? "without a value the variable is null"
        : "without a value the variable is another",
    ),
}
