import type { EngineLogPlan } from "../../runtime/plan/authz.ts"
import { closes, compareFields, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { durationWords } from "../analysis/words.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** What an engine without `log` writes. */
const silent: EngineLogPlan = {
  requests: false,
  decisions: null,
  users: "types",
  slowMs: null,
  slowSteps: null,
}

/** The lines of the engine. Who reads the log sees objects, and users where the plan says so. */
export function engineLogChanges(
  before: EngineLogPlan | undefined,
  after: EngineLogPlan | undefined,
): UnplacedChange[] {
  if (same(before, after)) return []
  const action = before === undefined ? "added" : after === undefined ? "removed" : "changed"
  const about = {
    action,
    subject: { kind: "authz", name: "log" },
    scope: { kind: "authz", name: "" },
    path: "authz.log",
    ...(before === undefined ? {} : { before: logWords(before) }),
    ...(after === undefined ? {} : { after: logWords(after) }),
  } as const
  const found = compareFields(rules, before ?? silent, after ?? silent)
  return [changeOf(about, found.length === 0 ? neutral("the log stays as it is") : found)]
}

const rules: FieldRules<EngineLogPlan> = {
  requests: (_, after) =>
    neutral(
      after ? "each request to the engine has a line in the log" : "requests to the engine have no lines",
    ),
  decisions: (before, after) => {
    if (after === null) return closes("the log no longer contains decisions and their objects")
    if (before === null) return opens("the log contains decisions: who reads it sees objects and relations")
    return neutral(`${after}% of the decisions have a line instead of ${before}%`)
  },
  users: (before, after) => usersChange(before, after),
  slowMs: (_, after) => neutral(`questions from ${durationWords(after ?? 1000)} on have a line`),
  slowSteps: (_, after) =>
    neutral(
      after === null
        ? "the work on a question brings no line"
        : `questions from ${after} steps on have a line`,
    ),
}

function usersChange(before: EngineLogPlan["users"], after: EngineLogPlan["users"]): Finding {
  if (after === "plain") return opens("the log names the users of decisions")
  if (after === "types") return closes("the log has only the types of users")
  return before === "plain"
    ? closes("the log names users by a hash")
    : opens("the log names users by a hash, so lines about one user can be joined")
}

function logWords({ requests, decisions, users, slowMs, slowSteps }: EngineLogPlan): string {
  const words = [
    requests && "requests",
    decisions !== null && (decisions === 100 ? "decisions" : `decisions ${decisions}%`),
    users === "plain" && "users plain",
    typeof users === "object" && `users hashed by ${users.secret}`,
    slowMs !== null && `slow ${durationWords(slowMs)}`,
    slowSteps !== null && `slow-steps ${slowSteps}`,
  ]
  return `log { ${words.filter((each) => each !== false).join("; ")} }`
}
