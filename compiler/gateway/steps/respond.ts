import { utf8Length } from "#platform"
import type { HeaderLines } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, closes, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { inValues, readByBrowsers } from "../../analysis/message-rules.ts"
import { same } from "../../analysis/same.ts"
import { callersDecide, escapingLost, secretsIn } from "../../analysis/text-findings.ts"
import { didYouMean } from "../../core/nearest.ts"
import { isBodiless } from "../../openapi/mock-answer.ts"
import { type BoundStatement, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { lowerContent } from "../lower/content.ts"
import { statusOf } from "../lower/count.ts"
import { headerUse, mayWrite } from "../lower/header.ts"
import type { StepContext } from "../lower/step.ts"
import { countText, type Printed, type Printing, statement, textsOf } from "../print.ts"
import { bodyStatement, headerLines } from "../print-message.ts"
import { bodyContent } from "../schema/content.ts"
import { many, optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"
import { answerStatus } from "./set-status.ts"

type Respond = StepOf<"respond">

/** The body of a message that the gateway creates: a response, or a request to another service. */
export const bodyRow: StatementRow = {
  keyword: "body",
  forms: [{ args: [bodyContent] }],
  byDefault: "no body",
  docs: "The body of the response.",
  example: 'body json ({"state": gateway.state})',
}

/** A header of a message that the gateway creates. */
export const headerRow: StatementRow = {
  keyword: "header",
  several: 50,
  forms: [{ args: [slot("name", "header-name"), many(slot("value", "text"), 100)] }],
  docs: "A header of the response.",
  example: 'header "Cache-Control" "no-store"',
}

/** `respond STATUS "reason" { body …; header "Name" "value" }`, `respond from NAME { … }` */
export const respondStatement: StatementDefinition = {
  row: {
    keyword: "respond",
    several: true,
    forms: [
      { args: [word("from"), slot("variable", "value-name"), optional(...answerStatus)], block: "respond" },
      { args: answerStatus, block: "respond" },
    ],
    docs: "Sends a response and ends the section. `from NAME` starts with the response of a `send`.",
    example: 'respond 403 { body json ({"error": "no"}) }',
  },
  lower: (bound, context) => {
    const { texts, place, report, steps } = context
    const status = statusOf(bound, context)
    const from = bound.args.value<string>("variable")
    // `from` with a variable that was never set would be a response without a status.
    const begun = from === undefined || isSet(bound, from, context)
    if ((status === undefined && from === undefined) || !begun) return undefined
    const reasonAt = bound.args.text("reason")
    const reason = reasonAt === undefined ? undefined : texts.lower(reasonAt, place, headerUse(false))
    if (reasonAt !== undefined && reason === undefined) return undefined
    const bodyAt = statementOf(bound.block, "body")
    const content = bodyAt === undefined ? undefined : lowerContent(bodyAt, context)
    // 1xx, 204 and 304 end with their head (RFC 9110, section 6.4.1); a body would be read as the next response.
    if (bodyAt !== undefined && typeof status === "number" && isBodiless(status)) {
      report.add(
        "SP2029",
        bodyAt.statement.keyword.span,
        `a response with status ${status} cannot have a body`,
        {
          help: "Remove the body, or use another status.",
        },
      )
    }
    let complete = mentions(bound.block, "body") === (content !== undefined)
    const headers: StepOf<"respond">["headers"] = []
    for (const each of statementsOf(bound.block, "header")) {
      const name = each.args.value<string>("name")
      const nameAt = each.args.get("name")?.argument.span
      const argument = each.args.text("value")
      // The reader may not write framing headers: `Content-Length` and others are the gateway's.
      if (name === undefined || nameAt === undefined || argument === undefined) continue
      const value = mayWrite(name, nameAt, "response", report)
        ? texts.lower(argument, place, headerUse(false))
        : undefined
      // All headers are read, so that one run reports every mistake in them.
      if (value === undefined) complete = false
      else headers.push({ name, action: "set", values: [value] })
    }
    if (!complete) return undefined
    const body = content === undefined ? { media: null } : { media: content.media, body: content.content }
    const head = {
      ...(from === undefined ? {} : { from }),
      ...(status === undefined ? {} : { status }),
      ...(reason === undefined ? {} : { reason }),
    }
    return steps.add({ kind: "respond", ...head, ...body, headers }, headSpan(bound.statement))
  },
}

/** `redirect 302 "url"`: a response with a Location header. */
export const redirect: StatementDefinition = {
  row: {
    keyword: "redirect",
    several: true,
    forms: [
      { args: [slot("status", "status", { min: 300, max: 308 }), slot("url", "text", { label: '"URL"' })] },
    ],
    docs: "Sends a redirect to the URL and ends the section.",
    example: 'redirect 308 "https://new.example/orders"',
  },
  lower: (bound, { texts, place, steps }) => {
    const status = bound.args.value<number>("status")
    const argument = bound.args.text("url")
    const url = argument === undefined ? undefined : texts.lower(argument, place, headerUse(false))
    if (status === undefined || url === undefined) return undefined
    const headers = [{ name: "location", action: "set" as const, values: [url] }]
    return steps.add({ kind: "respond", status, headers, media: null }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that responds instead of the backend. */
export const respond: StepText<"respond"> = {
  print: (step, printing) => {
    const { from, status, reason, headers, media, body } = step
    // `docs` makes this step; its body is a document of many kilobytes.
    if (step.documentation === true) return description(body, printing)
    if (status === undefined && reason !== undefined) printing.lacks("a reason without a status")
    const words = [
      "respond",
      ...(from === undefined ? [] : [`from ${from}`]),
      ...(status === undefined ? [] : [countText(status)]),
    ]
    return statement(
      `${words.join(" ")}${textsOf(reason === undefined ? [] : [reason])}`,
      headerLines(headers, 1, printing),
      body !== undefined && bodyStatement("body", media, body, printing),
    )
  },
  identities: ({ status }) => [`respond ${status}`, "respond"],
  added: ({ status = 200, headers, body }) => [
    // A response of 4xx or 5xx refuses; any other replaces what callers got.
    typeof status === "number" && status >= 400
      ? closes(`these requests get ${status}`)
      : breaking(
          `these requests get ${countText(status)} from the gateway instead of a response of the backend`,
        ),
    ...secretsIn([headers, body]),
  ],
  removed: ({ status = 200 }) =>
    typeof status === "number" && status >= 400
      ? opens(`requests that got ${status} now continue`)
      : opens(`requests that got ${countText(status)} here now continue`),
  changed: {
    from: () => breaking("callers get another response"),
    status: (before = 200, after = 200) =>
      breaking(`callers get ${countText(after)} instead of ${countText(before)}`),
    reason: () => neutral("callers get another reason phrase"),
    media: () => breaking("callers get another body"),
    // Changes of an API document are reported at the routes that changed.
    body: (old, next, { after }) =>
      after.documentation
        ? neutral("the description of the API has changed")
        : [...escapingLost(old, next), breaking("callers get another body"), ...secretsIn(next, old)],
    documentation: (_, after) =>
      neutral(
        after
          ? "the response is now the description of the API"
          : "the response is no longer a description of the API",
      ),
    headers: otherHeaders,
  },
}

/** An API document is served by the statement `docs`, not by a statement of a section. */
function description(body: Respond["body"], printing: Printing): Printed {
  const text = body !== undefined && "text" in body && typeof body.text === "string" ? body.text : ""
  printing.lacks("the description of an API")
  return statement(`docs (${utf8Length(text)} bytes)`)
}

/** Headers by name: a removed one breaks callers, a new location sends them elsewhere, and each is checked for secrets. */
function otherHeaders(before: HeaderLines, after: HeaderLines): Finding[] {
  const valuesOf = (headers: HeaderLines, name: string) => headers.filter((each) => each.name === name)
  const names = [...new Set([...before, ...after].map(({ name }) => name))].filter(
    (name) => !same(valuesOf(before, name), valuesOf(after, name)),
  )
  const gone = names.filter((name) => valuesOf(after, name).length === 0)
  // Another target may be a page of an attacker, so the URL is judged on its own.
  const location = after.find(({ name }) => name.toLowerCase() === "location")
  return [
    ...(gone.length === 0 ? [] : [breaking(`responses no longer have \`${gone.join("`, `")}\``)]),
    ...(location !== undefined && names.includes(location.name)
      ? [
          breaking("callers are redirected to another URL"),
          ...inValues(
            before.find(({ name }) => name === location.name)?.values ?? [],
            location.values,
            callersDecide,
          ),
        ]
      : []),
    ...names.flatMap((name) => readByBrowsers(name, `\`${name}\``)),
    ...(gone.length === 0 ? [neutral("responses have other headers")] : []),
    ...secretsIn(after, before),
  ]
}

/** Whether an earlier statement sets the variable. Reports it if not. */
function isSet(bound: BoundStatement, name: string, { place, report }: StepContext): boolean {
  if (Object.hasOwn(place.variables, name)) return true
  const hint = didYouMean(name, Object.keys(place.variables))
  const detail = `no statement before this one sets \`${name}\`${hint}`
  report.add("SP5018", bound.args.get("variable")?.argument.span, detail)
  return false
}
