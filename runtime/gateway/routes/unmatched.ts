import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { ErrorFormat } from "../exchange/problem.ts"
import type { Matchable } from "./route-tree.ts"
import type { HostMatch } from "./routes.ts"

/** What is answered where no route serves a request. Azure API Management knows operations and no paths: there a method that a path does not have is 404. */
export function unmatched(
  match: Exclude<HostMatch<Matchable>, { readonly kind: "found" }>,
  format: ErrorFormat,
): Problem {
  if (match.kind === "method" && format === "problem")
    return problem("method-not-allowed", { headers: ["allow", match.allow] })
  if (match.kind === "method")
    return problem("not-found", { reason: "OperationNotFound", cause: `the path has ${match.allow} only` })
  if (match.kind === "unread") return problem("invalid-path", { cause: match.cause })
  if (match.kind === "none") return problem("not-found", { reason: "OperationNotFound" })
  return problem("invalid-path", {
    cause: `the parameters of \`${match.route.path}\` are ambiguous`,
  })
}
