import { checkInOrder } from "../steps/check-header.ts"
import { allow, deny } from "../steps/ip-filter.ts"
import { concurrencyBlock } from "../steps/limit-concurrency.ts"
import { quota } from "../steps/quota.ts"
import { limit } from "../steps/rate-limit.ts"
import { rewriteStatement } from "../steps/rewrite.ts"
import { header } from "../steps/set-header.ts"
import { forwardHost } from "../steps/set-host.ts"
import { method } from "../steps/set-method.ts"
import { query } from "../steps/set-query.ts"
import { answerStatus, status } from "../steps/set-status.ts"
import { whenStatement } from "../steps/when.ts"
import { bodyContent } from "./content.ts"
import { authenticate } from "./credentials.ts"
import { flowRows, redirect, sendRows, useBackend } from "./flow.ts"
import { relationRows, requireRow } from "./relations.ts"
import { many, optional, type Row, slot, word } from "./row.ts"
import { validateAnswer, validateContentInOrder } from "./validation.ts"

const values = many(slot("value", "text"), 100)
const jsonpForm = { args: [word("jsonp"), slot("callback", "text", { label: '"PARAMETER"' })] }

/** `outbound`: what makes a script of an answer stands there alone. */
const bodyRow = (outbound: boolean): Row => ({
  keyword: "body",
  several: true,
  forms: [
    ...(outbound ? [jsonpForm] : []),
    { args: [word("mask-urls")], block: "mask-urls" },
    { args: [word("set"), bodyContent] },
    { args: [word("replace"), slot("from", "text"), word("with"), slot("to", "text")] },
    { args: [word("json-to-xml")], block: "json-to-xml" },
    { args: [word("xml-to-json")], block: "xml-to-json" },
  ],
  docs: "Replaces the body, replaces a text in it wherever it stands, or converts it between JSON and XML. In JSON an expression inside quotes is escaped, elsewhere it is a JSON value; `xml` escapes it for the text or the attribute it stands in. In `text` nothing is escaped. `mask-urls` makes absolute URLs of the backend in a text those of the gateway (in a request the other way round); the backend is then asked for whole answers, never for a part (`Range`); `jsonp` makes a script of a JSON answer to GET where the query parameter names a function.",
  example: 'body set json ({"error": "no such order"})',
})

const body = bodyRow(false)

export const respond: Row = {
  keyword: "respond",
  several: true,
  forms: [
    { args: [word("from"), slot("variable", "value-name"), optional(...answerStatus)], block: "respond" },
    { args: answerStatus, block: "respond" },
  ],
  docs: "Answers, and ends the section. `from` begins with the response a `send` left in a variable.",
  example: 'respond 403 { body json ({"error": "no"}) }',
}

export const respondRows: readonly Row[] = [
  {
    keyword: "body",
    forms: [{ args: [bodyContent] }],
    byDefault: "no body",
    docs: "The body of the answer.",
    example: 'body json ({"state": gateway.state})',
  },
  {
    keyword: "header",
    several: 50,
    forms: [{ args: [slot("name", "header-name"), values] }],
    docs: "A header of the answer.",
    example: 'header "Cache-Control" "no-store"',
  },
]

export const inboundRows: readonly Row[] = [
  allow.row,
  deny.row,
  checkInOrder.row,
  limit,
  quota,
  concurrencyBlock,
  requireRow,
  validateContentInOrder,
  header.row,
  query.row,
  rewriteStatement.row,
  forwardHost.row,
  authenticate,
  body,
  method.row,
  useBackend,
  respond,
  redirect,
  whenStatement("inbound").row,
  ...flowRows("inbound"),
]

export const outboundRows: readonly Row[] = [
  ...relationRows,
  validateAnswer,
  header.row,
  status.row,
  bodyRow(true),
  respond,
  redirect,
  whenStatement("outbound").row,
  ...flowRows("outbound"),
]

export const onErrorRows: readonly Row[] = [
  validateAnswer,
  header.row,
  status.row,
  body,
  respond,
  redirect,
  whenStatement("on-error").row,
  ...flowRows("on-error"),
]

/** Statements of `send`; header and body are those of an answer. */
export const sentRows: readonly Row[] = sendRows(respondRows[0] as Row, respondRows[1] as Row)

/** `respond` in an operation is short for `inbound { respond … }`. */
export const operationRespond: Row = { ...respond, several: false }
