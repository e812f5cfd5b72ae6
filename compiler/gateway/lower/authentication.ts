import type { Authentication } from "../../../runtime/plan/step-values.ts"
import type { BoundStatement } from "../bind/bound.ts"
import type { StepContext } from "./step.ts"

/** How a request authenticates the gateway; undefined when that is invalid (reported) or not specified. */
export function lowerAuthentication(
  bound: BoundStatement | undefined,
  { texts, place }: StepContext,
): Authentication | undefined {
  if (bound === undefined) return undefined
  const text = (slot: string) => {
    const argument = bound.args.text(slot)
    return argument === undefined ? undefined : texts.lower(argument, place, { secrets: true })
  }
  const certificate = bound.args.word("certificate")?.text
  if (certificate !== undefined) return { scheme: "certificate", certificate }
  const client = bound.args.word("client")?.text
  if (client !== undefined) return { scheme: "token", client }
  const token = text("token")
  if (token !== undefined) return { scheme: "bearer", token }
  const [user, password] = [text("user"), text("password")]
  return user === undefined || password === undefined ? undefined : { scheme: "basic", user, password }
}
