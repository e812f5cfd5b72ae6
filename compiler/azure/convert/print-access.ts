import type { ClaimRule, CredentialSource } from "../../../runtime/plan/caller-token.ts"
import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import { textWords } from "../../analysis/words.ts"
import { block, certain, fixed, type Print, timeOf } from "./statement.ts"
import { none } from "./translation.ts"
import { headerCase, parenthesized, quotedAll } from "./write-text.ts"

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
