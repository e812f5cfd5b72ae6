import type { StepOf } from "../plan/steps.ts"
import { type FieldForm, formValue, multipartValue } from "../validation/body-value.ts"
import { keysProblem } from "../validation/json-text.ts"
import { fitOf, type MediaType, mediaTypeOf } from "../validation/media-type.ts"
import type { Validator } from "../validation/schema-set.ts"
import { textShape } from "../validation/shape.ts"
import { valueOfText } from "../validation/text-value.ts"
import type { Violation } from "../validation/violation.ts"
import { Refused } from "./answer.ts"
import { describedFor } from "./by-status.ts"
import { charsetProblem } from "./charset.ts"
import type { Exchange, MessageBody } from "./exchange.ts"
import { messageOf } from "./message.ts"
import type { Policy } from "./policy.ts"
import { type ViolatedRule, Violations } from "./violations.ts"
import { readXml, XmlProblem } from "./xml-reading.ts"

type Plan = StepOf<"validate-content">

interface Rule {
  readonly range: MediaType
  readonly status: string | undefined
  readonly as: Plan["types"][number]["as"]
  readonly action: Plan["types"][number]["action"]
  readonly validator: Validator | undefined
  readonly fields: readonly FieldForm[]
}

/** Judges a body: that it is there, its size, its media type, and what it holds. */
export const validateContent: Policy<"validate-content"> = (plan, provision) => {
  const message = messageOf(plan.message)
  provision.need(message.needs)
  const log = provision.traceLog()
  const rules = plan.types.map(({ media, status, as, schema, fields = [], action }): Rule => {
    const range = mediaTypeOf(media)
    if (range === undefined) throw new Error(`\`${media}\` is no media type`)
    return {
      range,
      status,
      as,
      action,
      fields,
      validator: schema === undefined ? undefined : provision.schema(schema),
    }
  })
  return (exchange) => {
    const violations = new Violations(plan.kind, log)
    const body = message.body(exchange)
    const headers = message.headers(exchange)
    const written = headers.get("content-type")
    const add = (action: Rule["action"], text: string, rule: ViolatedRule): void =>
      violations.add(action, { in: "body", pointer: "", message: text }, rule, nameOf(rule, written))
    if (!body.present) {
      if (plan.onMissing !== undefined) add(plan.onMissing, "is required", "IncorrectMessage")
    } else if (body.content.length > plan.bytesMax)
      add(plan.onSize, `has more than ${plan.bytesMax} bytes`, "SizeLimit")
    else if (headers.count("content-type") > 1)
      add(plan.onUnspecified, "has more than one Content-Type", "Unspecified")
    else {
      const known = rulesFor(rules, plan.message === "response" ? exchange.response?.status : undefined)
      const rule = bestOf(known, written)
      if (rule !== undefined) judge(rule, body, written ?? "", violations)
      else if (known.length > 0 || rules.length === 0 || plan.message === "request")
        add(
          plan.onUnspecified,
          written === undefined ? "has no Content-Type" : "has a Content-Type that is not expected",
          "Unspecified",
        )
    }
    return settle(violations, exchange, plan)
  }
}

function settle(violations: Violations, exchange: Exchange, plan: Plan): ReturnType<Violations["settle"]> {
  return violations.settle(exchange, plan.message, plan.errors)
}

/** The rules for a status: those that name it, else its class, else the default; rules without status are for any. */
function rulesFor(rules: readonly Rule[], status: number | undefined): readonly Rule[] {
  const any = rules.filter((rule) => rule.status === undefined)
  if (status === undefined || any.length === rules.length) return any
  return [...describedFor(rules, status), ...any]
}

function bestOf(rules: readonly Rule[], written: string | undefined): Rule | undefined {
  const type = written === undefined ? undefined : mediaTypeOf(written)
  if (type === undefined) return undefined
  let best: Rule | undefined
  let bestFit = 0
  for (const rule of rules) {
    const fit = fitOf(rule.range, type)
    if (fit > bestFit) {
      best = rule
      bestFit = fit
    }
  }
  return best
}

function judge(rule: Rule, body: MessageBody, contentType: string, violations: Violations): void {
  const { action, validator } = rule
  if (action === "ignore") return
  const add = (pointer: string, message: string): void =>
    violations.add(action, { in: "body", pointer, message }, "IncorrectMessage", contentType)
  const read = charsetProblem(rule.as, body.content, contentType) ?? valueOfBody(rule, body, contentType)
  if ("problem" in read) {
    add("", read.problem)
    return
  }
  for (const { pointer, message } of read.violations ?? []) add(pointer, message)
  if (validator !== undefined && "value" in read)
    for (const { pointer, message } of validator.validate(read.value)) add(pointer, message)
}

/** Violations of the size are about no media type. */
function nameOf(rule: ViolatedRule, written: string | undefined): string {
  return rule === "SizeLimit" ? "" : (written ?? "")
}

type Read =
  | { readonly value?: unknown; readonly violations?: readonly Violation[] }
  | { readonly problem: string }

/** What the schema judges; nothing where the body is only looked at for its form. */
function valueOfBody({ as, validator, fields }: Rule, body: MessageBody, contentType: string): Read {
  const shape = validator?.shape ?? textShape
  switch (as) {
    case "json":
      return jsonOf(body)
    case "xml":
      try {
        readXml(body.text())
        return {}
      } catch (error) {
        if (error instanceof XmlProblem) return { problem: `is not well-formed XML: it ${error.message}` }
        throw error
      }
    case "form":
      return formValue(body.text(), shape, fields)
    case "multipart":
      return multipartValue(body.content, contentType, shape, fields)
    case "text":
      return { value: valueOfText(body.text(), shape) }
    case "any":
      return {}
  }
}

function jsonOf(body: MessageBody): Read {
  try {
    const value = body.json()
    const problem = keysProblem(body.text())
    return problem === undefined ? { value } : { problem }
  } catch (error) {
    if (error instanceof Refused) return { problem: "is not JSON" }
    throw error
  }
}
