import type { TokenKind } from "../../../runtime/plan/counting.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { lowerContent } from "../lower/content.ts"
import { secondsOf } from "../lower/count.ts"
import { headerUse, lowerAll, mayWrite, messageAt } from "../lower/header.ts"
import type { LowerStep } from "../lower/step.ts"
import { lowerAuthentication } from "./authenticate.ts"

/** `send NAME { … }` or `send and forget { … }` */
export const lowerSend: LowerStep = (bound, context) => {
  const { texts, place, steps, report } = context
  const { block } = bound
  const variable = bound.args.value<string>("variable")
  const text = (keyword: string, slot: string, secrets = false) => {
    const argument = statementOf(block, keyword)?.args.text(slot)
    return argument === undefined ? undefined : texts.lower(argument, place, { secrets })
  }
  const url = text("url", "url", true)
  const method = text("method", "method")
  const bodyAt = statementOf(block, "body")
  const content = bodyAt === undefined ? undefined : lowerContent(bodyAt, context)
  const headers: { name: string; action: "set"; values: Text[] }[] = []
  for (const each of statementsOf(block, "header")) {
    const name = each.args.value<string>("name")
    const nameAt = each.args.get("name")?.argument.span
    if (name === undefined || nameAt === undefined || !mayWrite(name, nameAt, "request", report))
      return undefined
    const values = lowerAll(each, "value", (argument) => texts.lower(argument, place, headerUse(true)))
    if (values === undefined) return undefined
    headers.push({ name, action: "set", values })
  }
  const authentication = lowerAuthentication(statementOf(block, "authenticate"), context)
  const timeoutAt = statementOf(block, "timeout")
  const timeoutSeconds = timeoutAt === undefined ? 60 : secondsOf(timeoutAt, context)
  const isWhole =
    url !== undefined &&
    mentions(block, "method") === (method !== undefined) &&
    mentions(block, "body") === (content !== undefined) &&
    mentions(block, "authenticate") === (authentication !== undefined)
  if (!isWhole || timeoutSeconds === undefined) return undefined
  const step = {
    kind: "send-request" as const,
    mode: mentions(block, "copy") ? ("copy" as const) : ("new" as const),
    url,
    ...(method === undefined ? {} : { method }),
    headers,
    media: content?.media ?? null,
    ...(content === undefined ? {} : { body: content.content }),
    ...(authentication === undefined ? {} : { authentication }),
    timeoutSeconds,
    ...(variable === undefined ? {} : { variable }),
    ignoreError: mentions(block, "ignore-error"),
    wait: variable !== undefined,
  }
  const lowered = steps.add(step, headSpan(bound.statement))
  return variable === undefined ? lowered : { ...lowered, declares: { [variable]: "dyn" } }
}

/** `trace "message" as error` */
export const lowerTrace: LowerStep = (bound, { texts, place, steps }) => {
  const argument = bound.args.text("message")
  const message = argument === undefined ? undefined : texts.lower(argument, place)
  if (message === undefined) return undefined
  const severity = bound.args.value<"verbose" | "information" | "error">("severity") ?? "information"
  const source = messageAt(place) === "request" ? "request" : "response"
  return steps.add({ kind: "trace", source, severity, message, metadata: [] }, headSpan(bound.statement))
}

/** `metric NAME (CEL) { label NAME "text" }`, `metric NAME tokens total { … }` */
export const lowerMetric: LowerStep = (bound, { texts, expressions, place, steps }) => {
  const name = bound.args.value<string>("variable")
  const cel = bound.args.cel("amount")
  const expression = cel === undefined ? undefined : expressions.lower(cel, place)
  if (name === undefined || (cel !== undefined && expression === undefined)) return undefined
  const labels: { name: string; value: Text }[] = []
  for (const each of statementsOf(bound.block, "label")) {
    const label = each.args.value<string>("variable")
    const argument = each.args.text("value")
    const value = argument === undefined ? undefined : texts.lower(argument, place)
    if (label === undefined || value === undefined) return undefined
    labels.push({ name: label, value })
  }
  const tokens = bound.args.value<TokenKind>("tokens")
  const value = tokens !== undefined ? { tokens } : expression === undefined ? 1 : { expression }
  return steps.add({ kind: "metric", name, value, labels }, headSpan(bound.statement))
}
