import type { MovedTuples } from "../../runtime/control/api.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Remote } from "./remote.ts"

/** How many tuples the moves write and delete that a plan begins, a line each; empty when it begins none in a running store. */
export async function begunMovesText(
  remote: Remote,
  before: PlanBody | undefined,
  after: PlanBody,
): Promise<string> {
  const lines: string[] = []
  for (const [store, { moves = [] }] of Object.entries(after.authz?.stores ?? {})) {
    const old = before?.authz?.stores[store]
    const known = new Set(old?.moves?.map(canonicalJson))
    const begun = moves.filter((move) => !known.has(canonicalJson(move)))
    if (old === undefined || begun.length === 0) continue
    const answer = await remote.request("POST", "/v1/moves/count", { store, moves: begun })
    // A running Sallyport of an older version cannot count, and a preview is no reason to fail.
    const counts = answer.status === 200 ? (answer.body as MovedTuples).tuples : []
    for (const [at, { from, to, users }] of begun.entries()) {
      const count = counts[at]?.toLocaleString("en-US")
      const who = users === undefined ? "" : ` for ${users.join(", ")}`
      const work =
        count === undefined
          ? "its tuples could not be counted"
          : `copies ${count} tuples after \`apply\`; \`sallyport model finish\` deletes the ${count} old ones`
      lines.push(`  store ${store}, ${from} to ${to}${who}: ${work}\n`)
    }
  }
  return lines.length === 0 ? "" : `\nMoves of tuples\n${lines.join("")}`
}
