import type { Authentication, BodyContent } from "../../../runtime/plan/step-values.ts"
import type { BlockStep, Step, StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import type { Expression, Text } from "../../../runtime/plan/text.ts"
import { textWords } from "../../analysis/words.ts"
import type { Printed, Printing } from "../../gateway/print.ts"
import { hasText, printStep as statementOf } from "../../gateway/step-texts.ts"
import { accessStatements } from "./print-access.ts"
import { block, certain, foundTime, type Print } from "./statement.ts"
import { none, refuse } from "./translation.ts"
import { headerCase, parenthesized, quotedAll, textLines } from "./write-text.ts"

/** The statement that makes this step; what is inside of it is not looked at. @throws NoCounterpart */
export function printStep(step: Step): string[] {
  if (hasText(step)) return printedLines(step)
  const print = (statements as Readonly<Record<string, Print<never> | undefined>>)[step.kind]
  if (print !== undefined) return print(step as never)
  const why = (elsewhere as Readonly<Record<string, Elsewhere<never> | undefined>>)[step.kind]
  return refuse(why?.(step as never) ?? "it has no statement")
}

/** The same with the steps inside of it. @throws NoCounterpart */
export function printWith(step: Step, inside: readonly Step[]): string[] {
  return printedLines(step, inside)
}

/** The head of the statement that makes a step that holds blocks. @throws NoCounterpart */
export function headOf(step: BlockStep): string {
  return printed(step).head
}

/** What the language cannot write of a step. */
export function lackingOf(step: Step): readonly string[] {
  return hasText(step) ? printTo(step).lacking : []
}

/** The lines of a step that the language can write. @throws NoCounterpart */
function printedLines(step: Step, inside: readonly Step[] = []): string[] {
  return linesOf(printed(step, inside))
}

function printed(step: Step, inside: readonly Step[] = []): Printed {
  const { statement, lacking } = printTo(step, inside)
  const [why] = lacking
  return why === undefined ? statement : refuse(why)
}

function printTo(
  step: Step,
  inside: readonly Step[] = [],
): { statement: Printed; lacking: readonly string[] } {
  const lacking: string[] = []
  const printing: Printing = {
    body: undefined,
    inSection: true,
    inside: () => inside.map((each) => statementOf(each, printing)),
    header: headerCase,
    lacks: (what) => lacking.push(`there is no counterpart for ${what}`),
    refuses: (why) => lacking.push(why),
  }
  return { statement: statementOf(step, printing), lacking }
}

function linesOf({ head, text, block }: Printed): string[] {
  const own = text === undefined ? [head] : textLines(head, text)
  if (block.length === 0) return own
  return [...own.slice(0, -1), `${own.at(-1)} {`, ...block.flatMap(linesOf), "}"]
}

function written(value: Text | { readonly expression: Expression }): string {
  return typeof value === "object" && "expression" in value
    ? parenthesized(value.expression.text)
    : textWords(value)
}

function bodyLines(head: string, media: string | null, content: BodyContent): string[] {
  if (media !== null) return none("a media type beside a body")
  if ("value" in content) return [`${head} ${parenthesized(content.value.text)}`]
  if ("liquid" in content) {
    if (content.xsiNil !== undefined) return none("`xsi-nil`")
    return textLines(`${head} liquid`, content.liquid)
  }
  return textLines(`${head} as-is`, content.text)
}

type Lines = StepOf<"respond">["headers"]

/** In what begins empty, the first line of a name is set whatever the document calls it. */
function headerLines(lines: Lines, fresh: boolean, valuesMax: number): string[] {
  const names = lines.map(({ name }) => name)
  if (new Set(names).size < names.length) return none("a header that is named twice")
  return lines.flatMap(({ name, action, values }) => {
    if (!fresh && action !== "set")
      return none("headers that are added or removed in a message that is begun")
    if (action === "remove") return []
    if (values.length > valuesMax) return none("a header with several lines")
    return [`header "${headerCase(name)}"${quotedAll(values)}`]
  })
}

function authenticationOf(authentication: Authentication): string {
  switch (authentication.scheme) {
    case "basic":
      return `authenticate basic ${textWords(authentication.user)} ${textWords(authentication.password)}`
    case "bearer":
      return `authenticate bearer ${textWords(authentication.token)}`
    case "token":
      return `authenticate token ${authentication.client}`
    default:
      return `authenticate certificate ${authentication.certificate}`
  }
}

const send: Print<"send-request"> = (step) => {
  const { mode, url, method, headers, media, body, authentication, timeoutSeconds, variable } = step
  if (url === undefined) return none("a request without an address of its own")
  if (step.wait && variable === undefined) return none("a request that is waited for and leaves nothing")
  return block(step.wait ? `send ${variable}` : "send and forget", [
    mode === "copy" ? ["copy"] : [],
    [`url ${textWords(url)}`],
    method === undefined ? [] : [`method ${textWords(method)}`],
    headerLines(headers, mode === "new", 100),
    body === undefined ? [] : bodyLines("body", media, body),
    authentication === undefined ? [] : [authenticationOf(authentication)],
    timeoutSeconds === 60 ? [] : [`timeout ${foundTime(timeoutSeconds)}`],
    certain(step.ignoreError, "`ignore-error`") ? ["ignore-error"] : [],
  ])
}

const metric: Print<"metric"> = ({ name, value, labels }) => {
  const amount =
    typeof value === "number"
      ? ""
      : "tokens" in value
        ? ` tokens ${value.tokens}`
        : ` ${parenthesized(value.expression.text)}`
  return block(`metric ${name}${amount}`, [
    labels.map((label) =>
      label.value === undefined
        ? none("a label without a value")
        : `label ${label.name} ${textWords(label.value)}`,
    ),
  ])
}

const setBackend: Print<"set-backend"> = ({ target }) => {
  if ("backend" in target) return [`use backend ${target.backend}`]
  if ("url" in target) return [`use url ${textWords(target.url)}${target.raw ? " raw" : ""}`]
  return none("a backend whose id is found per request: `use by` names each")
}

type Elsewhere<Kind extends StepKind> = (step: StepOf<Kind>) => string

/** What is said outside of `policy`, and how. */
const elsewhere: { readonly [Kind in StepKind]?: Elsewhere<Kind> } = {
  "validate-parameters": ({ unspecified }) =>
    `what parameters must be is said by an OpenAPI document; in the API that has one: \`validate request { unknown-query ${unspecified.query}; unknown-headers ${unspecified.header} }\``,
  "content-safety": () =>
    "what a language model is asked is judged by policy documents alone: it stays one, used by `policy xml`",
}

const cacheLookup: Print<"cache-lookup"> = (step) => {
  if (step.like !== undefined) return none("prompts that are alike are looked for by policy documents alone")
  return block("cache lookup", [
    step.varyHeaders.length === 0 ? [] : [`vary header${quotedAll(step.varyHeaders.map(headerCase))}`],
    step.varyQuery === null
      ? []
      : [`vary query${step.varyQuery.length === 0 ? " none" : quotedAll(step.varyQuery)}`],
    step.key === undefined ? [] : [`key ${textWords(step.key)}`],
    step.authorized ? ["shared"] : [],
    step.downstream === "none"
      ? step.mustRevalidate
        ? none("`must-revalidate` without a cache behind")
        : []
      : [`downstream ${step.downstream}${step.mustRevalidate ? " must-revalidate" : ""}`],
  ])
}

const cacheStore: Print<"cache-store"> = ({ seconds, storeIf }) => {
  const time = `cache store ${foundTime(seconds)}`
  if (storeIf === undefined) return [time]
  return [
    `${time} if ${typeof storeIf === "boolean" ? `(${storeIf})` : parenthesized(storeIf.expression.text)}`,
  ]
}

const statements: { readonly [Kind in StepKind]?: Print<Kind> } = {
  ...accessStatements,
  metric,
  "send-request": send,
  "set-backend": setBackend,
  "cache-lookup": cacheLookup,
  "cache-store": cacheStore,
  trace: ({ message, severity, metadata }) =>
    metadata.length > 0
      ? none("a line of the log with further data")
      : [`trace ${textWords(message)}${severity === "information" ? "" : ` as ${severity}`}`],
  "cache-get": ({ variable, key, default: otherwise }) => [
    `cache get ${variable} ${textWords(key)}${otherwise === undefined ? "" : ` default ${written(otherwise)}`}`,
  ],
  "cache-set": ({ key, value, seconds }) => [
    `cache set ${textWords(key)} ${written(value)} for ${foundTime(seconds)}`,
  ],
  "cache-remove": ({ key }) => [`cache remove ${textWords(key)}`],
  authenticate: ({ authentication, output, outputAs }) =>
    outputAs === undefined
      ? [`${authenticationOf(authentication)}${output === undefined ? "" : ` as ${output}`}`]
      : none("a token that is left as an object"),
}
