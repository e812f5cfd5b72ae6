import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { ErrorFormat } from "../exchange/problem.ts"
import type { Matchable } from "./route-tree.ts"
import type { HostMatch } from "./routes.ts"

/** The response when no route matches. Azure API Management knows operations, not paths: a method that the path does not have is 404 there. */
export function unmatched(
  match: Exclude<HostMatch<Matchable>, { readonly kind: "found" }>,
  format: ErrorFormat,
): Problem {
  if (match.kind === "method" && format === "problem")
    return problem("method-not-allowed", { headers: ["allow", match.allow] })
  if (match.kind === "method")
    return problem("not-found", {
      reason: "OperationNotFound",
      cause: `the path supports only ${match.allow}`,
    })
  if (match.kind === "unread") return problem("invalid-path", { cause: match.cause })
  if (match.kind === "none") return problem("not-found", { reason: "OperationNotFound" })
  return problem("invalid-path", {
    cause: `the path can be divided into the parameters of \`${match.route.path}\` in more than one way`,
  })
}
