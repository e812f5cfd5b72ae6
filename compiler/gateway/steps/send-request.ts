import type { Flag, HeaderLines } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { breaking, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { callersDecide, escapingLost, fromCaller, secretsIn } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { otherIdentity } from "../identity-rules.ts"
import { lowerAuthentication } from "../lower/authentication.ts"
import { lowerContent } from "../lower/content.ts"
import { secondsOf } from "../lower/count.ts"
import { headerUse, lowerAll, mayWrite } from "../lower/header.ts"
import type { StepContext } from "../lower/step.ts"
import { authenticationText, flagText, secondsText, statement, timeText } from "../print.ts"
import { bodyStatement, headerLines } from "../print-message.ts"
import { stepIdentityForms } from "../schema/credentials.ts"
import { type StatementRow, slot, word } from "../schema/row.ts"
import { foundTime } from "../schema/times.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"
import { bodyRow, headerRow } from "./respond.ts"
import { method } from "./set-method.ts"

/** APIM's default for `send-request`; a document without `timeout` and a statement without it mean the same. */
const secondsByDefault = 60

/** `send NAME { … }` or `send and forget { … }` */
export const send: StatementDefinition = {
  row: {
    keyword: "send",
    several: true,
    forms: [
      { args: [word("and"), word("forget")], block: "send", blockRequired: true },
      {
        args: [slot("variable", "value-name", { label: "NAME" })],
        block: "send",
        blockRequired: true,
      },
    ],
    docs: "Calls another service and puts its response into a variable: `var.NAME.status`, `.headers`, `.body` (its JSON), `.text`. `send and forget` does not wait.",
    example: 'send profile { url "https://profiles.internal/${path.id}" }',
  },
  lower: (bound, context) => {
    const { texts, place, steps } = context
    const { block } = bound
    const variable = bound.args.value<string>("variable")
    const text = (keyword: string, slot: string, secrets = false) => {
      const argument = statementOf(block, keyword)?.args.text(slot)
      return argument === undefined ? undefined : texts.lower(argument, place, { secrets })
    }
    // A secret may be in the URL: there are services that take their key in the query. The plan keeps the reference.
    const url = text("url", "url", true)
    const method = text("method", "method")
    const bodyAt = statementOf(block, "body")
    const content = bodyAt === undefined ? undefined : lowerContent(bodyAt, context)
    const headers = lowerHeaders(bound, context)
    if (headers === undefined) return undefined
    const authentication = lowerAuthentication(statementOf(block, "authenticate"), context)
    const timeoutAt = statementOf(block, "timeout")
    const timeoutSeconds = timeoutAt === undefined ? secondsByDefault : secondsOf(timeoutAt, context)
    // A part that is written and could not be lowered is already reported. A step without it would send something else.
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
    // `dyn`: the type of the response's body is known when it arrives.
    return variable === undefined ? lowered : { ...lowered, declares: { [variable]: "dyn" } }
  },
}

/** Undefined if a header may not be set, so that the step is left out as a whole. */
function lowerHeaders(
  { block }: BoundStatement,
  { texts, place, report }: StepContext,
): StepOf<"send-request">["headers"] | undefined {
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
  return headers
}

/** Statements in its block. Header and body are those of `respond`. */
export const sendRows: readonly StatementRow[] = [
  {
    keyword: "url",
    required: true,
    forms: [{ args: [slot("url", "text", { label: '"URL"' })] }],
    docs: "The URL of the request. What an expression yields stays inside its path segment, query value or host label; only an expression at the beginning may yield more.",
    example: 'url "https://profiles.internal/${path.id}"',
  },
  { ...method.row, several: false, byDefault: "GET", docs: "The method of the request." },
  headerRow,
  bodyRow,
  {
    keyword: "copy",
    forms: [{ args: [] }],
    docs: "Starts with the method, headers and body of the caller's request.",
    example: "copy",
  },
  {
    keyword: "authenticate",
    forms: stepIdentityForms(),
    docs: "The gateway's credentials for the service.",
    example: 'authenticate basic "gateway" partner_password',
  },
  {
    keyword: "timeout",
    forms: [{ args: [foundTime] }],
    byDefault: "60s",
    docs: "Longest time for the complete response; then the request fails with 504. An expression is a `duration`, or seconds as an `int`.",
    example: "timeout 5s",
  },
  {
    keyword: "ignore-error",
    forms: [{ args: [] }],
    docs: "Continues without a response when the request fails: the variable is null.",
    example: "ignore-error",
  },
]

/** Printing and comparison of a step that sends a request to another service. */
export const sendRequest: StepText<"send-request"> = {
  print: (step, printing) => {
    const { url, method, media, body, authentication, timeoutSeconds, variable } = step
    if (url === undefined) printing.lacks("a request without its own URL")
    // Only documents can do that; gateway.conf has `ignore-error` and a variable, or `and forget`.
    if (step.wait && variable === undefined)
      printing.lacks("a request that is waited for but whose response is not stored")
    return statement(
      step.wait ? ["send", ...(variable === undefined ? [] : [variable])].join(" ") : "send and forget",
      step.mode === "copy" && "copy",
      url !== undefined && `url ${textWords(url)}`,
      method !== undefined && `method ${textWords(method)}`,
      headerLines(step.headers, 100, printing),
      body !== undefined && bodyStatement("body", media, body, printing),
      authentication !== undefined && authenticationText(authentication),
      timeoutSeconds !== secondsByDefault && `timeout ${timeText(timeoutSeconds)}`,
      flagText(step.ignoreError, "ignore-error", printing),
    )
  },
  // A step is the same statement if its variable is, even when everything in its block changed.
  identities: ({ variable }) => [`send ${variable ?? ""}`, "send"],
  added: ({ url, wait, ignoreError }) => [
    neutral("another service is called"),
    ...(wait && ignoreError !== true
      ? [breaking("without its response the request fails with 502 or 504")]
      : []),
    // Server-side request forgery: data of the caller in a URL of the internal network. So it is `opens`.
    ...(url !== undefined && fromCaller(url) ? [opens("data that callers send is part of the URL")] : []),
    ...secretsIn(url),
  ],
  removed: () => neutral("another service is no longer called"),
  changed: {
    mode: (_, after) =>
      after === "copy"
        ? opens("the other service gets the headers and the body of the caller")
        : neutral("the other service no longer gets the headers and the body of the caller"),
    url: (before, after) => [
      opens("another service is called: it gets the request, and its response is used"),
      ...callersDecide(before, after),
      ...secretsIn(after, before),
    ],
    method: (before, after) => [
      opens("the other service is called with another method"),
      ...callersDecide(before, after),
    ],
    headers: (before, after) => otherHeaders(before, after),
    media: () => opens("the other service gets a body of another type: its response may differ"),
    body: (before, after) => [
      ...escapingLost(before, after),
      opens("the other service gets another body: its response may differ"),
    ],
    authentication: otherIdentity("the other service"),
    timeoutSeconds: (before, after) =>
      neutral(`the other service has ${secondsText(after)} instead of ${secondsText(before)} to respond`),
    variable: (_, after) =>
      neutral(
        after === undefined
          ? "its response is not stored any more"
          : `its response is stored in \`${after}\``,
      ),
    ignoreError: (_, after) => withoutAnswer(after),
    wait: (_, after, items) =>
      after
        ? withoutAnswer(items.after.ignoreError)
        : neutral("no request waits for its response, and a failure is not reported"),
  },
}

/** Another service may answer differently to other headers, and the answer may decide about access, so every change `opens`. */
function otherHeaders(before: HeaderLines, after: HeaderLines): Finding[] {
  const known = (name: string) => before.find((line) => line.name === name)
  return [
    opens("the other service gets other headers: its response may differ"),
    ...after.flatMap(({ name, values }) =>
      values.flatMap((value, at) => [
        ...secretsIn(value, known(name)?.values[at]),
        ...callersDecide(known(name)?.values[at], value),
      ]),
    ),
  ]
}

function withoutAnswer(ignored: Flag): Finding {
  if (ignored === false) return breaking("without its response the request fails with 502 or 504")
  return ignored === true
    ? opens("without its response the request continues")
    : opens("without its response the request may continue")
}
