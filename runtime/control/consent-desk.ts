import type { FastifyInstance } from "fastify"
import { digestOf } from "../plan/canonical.ts"
import { type ChangeClass, type ConsentRule, consentRuleText } from "../plan/change-rules.ts"
import { listConsents, putConsent, removeConsent } from "../store/consents.ts"
import { type ConsentsAnswer, consentRequest, readConsent } from "./api.ts"
import { bodyOf } from "./body.ts"
import { rulesOf } from "./change-gate.ts"
import { consentOf, idleClasses } from "./consent.ts"
import { type Operator, operatorOf } from "./operators.ts"
import { consentBase, isBase, sendStale } from "./plan-base.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"

/**
 * `GET|POST /v1/consents`: consents to plans that could replace the running one. A consent is to one plan, by its digest, over one running plan, so it
 * is void when another plan was applied.
 */
export function addConsentRoutes(app: FastifyInstance, ports: ControlPorts): void {
  app.get("/v1/consents", async (): Promise<ConsentsAnswer> => {
    const stored = await listConsents(ports.consents.database, consentBase((await ports.current())?.record))
    return {
      consents: stored.flatMap(({ digest, consent: text }) => {
        const consent = readConsent(text)
        return consent === undefined ? [] : [{ digest, consent }]
      }),
    }
  })
  app.post("/v1/consents", async (request, reply) => {
    const body = bodyOf(consentRequest, request.body, reply)
    if (body === undefined) return reply
    const running = await ports.current()
    const base = body.base === null ? null : { serial: body.base, stamp: body.baseStamp }
    if (!isBase(base, running?.record)) return sendStale(reply, base, running?.record ?? null)
    const operator = operatorOf(request.raw)
    const consent = consentOf(operator, body.allow, body.message)
    const rules = running === undefined ? [] : (rulesOf(running.plan).consents ?? [])
    const [idle] = idleClasses(rules, consent)
    if (idle !== undefined) {
      const own = rules.filter((rule) => rule.class === idle)
      return sendProblem(reply, "forbidden", whyIdle(operator, idle, own))
    }
    const stored = { digest: body.digest, identity: identityOf(operator), consent: JSON.stringify(consent) }
    const [{ database }, place] = [ports.consents, consentBase(running?.record)]
    await (consent.allow.length === 0
      ? removeConsent(database, place, stored)
      : putConsent(database, place, stored))
    ports.notify({ type: "plan.consented", data: { digest: body.digest, consent } })
    return { digest: body.digest, consent }
  })
}

/** One consent of each operator to a plan. */
function identityOf({ kind, issuer, name }: Operator): string {
  return digestOf({ kind, issuer, name })
}

/** Why the consent of an operator to a class would not count. `rules`: those of the class. */
function whyIdle({ name, kind }: Operator, idle: ChangeClass, rules: readonly ConsentRule[]): string {
  const asked = rules.map((rule) => `\`${consentRuleText(rule)}\``).join(" and ")
  const plan = asked === "" ? `has no rule for \`${idle}\`` : `has ${asked}`
  // Nobody knows who holds a token.
  const isToken = kind !== "person" && rules.some(({ another }) => another === true)
  const reason = isToken ? ", and this is a token: `by another` asks for a person, who signs in" : ""
  return `the consent of \`${name}\` would not count: the running plan ${plan}${reason}`
}
