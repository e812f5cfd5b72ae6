import { type Problem, problem } from "../policies/answer.ts"
import type { Match, Matchable } from "./routes.ts"

/** What is answered where no route serves a request. */
export function unmatched(match: Exclude<Match<Matchable>, { readonly kind: "found" }>): Problem {
  if (match.kind === "method") return problem("method-not-allowed", { headers: ["allow", match.allow] })
  if (match.kind === "none") return problem("not-found", { reason: "OperationNotFound" })
  return problem("invalid-path", {
    cause: `the parameters of \`${match.route.path}\` could have other values as well`,
  })
}
