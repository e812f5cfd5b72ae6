import type { BodyContent, Count } from "../../runtime/plan/step-values.ts"
import type { StepOf } from "../../runtime/plan/steps.ts"
import type { Expression, Text } from "../../runtime/plan/text.ts"
import { textWords } from "../analysis/words.ts"
import type { TextKind } from "../gateway/step-texts.ts"
import { blockWords, countWordsOf } from "./access-words.ts"
import type { WordsOf } from "./words-of.ts"

/** Kinds of steps that change messages, keep things, or say them. */
export type ContentKind =
  | "set-header"
  | "validate-headers"
  | "validate-status"
  | "trace"
  | "metric"
  | "cache-lookup"
  | "cache-store"
  | "cache-get"
  | "cache-set"
  | "cache-remove"
  | "cache-value"

/** Such steps in words of gateway.conf. */
export const contentWords: WordsOf<Exclude<ContentKind, TextKind>> = {
  "validate-headers": validateHeadersWords,
  "validate-status": ({ codes, unspecified, errors }) =>
    `validate status ${unspecified}${blockWords([
      ...codes.map(({ code, action }) => `${action === "ignore" ? "allow" : action} ${code}`),
      ...errorsWords(errors),
    ])}`,
  trace: ({ source, severity, message }) => `trace ${severity} "${source}" ${textWords(message)}`,
  metric: ({ name, value }) => `metric ${name}${value === 1 ? "" : ` ${metricWords(value)}`}`,
  "cache-lookup": (step) => `cache response${blockWords(lookupStatements(step))}`,
  "cache-store": ({ seconds, storeIf }) =>
    `cache response ${secondsWords(seconds)}${storeIf === undefined ? "" : blockWords([`if ${flagWords(storeIf)}`])}`,
  "cache-get": ({ variable, key, default: otherwise }) =>
    `cache get ${variable} ${textWords(key)}${otherwise === undefined ? "" : ` default ${textOrExpressionWords(otherwise)}`}`,
  "cache-set": ({ key, value, seconds }) =>
    `cache set ${textWords(key)} ${textOrExpressionWords(value)} for ${secondsWords(seconds)}`,
  "cache-remove": ({ key }) => `cache remove ${textWords(key)}`,
  "cache-value": ({ variable, key, seconds, steps }, words) =>
    `cache value ${variable} ${textWords(key)} for ${secondsWords(seconds)} { ${words.list(steps)} }`,
}

/** Only what is required has an action: that is the statement's, the others' stands in it where it is another. */
function validateHeadersWords(step: StepOf<"validate-headers">): string {
  const { headers, described, named = [], unspecified, errors } = step
  const namedLines = named.map(({ name, action: own }) => `${own === "ignore" ? "allow" : own} "${name}"`)
  if (described !== undefined && headers.length === 0)
    return `validate response${blockWords([
      `headers ${described.flatMap((each) => each.headers)[0]?.action ?? "ignore"}`,
      ...(unspecified === "ignore" ? [] : [`unknown-headers ${unspecified}`]),
      ...namedLines,
      ...errorsWords(errors),
    ])}`
  const action = headers.find(({ required }) => required)?.action ?? unspecified
  return `validate headers ${action}${blockWords([
    ...headers.map(
      ({ name, required, action: own }) =>
        `${required ? "require" : "allow"} "${name}"${required && own !== action ? ` ${own}` : ""}`,
    ),
    ...namedLines,
    ...(unspecified === action ? [] : [`others ${unspecified}`]),
    ...errorsWords(errors),
  ])}`
}

function errorsWords(errors: string | undefined): string[] {
  return errors === undefined ? [] : [`errors ${errors}`]
}

function lookupStatements(step: StepOf<"cache-lookup">): string[] {
  const { varyHeaders, varyQuery, key, authorized, downstream, mustRevalidate, coalesce, like } = step
  return [
    ...(varyHeaders.length === 0 ? [] : [`vary header ${varyHeaders.map((name) => `"${name}"`).join(" ")}`]),
    ...(varyQuery === null
      ? []
      : [
          varyQuery.length === 0
            ? "vary query none"
            : `vary query ${varyQuery.map((name) => JSON.stringify(name)).join(" ")}`,
        ]),
    ...(key === undefined ? [] : [`key ${textWords(key)}`]),
    ...(authorized ? ["shared"] : []),
    ...(downstream === "none" ? [] : [`downstream ${downstream}${mustRevalidate ? " must-revalidate" : ""}`]),
    ...(coalesce === true ? ["coalesce"] : []),
    ...(like === undefined ? [] : [likeWords(like)]),
  ]
}

function likeWords({
  backend,
  distance,
  ignoreSystem,
  messagesMax,
}: NonNullable<StepOf<"cache-lookup">["like"]>): string {
  const system = ignoreSystem ? " without system messages" : ""
  return `like ${backend} within ${distance}${system}${messagesMax === undefined ? "" : ` up to ${messagesMax} messages`}`
}

function valueWords(values: readonly Text[]): string {
  return values.map((value) => ` ${textWords(value)}`).join("")
}

/** `5s`, or the expression that says it. */
export function secondsWords(seconds: Count): string {
  return typeof seconds === "number" ? `${seconds}s` : countWordsOf(seconds)
}

function flagWords(flag: boolean | { readonly expression: Expression }): string {
  return typeof flag === "boolean" ? `(${flag})` : `(${flag.expression.text})`
}

/** A text in quotes, or an expression in parentheses. */
export function textOrExpressionWords(value: Text | { readonly expression: Expression }): string {
  return typeof value === "object" && "expression" in value ? `(${value.expression.text})` : textWords(value)
}

/** The lines of headers of `respond` and `send`. */
export function headerLineWords(headers: StepOf<"respond">["headers"]): string[] {
  return headers.map(
    ({ name, action, values }) =>
      `header ${action === "set" ? "" : `${action} `}"${name}"${valueWords(values)}`,
  )
}

/** What follows `body` or `body set`: `json "…"`, `text (…)`, `liquid "…"`. */
export function bodyWords(media: string | null, content: BodyContent): string {
  const isXml = "text" in content && escapesXml(content.text)
  const isXmlWord = isXml && media === "application/xml; charset=utf-8"
  const as =
    media === null
      ? ""
      : media === "application/json"
        ? "json "
        : media.startsWith("text/plain")
          ? "text "
          : isXmlWord
            ? "xml "
            : `"${media}" ${isXml ? "xml " : ""}`
  if ("liquid" in content) return `${as}liquid ${JSON.stringify(content.liquid)}`
  if ("value" in content) return `${as}(${content.value.text})`
  const { text } = content
  const [only, ...more] = typeof text === "string" ? [text] : text.text
  return `${as}${typeof only === "object" && "expression" in only && more.length === 0 ? `(${only.expression.text})` : textWords(text)}`
}

function escapesXml(text: Text): boolean {
  return (
    typeof text === "object" &&
    text.text.some((part) => typeof part === "object" && "as" in part && part.as?.startsWith("xml-") === true)
  )
}

function metricWords(value: StepOf<"metric">["value"]): string {
  if (typeof value === "number") return String(value)
  return "tokens" in value ? `tokens ${value.tokens}` : `(${value.expression.text})`
}
