import { cookieValues } from "../../http/cookies.ts"
import type { StepOf } from "../../plan/steps.ts"
import { type Pair, pairsOf } from "../../validation/pairs.ts"
import {
  belongsTo,
  cookieValue,
  headerValue,
  type ParameterForm,
  type ParameterValue,
  queryValue,
  takesOthers,
  textParameter,
} from "../../validation/parameter-value.ts"
import type { Validator } from "../../validation/schema-set.ts"
import { type SchemaShape, textShape } from "../../validation/shape.ts"
import type { Exchange } from "../exchange.ts"
import type { ProblemDetail } from "../messages/answer.ts"
import { fieldText } from "../messages/header-list.ts"
import type { Policy } from "../policy.ts"
import { type Unknown, unknownNames } from "./unknown-names.ts"
import { Violations } from "./violations.ts"

type RulePlan = StepOf<"validate-parameters">["parameters"][number]

type Unspecified = StepOf<"validate-parameters">["unspecified"]

interface Rule extends ParameterForm, Pick<RulePlan, "in" | "required" | "action" | "allowEmpty"> {
  readonly validator: Validator | undefined
  readonly shape: SchemaShape
}

/** Fields that clients and proxies send on their own (RFC 9110, Fetch, trace context) and that APIs do not describe. */
const ordinary =
  /^(?:accept|accept-.*|access-control-.*|authorization|cache-control|connection|content-.*|cookie|date|dnt|expect|forwarded|from|host|if-.*|max-forwards|origin|pragma|priority|prefer|proxy-.*|range|referer|sec-.*|te|trace(?:parent|state)|trailer|transfer-encoding|upgrade|upgrade-insecure-requests|user-agent|via|x-forwarded-.*|x-real-ip|x-request-id)$/

/** Validates the parameters of a request: path, query, headers and cookies. */
export const validateParameters: Policy<"validate-parameters"> = (plan, provision) => {
  const rules = plan.parameters.map((rule): Rule => {
    const validator = rule.schema === undefined ? undefined : provision.schema(rule.schema)
    return { ...rule, validator, shape: validator?.shape ?? textShape }
  })
  const { unspecified, errors, withBody } = plan
  const others = { query: othersOf(unspecified, "query"), header: othersOf(unspecified, "header") }
  const log = provision.traceLog()
  return (exchange) => {
    const violations = new Violations(plan.kind, log)
    const pairs = pairsOf(exchange.query.text)
    for (const rule of rules) {
      if (rule.action === "ignore") continue
      for (const read of readingsOf(exchange, rule, pairs, rules)) judge(rule, read, violations)
    }
    for (const { name, action } of others.query(() => unknownPairs(pairs, rules)))
      violations.add(action, unexpected("query", name), "Unspecified", name)
    for (const { name, action } of others.header(() => unknownHeaders(exchange, rules)))
      violations.add(action, unexpected("header", name), "Unspecified", name)
    return withBody === true
      ? violations.settleWithBody(exchange, errors)
      : violations.settle(exchange, "request", errors)
  }
}

function othersOf({ named = [], ...byDefault }: Unspecified, place: "query" | "header"): Unknown {
  return unknownNames(
    named.filter((each) => each.in === place),
    byDefault[place],
  )
}

/** The values of a parameter. Several lines of a header that is not a list are one value for some readers and several for others: each reading must fit. */
function readingsOf(
  exchange: Exchange,
  rule: Rule,
  pairs: readonly Pair[],
  rules: readonly Rule[],
): ParameterValue[] {
  const { name, shape } = rule
  if (rule.in === "query")
    return isGivenEmpty(rule, pairs) ? [] : [queryValue(rule, shape, pairsFor(rule, pairs, rules))]
  if (rule.in === "path") return [textParameter(rule, shape, exchange.parameters[name] ?? "")]
  if (rule.in === "cookie")
    return [
      cookieValue(
        rule,
        shape,
        linesOf(exchange, "cookie").flatMap((line) => cookieValues(line, name)),
      ),
    ]
  const lines = linesOf(exchange, name.toLowerCase())
  if (lines.length === 0) return [undefined]
  const whole = headerValue(rule, shape, lines)
  return lines.length === 1 || shape.types.has("array") || shape.types.has("object")
    ? [whole]
    : [whole, ...lines.map((line) => headerValue(rule, shape, [line]))]
}

/** `?name` or `?name=`, when the document allows it: the parameter is present, and no schema applies. */
function isGivenEmpty({ allowEmpty, name }: Rule, pairs: readonly Pair[]): boolean {
  if (allowEmpty !== true) return false
  const own = pairs.filter((pair) => pair.name === name)
  return own.length === 1 && own[0]?.raw === ""
}

/** An object that accepts any name does not take the names of other parameters. */
function pairsFor(rule: Rule, pairs: readonly Pair[], rules: readonly Rule[]): readonly Pair[] {
  if (!takesOthers(rule, rule.shape)) return pairs
  const others = rules.filter((other) => other !== rule && other.in === "query")
  return pairs.filter(
    ({ name }) =>
      rule.shape.properties.has(name) || !others.some((other) => belongsTo(other, other.shape, name)),
  )
}

function linesOf({ headers }: Exchange, name: string): string[] {
  const lines: string[] = []
  for (let at = 0; at < headers.flat.length; at += 2)
    if (headers.flat[at] === name) lines.push(fieldText(headers.flat[at + 1] as string))
  return lines
}

/** Judges one parameter. `inside`: the place in its value. */
function judge(
  { in: place, name, required, action, validator }: Rule,
  read: ParameterValue,
  violations: Violations,
): void {
  const add = (message: string, inside = ""): void =>
    violations.add(action, { in: place, pointer: `${name}${inside}`, message }, "IncorrectMessage", name)
  if (read === undefined) {
    if (required) add("is required")
  } else if ("problem" in read) add(read.problem)
  else for (const { pointer, message } of validator?.validate(read.value) ?? []) add(message, pointer)
}

function unexpected(place: "query" | "header", name: string): ProblemDetail {
  return { in: place, pointer: name, message: "is not expected" }
}

function unknownPairs(pairs: readonly Pair[], rules: readonly Rule[]): string[] {
  const known = rules.filter((rule) => rule.in === "query")
  const names = new Set(pairs.map(({ name }) => name))
  return [...names].filter((name) => !known.some((rule) => belongsTo(rule, rule.shape, name)))
}

function unknownHeaders({ headers }: Exchange, rules: readonly Rule[]): string[] {
  const known = new Set(rules.flatMap((rule) => (rule.in === "header" ? [rule.name.toLowerCase()] : [])))
  return headers.flat.filter((name, at) => at % 2 === 0 && !known.has(name) && !ordinary.test(name))
}
