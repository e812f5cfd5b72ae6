import type { TupleKey } from "../../check/ports.ts"
import { ExpressionError } from "../../expression/expression-error.ts"
import { type Problem, problem, Refused } from "../messages/answer.ts"
import type { Policy } from "../policy.ts"
import { idText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** Pauses before each retry, in milliseconds. */
const pausesMs = [50, 250]

/**
 * Writes or deletes a tuple after a successful response of the backend. The response waits for the write, so that a client which continues at once
 * already has the permission. When the write fails, the client gets a 502 that says the backend has carried out the request: only the caller knows whether the
 * request may be repeated.
 */
export const grant: Policy<"grant"> = (plan, provision) => {
  const { store, action, relation } = plan
  const statement = action === "write" ? "grant" : "revoke"
  const reason = action === "write" ? "GrantFailed" : "RevokeFailed"
  const authorizer = provision.authorizer()
  const { clock } = provision
  const log = provision.relationLog()
  const user = compileText(plan.user, provision, idText)
  const object = compileText(plan.object, provision, idText)
  return async (exchange) => {
    const { response } = exchange
    if (response === undefined || response.status < 200 || response.status > 299) return undefined
    let tuple: TupleKey
    const told = { requestId: exchange.id, store, statement } as const
    const failed = (failure: string, named?: TupleKey): Problem => {
      log.changed({ ...told, tuple: named, failure })
      const words = named === undefined ? "" : ` of \`${named.user} ${named.relation} ${named.object}\``
      const cause = `the backend responded with ${response.status}, but then the relation could not be changed: ${statement}${words}: ${failure}`
      return problem("permissions-unchanged", { reason, cause })
    }
    try {
      tuple = { user: user.of(exchange), relation, object: object.of(exchange) }
    } catch (error) {
      if (error instanceof ExpressionError || error instanceof Refused)
        return failed(`the user or the object of the tuple is unknown: ${error.message}`)
      throw error
    }
    let last: unknown
    for (const pauseMs of [...pausesMs, undefined]) {
      try {
        await authorizer.change(store, action, tuple)
        log.changed({ ...told, tuple, failure: undefined })
        return undefined
      } catch (error) {
        last = error
      }
      if (pauseMs !== undefined) await new Promise<void>((resolve) => clock.after(pauseMs, resolve))
    }
    return failed(last instanceof Error ? last.message : String(last), tuple)
  }
}
