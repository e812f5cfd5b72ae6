import type { ClaimRule, CredentialSource } from "../../runtime/plan/caller-token.ts"
import type { Count, Flag } from "../../runtime/plan/step-values.ts"
import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { durationWords, textWords } from "../analysis/words.ts"

type Lists = { readonly list: (ids: readonly string[]) => string; readonly severalStores: boolean }
type WordsOf<Kinds extends StepKind> = {
  readonly [Kind in Kinds]: (step: StepOf<Kind>, words: Lists) => string
}

/** `5`, or `(CEL)` where it is found per request. */
export function countWordsOf(count: Count | Flag): string {
  return typeof count === "object" ? `(${count.expression.text})` : String(count)
}

/** A block in one line; nothing where it is empty. */
export function blockWords(statements: readonly string[]): string {
  return statements.length === 0 ? "" : ` { ${statements.join("; ")} }`
}

/** Steps that decide who may pass. */
export type AccessKind =
  | "require-any"
  | "require-all"
  | "filter"
  | "grant"
  | "validate-jwt"
  | "introspect"
  | "basic-auth"
  | "cors"
  | "check-header"
  | "ip-filter"

/** Steps that decide who may pass, in words of gateway.conf. What a statement leaves to its default is left out. */
export const accessWords: WordsOf<AccessKind> = {
  "validate-jwt": (step) => `auth jwt ${step.issuers.join(" ")}${blockWords(jwtStatements(step))}`,
  introspect: (step) => `auth introspection ${step.introspection}${blockWords(introspectStatements(step))}`,
  "basic-auth": ({ users, realm, status, message, forward }) =>
    `auth basic ${users}${blockWords([
      ...(realm === users ? [] : [`realm ${JSON.stringify(realm)}`]),
      ...statusWords(status, 401),
      ...messageWords(message),
      ...(forward ? ["forward"] : []),
    ])}`,
  cors: ({ origins, methods, headers, expose, credentials, maxAgeSeconds, terminateUnmatched }) =>
    `cors${blockWords([
      `origins ${origins.map(textWords).join(" ")}`,
      ...(methods.length === 0 ? [] : [`methods ${methods.join(" ")}`]),
      ...(headers.length === 0 ? [] : [`headers ${quotedWords(headers)}`]),
      ...(expose.length === 0 ? [] : [`expose ${quotedWords(expose)}`]),
      ...(credentials ? ["credentials"] : []),
      ...(maxAgeSeconds === 0 ? [] : [`max-age ${durationWords(maxAgeSeconds * 1000)}`]),
      ...(terminateUnmatched ? [] : ["forward-unmatched"]),
    ])}`,
  "check-header": ({ name, values, ignoreCase, status, message }) =>
    `check header "${name}"${values.length === 0 ? "" : ` is ${values.map(textWords).join(" ")}`}${blockWords(
      [
        ...(ignoreCase === false
          ? []
          : [ignoreCase === true ? "ignore-case" : `ignore-case ${countWordsOf(ignoreCase)}`]),
        ...statusWords(status, 403),
        ...messageWords(message),
      ],
    )}`,
  "ip-filter": ({ action, networks, ranges }) =>
    `${action} ip ${[...networks, ...ranges.map(({ from, to }) => `${from}-${to}`)].join(" ")}`,
  "require-any": ({ steps }, words) => `require any { ${words.list(steps).replaceAll(/\brequire /g, "")} }`,
  "require-all": ({ steps }, words) => `require all { ${words.list(steps).replaceAll(/\brequire /g, "")} }`,
  filter: (step, words) =>
    `filter ${JSON.stringify(step.items || ".")} by ${askedWords(step)}${deciderWords(step, words)}${circumstanceWords(step)}`,
  grant: ({ action, relation, object, user, store }, words) =>
    action === "write"
      ? `grant ${relation} of ${textWords(object)} to ${textWords(user)}${deciderWords({ store }, words)}`
      : `revoke ${relation} of ${textWords(object)} from ${textWords(user)}${deciderWords({ store }, words)}`,
}

/** `viewer of "order:…" for "user:…"`. */
export function askedWords({
  relation,
  object,
  user,
}: Pick<StepOf<"require">, "relation" | "object" | "user">): string {
  return `${relation} of ${textWords(object)} for ${textWords(user)}`
}

/** ` in STORE` where there are several, ` by PDP` but for the one of `authz url`. */
export function deciderWords(
  { store, pdp }: Pick<StepOf<"require">, "store" | "pdp">,
  { severalStores }: Pick<Lists, "severalStores">,
): string {
  if (pdp !== undefined) return pdp === "authz" ? "" : ` by ${pdp}`
  return severalStores && store !== undefined ? ` in ${store}` : ""
}

/** The block of a question: what conditions see, properties, and tuples that count for it. */
export function circumstanceWords({
  context = [],
  tuples = [],
  properties = {},
}: Pick<StepOf<"require">, "context" | "tuples" | "properties">): string {
  return blockWords([
    ...context.map(({ key, value }) => `context ${key} (${value.text})`),
    ...(["subject", "resource", "action"] as const).flatMap((of) =>
      (properties[of] ?? []).map(({ key, value }) => `${of} ${key} (${value.text})`),
    ),
    ...tuples.map(
      ({ user, relation, object }) => `tuple ${textWords(user)} ${relation} ${textWords(object)}`,
    ),
  ])
}

/** Where a credential is read from; nothing for the usual place. */
export function sourceWords(source: CredentialSource): string[] {
  if ("header" in source) {
    if (source.header === "authorization" && source.scheme === "Bearer") return []
    return [`header "${source.header}"${source.scheme === null ? "" : ` scheme "${source.scheme}"`}`]
  }
  if ("text" in source) return [`from text ${textWords(source.text)}`]
  const forward = source.forward ? " forward" : ""
  return "query" in source
    ? [`from query ${JSON.stringify(source.query)}${forward}`]
    : [`from cookie ${JSON.stringify(source.cookie)}${forward}`]
}

/** `status 403`; nothing for the default. */
export function statusWords(status: Count, byDefault: number): string[] {
  return status === byDefault ? [] : [`status ${countWordsOf(status)}`]
}

/** `message "…"` where there is one. */
export function messageWords(message: Text | undefined): string[] {
  return message === undefined ? [] : [`message ${textWords(message)}`]
}

/** `claim scope has "a"`. */
export function claimWords({ claim, test, values, separator }: ClaimRule): string {
  const words = { present: "", "has-any": " has any", "has-all": " has", "equals-any": " is" }[test]
  const separated = separator === undefined ? [] : [`separator ${JSON.stringify(separator)}`]
  return [`claim ${claim}${words}`, ...values.map(textWords), ...separated].join(" ")
}

function jwtStatements(step: StepOf<"validate-jwt">): string[] {
  const { clockSkewSeconds, requireExpiration } = step
  return [
    ...step.claims.map(claimWords),
    ...sourceWords(step.from),
    ...(step.audiences === undefined ? [] : [`audience ${step.audiences.map(textWords).join(" ")}`]),
    ...(step.issuerValues === undefined ? [] : [`issuer ${step.issuerValues.map(textWords).join(" ")}`]),
    ...(clockSkewSeconds === undefined
      ? []
      : [
          `clock-skew ${typeof clockSkewSeconds === "number" ? `${clockSkewSeconds}s` : countWordsOf(clockSkewSeconds)}`,
        ]),
    ...(requireExpiration === true
      ? []
      : [
          `expiration optional${requireExpiration === false ? "" : ` unless ${countWordsOf(requireExpiration)}`}`,
        ]),
    ...statusWords(step.status, 401),
    ...(step.claimStatus === 403 ? [] : [`claim-status ${countWordsOf(step.claimStatus)}`]),
    ...messageWords(step.message),
    ...(step.output === undefined ? [] : [`output ${step.output}`]),
  ]
}

function introspectStatements(step: StepOf<"introspect">): string[] {
  return [
    ...step.claims.map(claimWords),
    ...sourceWords(step.from),
    ...(step.audiences === undefined ? [] : [`audience ${step.audiences.map(textWords).join(" ")}`]),
    ...statusWords(step.status, 401),
    ...(step.claimStatus === 403 ? [] : [`claim-status ${countWordsOf(step.claimStatus)}`]),
    ...messageWords(step.message),
    ...(step.output === undefined ? [] : [`output ${step.output}`]),
  ]
}

function quotedWords(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" ")
}
