import type { LoginStep } from "../../oidc/oidc-client.ts"
import { type Answer, problem } from "./answer.ts"

/** The response to a step of a login, with its cookies. `cause`: why there is a login, for the log. */
export function loginAnswer(step: LoginStep, cause?: string): Answer {
  const lines = step.cookies.flatMap((line) => ["set-cookie", line])
  if (step.kind === "failed") {
    const isLater = step.fault === "issuer-unavailable" || step.fault === "sessions-unavailable"
    return problem(step.fault, {
      headers: isLater ? [...lines, "retry-after", "1"] : lines,
      presented: true,
      cause: step.cause,
    })
  }
  return {
    kind: "answer",
    status: 302,
    headers: ["location", step.location, "cache-control", "no-store", ...lines],
    body: undefined,
    cause,
    refuses: true,
  }
}
