import type { ClaimRule, CredentialSource } from "../../../runtime/plan/caller-token.ts"
import type { LimitKey } from "../../../runtime/plan/counting.ts"
import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import { textWords } from "../../analysis/words.ts"
import { block, certain, fixed, type Print, timeOf } from "./statement.ts"
import { none } from "./translation.ts"
import { headerCase, parenthesized, quotedAll } from "./write-text.ts"

/** Signs of a limit by the word of the language. */
const signs = {
  "retry-after": "retryAfter",
  remaining: "remaining",
  total: "total",
  consumed: "consumed",
} as const

type Counted = StepOf<"rate-limit"> | StepOf<"quota">

function keysOf(keys: readonly LimitKey[]): string {
  return keys
    .map((key) =>
      key.by === "text" ? textWords(key.text) : key.by === "claim" ? `jwt.${key.claim}` : key.by,
    )
    .join(" else ")
}

function countingOf(step: Counted): string[] {
  const lines: string[] = []
  if (step.countIf !== undefined) lines.push(`count if ${parenthesized(step.countIf.text)}`)
  const { increment } = step
  if (typeof increment === "number") lines.push(`count ${increment}`)
  else if (increment !== undefined && "expression" in increment)
    lines.push(`count ${parenthesized(increment.expression.text)}`)
  else if (increment !== undefined) {
    const estimated = certain(increment.tokens.estimatePrompt, "an estimate")
    lines.push(`count tokens ${estimated ? "estimated" : "reported"}`)
  }
  for (const [word, field] of Object.entries(signs)) {
    const header = (step as Readonly<Record<string, unknown>>)[`${field}Header`]
    const variable = (step as Readonly<Record<string, unknown>>)[`${field}Variable`]
    if (typeof header === "string") lines.push(`${word} header "${headerCase(header)}"`)
    if (typeof variable === "string") lines.push(`${word} variable ${variable}`)
  }
  return lines
}

const rateLimit: Print<"rate-limit"> = (step) => {
  const calls = fixed(step.callsMax, "a number of calls")
  const period = fixed(step.periodSeconds, "a time")
  return block(`limit ${calls} per ${timeOf(period)} by ${keysOf(step.keys)}`, [countingOf(step)])
}

const quota: Print<"quota"> = (step) => {
  const { callsMax, bytesMax, periodSeconds, startsAt, keys } = step
  if (callsMax !== undefined && bytesMax !== undefined) return none("a quota of calls and bytes in one")
  if (startsAt !== undefined && !/T00:00:00(?:\.000)?Z$/.test(startsAt))
    return none("a period that begins within a day")
  if (step.remainingHeader !== undefined || step.remainingVariable !== undefined)
    return none("a quota that tells what is left")
  if (step.consumedHeader !== undefined || step.consumedVariable !== undefined)
    return none("a quota that tells what a call counted")
  const volume =
    bytesMax === undefined ? `${fixed(callsMax, "a number of calls")} calls` : `${bytesMax / 1024}KB`
  const period = periodSeconds === 0 ? "in total" : `per ${timeOf(periodSeconds)}`
  return block(`quota ${volume} ${period} by ${keysOf(keys)}`, [
    countingOf(step),
    startsAt === undefined ? [] : [`starts ${startsAt.slice(0, 10)}`],
  ])
}

const checkHeader: Print<"check-header"> = (step) =>
  block(
    `check header "${headerCase(step.name)}"${step.values.length === 0 ? "" : ` is${quotedAll(step.values)}`}`,
    [
      certain(step.ignoreCase, "`ignore-case`") ? ["ignore-case"] : [],
      [`status ${fixed(step.status, "a status")}`],
      step.message === undefined ? [] : [`message ${textWords(step.message)}`],
    ],
  )

const ipFilter: Print<"ip-filter"> = ({ action, networks, ranges }) => [
  [`${action} ip`, ...networks.map(shortest), ...ranges.map(({ from, to }) => `${from}-${to}`)].join(" "),
]

/** One address needs no prefix. */
function shortest(network: string): string {
  return network.replace(/^([0-9.]+)\/32$|^([0-9a-f:]+)\/128$/i, "$1$2")
}

const cors: Print<"cors"> = (step) =>
  block("cors", [
    [`origins ${step.origins.includes("*") ? "*" : quotedAll(step.origins).trim()}`],
    [`methods ${step.methods.join(" ")}`],
    step.headers.length === 0 ? [] : [`headers ${listOf(step.headers)}`],
    step.expose.length === 0 ? [] : [`expose ${listOf(step.expose)}`],
    step.credentials ? ["credentials"] : [],
    step.maxAgeSeconds === 0 ? [] : [`max-age ${timeOf(step.maxAgeSeconds)}`],
    step.terminateUnmatched ? [] : ["forward-unmatched"],
  ])

function listOf(names: readonly string[]): string {
  return names.includes("*") ? "*" : quotedAll(names).trim()
}

function sourceOf(from: CredentialSource): string[] {
  if ("query" in from) return [`from query ${textWords(from.query)}${from.forward ? " forward" : ""}`]
  if ("cookie" in from) return [`from cookie ${textWords(from.cookie)}${from.forward ? " forward" : ""}`]
  if ("text" in from) {
    const [only, ...more] = typeof from.text === "string" ? [] : from.text.text
    if (typeof only === "object" && "expression" in only && more.length === 0)
      return [`from ${parenthesized(only.expression.text)}`]
    return none("a token that is the same for all")
  }
  if (from.header === "authorization" && from.scheme === "Bearer") return []
  return [
    `header "${headerCase(from.header)}"${from.scheme === null ? "" : ` scheme ${textWords(from.scheme)}`}`,
  ]
}

function claimOf({ claim, test, values, separator }: ClaimRule): string {
  const name = /^[A-Za-z0-9_.:/*@%+~-]+$/.test(claim) ? claim : textWords(claim)
  const rule = {
    present: "",
    "has-all": ` has all${quotedAll(values)}`,
    "has-any": ` has any${quotedAll(values)}`,
    "equals-any": ` is${quotedAll(values)}`,
  }[test]
  const by = separator === undefined ? "" : ` separator ${separator === "" ? "none" : textWords(separator)}`
  return `claim ${name}${rule}${by}`
}

/** `jwt ISSUER { … }`, behind `check` or in `check any`. */
export const jwt: Print<"validate-jwt"> = (step) =>
  block(`jwt ${step.issuers.join(" ")}`, [
    sourceOf(step.from),
    step.claims.map(claimOf),
    step.audiences === undefined ? [] : [`audience${quotedAll(step.audiences)}`],
    step.issuerValues === undefined ? [] : [`issuer${quotedAll(step.issuerValues)}`],
    step.clockSkewSeconds === undefined
      ? []
      : [`clock-skew ${timeOf(fixed(step.clockSkewSeconds, "a time"))}`],
    certain(step.requireExpiration, "`require-expiration-time`") ? [] : ["expiration optional"],
    fixed(step.status, "a status") === 401 ? [] : [`status ${fixed(step.status, "a status")}`],
    fixed(step.claimStatus, "a status") === 403
      ? []
      : [`claim-status ${fixed(step.claimStatus, "a status")}`],
    step.message === undefined ? [] : [`message ${textWords(step.message)}`],
    step.output === undefined ? [] : [`output ${step.output}`],
  ])

type Judged = "ignore" | "detect" | "prevent"

const validateStatus: Print<"validate-status"> = ({ codes, unspecified, errors }) => {
  const judged = (action: Judged): string[] =>
    codes.flatMap((each) => (each.action === action ? [each.code] : []))
  const line = (word: string, action: Judged): string[] => {
    const found = judged(action)
    return found.length === 0 ? [] : [`${word} ${found.join(" ")}`]
  }
  return [
    `validate status ${unspecified} {`,
    ...line("allow", "ignore"),
    ...line("detect", "detect"),
    ...line("prevent", "prevent"),
    ...(errors === undefined ? [] : [`errors ${errors}`]),
    "}",
  ]
}

const validateHeaders: Print<"validate-headers"> = (step) => {
  const { headers, described, named = [], unspecified, errors } = step
  if (described !== undefined) return none("headers as an OpenAPI document describes them")
  if (headers.some((header) => header.required || header.action !== "ignore"))
    return none("a header that may be there and is judged")
  return [
    `validate headers ${unspecified} {`,
    ...(headers.length === 0 ? [] : [`allow${quotedAll(headers.map(({ name }) => headerCase(name)))}`]),
    ...(["detect", "prevent"] as const).flatMap((action) => {
      const names = named.flatMap((each) => (each.action === action ? [headerCase(each.name)] : []))
      return names.length === 0 ? [] : [`${action}${quotedAll(names)}`]
    }),
    ...(errors === undefined ? [] : [`errors ${errors}`]),
    "}",
  ]
}

const validateContent: Print<"validate-content"> = (step) => {
  const { bytesMax, onSize, onUnspecified, mediaMap, types, errors } = step
  const size = fixed(bytesMax, "a size")
  return block(`validate content ${known(onUnspecified)}`, [
    types.map(({ as, media, schema, action }) =>
      schema === undefined
        ? `${as}${media === "*" ? "" : ` ${textWords(media)}`} ${action}`
        : none("a schema of the cloud's store"),
    ),
    (mediaMap?.rules ?? []).map(
      (rule) =>
        `map ${"from" in rule ? textWords(rule.from) : parenthesized(rule.when.text)} to ${textWords(rule.to)}`,
    ),
    mediaMap?.missing === undefined ? [] : [`map missing to ${textWords(mediaMap.missing)}`],
    mediaMap?.any === undefined ? [] : [`map any to ${textWords(mediaMap.any)}`],
    [`size ${size % 1024 === 0 ? `${size / 1024}KB` : `${size}B`} ${known(onSize)}`],
    errors === undefined ? [] : [`errors ${errors}`],
  ])
}

function known(action: StepOf<"validate-content">["onSize"]): Judged {
  return typeof action === "string" ? action : none("what is done about a violation, found per request")
}

/** Statements that let callers in or refuse them, and what judges answers. */
export const accessStatements: { readonly [Kind in StepKind]?: Print<Kind> } = {
  "rate-limit": rateLimit,
  quota,
  "check-header": checkHeader,
  "ip-filter": ipFilter,
  cors,
  "validate-jwt": (step) => {
    const [head, ...rest] = jwt(step)
    return [`check ${head}`, ...rest]
  },
  "validate-content": validateContent,
  "validate-status": validateStatus,
  "validate-headers": validateHeaders,
}
