import type { AccessCause } from "../../runtime/check/access-change.ts"
import { changes, counted, nouns, number, signs } from "./people-words.ts"

/** Causes that are named; JSON has more. */
const causesMax = 5

/** `members of group:eng (212)`, or `users with viewer on folder:1 (12)`. */
export function groupText({ set, users }: { readonly set: string; readonly users: number }): string {
  const [object = "", relation = ""] = set.split("#")
  const who = relation === "member" ? `members of ${object}` : `users with ${relation} on ${object}`
  return `${who} (${number(users)})`
}

/** The tuples from which most of the changes come: a title and a line for each cause; no line without a cause. */
export function causeLines(causes: readonly AccessCause[]): string[] {
  if (causes.length === 0) return []
  return ["largest causes", ...causes.slice(0, causesMax).map((cause) => `  ${causeText(cause)}`)]
}

/** `group:17#member editor folder:3 (412 users): + 3,757,440 gains on 9,120 objects`. */
function causeText(cause: AccessCause): string {
  const { subject, reads, relation, object, tuples, objects } = cause
  const counts = changes.flatMap((change) => {
    const count = cause.changes[change]
    return count === 0 ? [] : [`${signs[change]} ${counted(count, ...nouns[change])}`]
  })
  const more = tuples > 1 ? ` and ${counted(tuples - 1, "more object", "more objects")}` : ""
  const tuple = relation === null ? `${reads} on ${object}` : `${subject} ${relation} ${object}${more}`
  const sum = counts.length === 0 ? "a change" : counts.join(", ")
  return `${tuple}${whoText(cause)}: ${sum} on ${counted(objects, "object")}`
}

function whoText({ subject, reads, relation, users, everyone }: AccessCause): string {
  const all = everyone.map((type) => `everybody (${type}:*)`)
  const isSet = reads !== null || subject.includes("#")
  const named = isSet && users > 0 ? [counted(users, "user")] : []
  const through = reads === null || relation === null ? "" : ` with ${reads} on ${subject}`
  const who = [...all, ...named].join(" and ")
  return who === "" ? "" : ` (${who}${through})`
}
