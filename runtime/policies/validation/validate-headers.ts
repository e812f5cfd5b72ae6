import type { StepOf } from "../../plan/steps.ts"
import { headerValue, type ParameterForm } from "../../validation/parameter-value.ts"
import type { Validator } from "../../validation/schema-set.ts"
import type { ProblemDetail } from "../messages/answer.ts"
import { fieldText, type HeaderList } from "../messages/header-list.ts"
import type { Policy } from "../policy.ts"
import { describedFor } from "./by-status.ts"
import { unknownNames } from "./unknown-names.ts"
import { Violations } from "./violations.ts"

type RulePlan = NonNullable<StepOf<"validate-headers">["described"]>[number]["headers"][number]

interface Rule extends ParameterForm, Pick<RulePlan, "required" | "action"> {
  readonly validator: Validator | undefined
}

/** Fields that every response may have, even when the API does not describe them. */
const everywhere: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "date",
  "server",
  "via",
  "vary",
  "cache-control",
  "age",
  "etag",
  "last-modified",
])

/** Validates the header fields of the response: required ones must be present, described ones must fit; other fields are `unspecified`. */
export const validateHeaders: Policy<"validate-headers"> = (plan, provision) => {
  const log = provision.traceLog()
  const listed = plan.headers.map(({ name }) => name)
  const others = unknownNames(plan.named ?? [], plan.unspecified)
  const described = (plan.described ?? []).map(({ status, headers }) => ({
    status,
    rules: headers.map((rule): Rule => {
      const validator = rule.schema === undefined ? undefined : provision.schema(rule.schema)
      return { ...rule, validator }
    }),
  }))
  return (exchange) => {
    const { response } = exchange
    if (response === undefined) throw new Error("response headers are checked before there is a response")
    const violations = new Violations(plan.kind, log)
    for (const { name, required, action } of plan.headers) {
      if (required && response.headers.get(name) === undefined)
        violations.add(action, missing(name), "IncorrectMessage", name)
    }
    const rules = describedFor(described, response.status).flatMap((each) => each.rules)
    for (const rule of rules) judge(rule, response.headers, violations)
    const known = new Set([...listed, ...rules.map(({ name }) => name)])
    for (const { name, action } of others(() => unlistedOf(response.headers, known)))
      violations.add(action, unexpected(name), "Unspecified", name)
    return violations.settle(exchange, "response", plan.errors)
  }
}

/** Judges the lines of one header. */
function judge(rule: Rule, headers: HeaderList, violations: Violations): void {
  const { name, required, action, validator } = rule
  if (action === "ignore") return
  const add = (message: string, inside = ""): void =>
    violations.add(action, { in: "header", pointer: `${name}${inside}`, message }, "IncorrectMessage", name)
  const lines = linesOf(headers, name)
  if (lines.length === 0) {
    if (required) violations.add(action, missing(name), "IncorrectMessage", name)
    return
  }
  // Cookies are not one list (RFC 6265 §3): each is a separate value.
  for (const texts of name === "set-cookie" ? lines.map((line) => [line]) : [lines]) {
    if (validator === undefined) continue
    const read = headerValue(rule, validator.shape, texts)
    if (read === undefined) continue
    if ("problem" in read) add(read.problem)
    else for (const { pointer, message } of validator.validate(read.value)) add(message, pointer)
  }
}

function missing(name: string): ProblemDetail {
  return { in: "header", pointer: name, message: "is required and missing" }
}

function unexpected(name: string): ProblemDetail {
  return { in: "header", pointer: name, message: "is not described for this API" }
}

function linesOf({ flat }: HeaderList, name: string): string[] {
  const lines: string[] = []
  for (let at = 0; at < flat.length; at += 2)
    if (flat[at] === name) lines.push(fieldText(flat[at + 1] as string))
  return lines
}

function unlistedOf({ flat }: HeaderList, known: ReadonlySet<string>): string[] {
  const names = flat.filter((_, at) => at % 2 === 0) as string[]
  return names.filter((name) => !known.has(name) && !everywhere.has(name))
}
