import { ExpressionError } from "../../expression/expression-error.ts"
import type { MediaMap } from "../../plan/content-rules.ts"
import type { StepOf } from "../../plan/steps.ts"
import { pointerInto, withoutCase } from "../../validation/any-case.ts"
import { type FieldForm, formValue, multipartValue } from "../../validation/body-value.ts"
import { fitOf, type MediaType, mediaTypeOf } from "../../validation/media-type.ts"
import type { Validator } from "../../validation/schema-set.ts"
import { textShape, valueOfText } from "../../validation/shape.ts"
import { type BodyResult, runBodyJob } from "../bodies/body-threads.ts"
import type { Exchange, MessageBody } from "../exchange.ts"
import { messageOf } from "../messages/message.ts"
import type { Policy, Provision } from "../policy.ts"
import { compileCount, compileTest, compileTextValue } from "../values/value.ts"
import { describedFor } from "./by-status.ts"
import { charsetProblem, jsonOf, type Read } from "./read-body.ts"
import { type Action, type ViolatedRule, Violations } from "./violations.ts"

type Plan = StepOf<"validate-content">

/** A rule for bodies of a range of media types. */
interface Rule {
  readonly range: MediaType
  readonly status: string | undefined
  readonly as: Plan["types"][number]["as"]
  readonly action: Plan["types"][number]["action"]
  readonly validator: Validator | undefined
  readonly anyCase: boolean
  readonly fields: readonly FieldForm[]
}

/** Validates a body: presence, size, media type and content. */
export const validateContent: Policy<"validate-content"> = (plan, provision) => {
  const message = messageOf(plan.message)
  provision.need(message.needs)
  const log = provision.traceLog()
  const rules = plan.types.map((each) => compileRule(each, provision))
  const countsAs = compileMediaMap(plan.mediaMap, provision)
  const bytesMax = compileCount(plan.bytesMax, provision)
  const onSize = compileAction(plan.onSize, provision)
  const onUnspecified = compileAction(plan.onUnspecified, provision)
  return (exchange) => {
    const violations =
      plan.message === "request"
        ? Violations.behindParameters(exchange, plan.kind, log)
        : new Violations(plan.kind, log)
    const body = message.body(exchange)
    const headers = message.headers(exchange)
    const written = headers.get("content-type")
    const add = (action: Rule["action"], text: string, rule: ViolatedRule): void =>
      violations.add(action, { in: "body", pointer: "", message: text }, rule, nameOf(rule, written))
    if (!body.present) {
      if (plan.onMissing !== undefined) add(plan.onMissing, "is required", "IncorrectMessage")
    } else if (body.content.length > bytesMax(exchange))
      add(onSize(exchange), `has more than ${bytesMax(exchange)} bytes`, "SizeLimit")
    else if (headers.count("content-type") > 1)
      add(onUnspecified(exchange), "has more than one Content-Type", "Unspecified")
    else {
      const known = rulesFor(rules, plan.message === "response" ? exchange.response?.status : undefined)
      const media = countsAs(exchange, written)
      const rule = bestOf(known, media)
      if (rule !== undefined) {
        const judged = { body, written: written ?? "", media: media ?? "" }
        const judging = judge(rule, judged, violations, exchange)
        if (judging !== undefined) return judging.then(() => settle(violations, exchange, plan))
      } else if (known.length > 0 || rules.length === 0 || plan.message === "request")
        add(
          onUnspecified(exchange),
          written === undefined ? "has no Content-Type" : "has a Content-Type that is not expected",
          "Unspecified",
        )
    }
    return settle(violations, exchange, plan)
  }
}

/** The media type that a body is validated as; `written` is its Content-Type. */
type CountsAs = (exchange: Exchange, written: string | undefined) => string | undefined

/** Compiles a rule; its schema is shared by all rules that name it. */
function compileRule(
  { media, status, as, schema, anyCase, fields = [], action }: Plan["types"][number],
  provision: Provision,
): Rule {
  const range = mediaTypeOf(media)
  if (range === undefined) throw new Error(`\`${media}\` is not a media type`)
  const validator = schema === undefined ? undefined : provision.schema(schema)
  return { range, status, as, action, anyCase: anyCase === true, fields, validator }
}

const actions: readonly Action[] = ["ignore", "detect", "prevent"]

/** An expression must yield one of the three words; any other value fails the call, so that nothing gets past. */
function compileAction(plan: Plan["onSize"], provision: Provision): (exchange: Exchange) => Action {
  if (typeof plan === "string") return () => plan
  const word = compileTextValue(plan.expression, provision)
  return (exchange) => {
    const said = word(exchange)
    const found = actions.find((action) => action === said)
    if (found === undefined) throw new ExpressionError("type", "the action is not ignore, detect or prevent")
    return found
  }
}

function settle(violations: Violations, exchange: Exchange, plan: Plan): ReturnType<Violations["settle"]> {
  return violations.settle(exchange, plan.message, plan.errors)
}

/** The rules for a status: those for the status, otherwise for its class, otherwise the default; rules without a status apply to all. */
function rulesFor(rules: readonly Rule[], status: number | undefined): readonly Rule[] {
  const any = rules.filter((rule) => rule.status === undefined)
  if (status === undefined || any.length === rules.length) return any
  return [...describedFor(rules, status), ...any]
}

/** The rule that fits a media type best, or none. */
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

/** A body, its Content-Type, and the media type it counts as. */
interface Judged {
  readonly body: MessageBody
  readonly written: string
  readonly media: string
}

/** Records violations; waits when another thread reads the body. */
function judge(
  rule: Rule,
  judged: Judged,
  violations: Violations,
  exchange: Exchange,
): Promise<void> | undefined {
  if (rule.action === "ignore") return undefined
  const { body, written } = judged
  const read = charsetProblem(rule.as, body.content, written) ?? valueOfBody(rule, judged, exchange)
  if (read instanceof Promise) return read.then((late) => judgeRead(rule, late, written, violations))
  judgeRead(rule, read, written, violations)
  return undefined
}

/** Judges what was read of a body. */
function judgeRead(
  { action, validator, anyCase }: Rule,
  read: Read,
  written: string,
  violations: Violations,
): void {
  const add = (pointer: string, message: string): void =>
    violations.add(action, { in: "body", pointer, message }, "IncorrectMessage", written)
  if ("problem" in read) {
    add("", read.problem)
    return
  }
  for (const { pointer, message } of read.violations ?? []) add(pointer, message)
  if (validator === undefined || !("value" in read)) return
  const named = anyCase ? withoutCase(read.value) : { value: read.value }
  if ("problem" in named) add("", named.problem)
  else
    for (const { pointer, message } of validator.validate(named.value))
      add(anyCase ? pointerInto(read.value, pointer) : pointer, message)
}

/** Violations of the size do not depend on the media type. */
function nameOf(rule: ViolatedRule, written: string | undefined): string {
  return rule === "SizeLimit" ? "" : (written ?? "")
}

/** The value to validate against the schema; undefined when only the syntax of the body is checked. */
function valueOfBody(
  { as, validator, fields }: Rule,
  { body, written, media }: Judged,
  exchange: Exchange,
): Read | Promise<Read> {
  const shape = validator?.shape ?? textShape
  switch (as) {
    case "json":
      return jsonOf(body)
    case "xml":
    case "soap":
      return formOfXml(as, body, media, exchange)
    case "form":
      return formValue(body.text(), shape, fields)
    case "multipart":
      return multipartValue(body.content, written, shape, fields)
    case "text":
      return { value: valueOfText(body.text(), shape) }
    case "any":
      return {}
  }
}

/** Whether XML is well-formed. Large bodies are read in another thread. */
function formOfXml(
  as: "xml" | "soap",
  body: MessageBody,
  media: string,
  exchange: Exchange,
): Read | Promise<Read> {
  const { length } = body.content
  const read =
    as === "xml"
      ? runBodyJob("read-xml", { text: body.text() }, length, exchange)
      : runBodyJob("read-soap", { text: body.text(), media: essenceOf(media) }, length, exchange)
  const readOf = ({ problem }: BodyResult): Read => (problem === undefined ? {} : { problem })
  return read instanceof Promise ? read.then(readOf) : readOf(read)
}

function essenceOf(media: string): string {
  const type = mediaTypeOf(media)
  return type === undefined ? "" : `${type.type}/${type.subtype}`
}

/**
 * The media type that a type counts as: the first matching rule decides, by type or condition; otherwise `missing` when there is no type or an empty
 * one, otherwise `any`. An invalid type that no rule names is an ordinary type: only a condition or `any` matches it.
 */
function compileMediaMap(plan: MediaMap | undefined, provision: Provision): CountsAs {
  if (plan === undefined) return (_, written) => written
  const rules = plan.rules.map((rule) => {
    if ("when" in rule) {
      const test = compileTest(rule.when, provision)
      return { to: rule.to, fits: (exchange: Exchange) => test(exchange) }
    }
    const range = mediaTypeOf(rule.from)
    if (range === undefined) throw new Error(`\`${rule.from}\` is not a media type`)
    return { to: rule.to, fits: (_: Exchange, type: MediaType | undefined) => isOf(range, type) }
  })
  return (exchange, written) => {
    const type = written === undefined ? undefined : mediaTypeOf(written)
    const found = rules.find(({ fits }) => fits(exchange, type))
    if (found !== undefined) return found.to
    const isMissing = written === undefined || written.trim() === ""
    return (isMissing ? plan.missing : undefined) ?? plan.any ?? written
  }
}

function isOf(range: MediaType, type: MediaType | undefined): boolean {
  return type !== undefined && fitOf(range, type) > 0
}
