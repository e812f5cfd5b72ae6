import { breaking, closes, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { changedStoreOf } from "../lower/decider.ts"
import { lowerQuestion } from "../lower/question.ts"
import { statement } from "../print.ts"
import { storeText } from "../question-text.ts"
import { inStore } from "../schema/relations.ts"
import { slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/** `grant RELATION of "…" to "…"` */
export const grantStatement: StatementDefinition = changing("grant", "to", "write")

/** `revoke RELATION of "…" from "…"` */
export const revokeStatement: StatementDefinition = changing("revoke", "from", "delete")

/** `grant` and `revoke` differ only in two words and the direction. */
function changing(
  keyword: "grant" | "revoke",
  joint: "to" | "from",
  action: "write" | "delete",
): StatementDefinition {
  return {
    row: {
      keyword,
      several: true,
      forms: [
        {
          args: [
            slot("relation", "relation"),
            word("of"),
            slot("object", "text"),
            word(joint),
            slot("user", "text"),
            inStore,
          ],
        },
      ],
      docs:
        action === "write"
          ? "Writes a tuple after a 2xx response of the backend and before that response is sent. A tuple that exists already is not an error. If the tuple cannot be written, the caller gets 502 `permissions-unchanged`, which says that the backend has carried out the request."
          : "Deletes a tuple after a 2xx response of the backend and before that response is sent. A tuple that does not exist is not an error. If the tuple cannot be deleted, the caller gets 502 `permissions-unchanged`, which says that the backend has carried out the request.",
      example: `${keyword} owner of "order:\${response.body.id}" ${joint} "user:\${jwt.sub}"`,
    },
    lower: (bound, context) => {
      const changed = bound.broken ? undefined : changedStoreOf(bound, context)
      const tuple = lowerQuestion(bound, bound.args.word("relation"), context, changed ?? null)
      if (tuple === undefined || changed === undefined) return undefined
      const { relation, object, user } = tuple
      const step = { kind: "grant" as const, action, ...changed, relation, object, user }
      return context.steps.add(step, headSpan(bound.statement))
    },
  }
}

/** Printing and comparison of a step that writes or deletes a tuple. */
export const grant: StepText<"grant"> = {
  print: ({ action, relation, object, user, store }, printing) => {
    const [keyword, joint] = action === "write" ? ["grant", "to"] : ["revoke", "from"]
    return statement(
      `${keyword} ${relation} of ${textWords(object)} ${joint} ${textWords(user)}${storeText(store, printing)}`,
    )
  },
  identities: ({ action, relation }) => [`${action} ${relation}`, action],
  added: ({ action, relation }) =>
    action === "write"
      ? opens(`a request with a 2xx response of the backend grants \`${relation}\` to a user`)
      : closes(`after a 2xx response of the backend, a user loses \`${relation}\``),
  removed: ({ action, relation }) =>
    action === "write"
      ? breaking(`this no longer grants \`${relation}\``)
      : opens(`users no longer lose \`${relation}\` after a 2xx response of the backend`),
  changed: {
    action: (_, after) =>
      opens(after === "write" ? "relations are written, not deleted" : "relations are deleted, not written"),
    store: (before, after) => opens(`the tuple is in the store \`${after}\` instead of \`${before}\``),
    relation: (before, after) => opens(`the relation is \`${after}\` instead of \`${before}\``),
    object: () => opens("the tuple has another object"),
    user: () => opens("the tuple has another user"),
  },
}
