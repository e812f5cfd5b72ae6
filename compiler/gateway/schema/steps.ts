import { allow, check, concurrencyBlock, deny } from "./access.ts"
import { oneOf, type Row, slot, word } from "./row.ts"

const content = oneOf([slot("expression", "expression")], [slot("text", "text")])

const header: Row = {
  keyword: "header",
  several: true,
  forms: [
    { args: [word("set"), slot("name", "header-name"), slot("value", "text")] },
    { args: [word("append"), slot("name", "header-name"), slot("value", "text")] },
    { args: [word("default"), slot("name", "header-name"), slot("value", "text")] },
    { args: [word("remove"), slot("name", "header-name")] },
  ],
  docs: "Changes a header: `set` replaces it, `append` adds a line, `default` sets it only where it is absent, `remove` deletes it.",
  example: 'header set "X-User-Id" "${jwt.sub}"',
}

const query: Row = {
  keyword: "query",
  several: true,
  forms: [
    { args: [word("set"), slot("name", "query-name"), slot("value", "text")] },
    { args: [word("remove"), slot("name", "query-name")] },
  ],
  docs: "Changes a query parameter of the request to the backend.",
  example: 'query set "tenant" "${jwt.tenant}"',
}

const rewrite: Row = {
  keyword: "rewrite",
  several: true,
  forms: [{ args: [slot("path", "text", { label: '"/PATH"' })] }],
  docs: "The path of the request to the backend, below the backend's own base path. What an expression brings is one segment.",
  example: 'rewrite "/internal/orders/${path.id}"',
}

const forwardHost: Row = {
  keyword: "forward-host",
  several: true,
  forms: [{ args: [word("preserve")] }, { args: [slot("host", "text")] }],
  byDefault: "the backend's host",
  docs: "The Host header of the request to the backend: the caller's own, or a text.",
  example: "forward-host preserve",
}

const body: Row = {
  keyword: "body",
  several: true,
  forms: [{ args: [word("set"), slot("media", "choice", { choices: ["json", "text"] }), content] }],
  docs: "Replaces the body. In JSON an expression inside quotes is escaped, elsewhere it is a JSON value.",
  example: 'body set json ({"error": "no such order"})',
}

export const respond: Row = {
  keyword: "respond",
  several: true,
  forms: [{ args: [slot("status", "status", { min: 200, max: 599 })], block: "respond" }],
  docs: "Answers, and ends the section.",
  example: 'respond 403 { body json ({"error": "no"}) }',
}

export const respondRows: readonly Row[] = [
  {
    keyword: "body",
    forms: [{ args: [slot("media", "choice", { choices: ["json", "text"] }), content] }],
    byDefault: "no body",
    docs: "The body of the answer.",
    example: 'body json ({"state": gateway.state})',
  },
  {
    keyword: "header",
    several: 50,
    forms: [{ args: [slot("name", "header-name"), slot("value", "text")] }],
    docs: "A header of the answer.",
    example: 'header "Cache-Control" "no-store"',
  },
]

function when(block: "inbound" | "outbound"): Row {
  return {
    keyword: "when",
    several: true,
    otherwise: true,
    forms: [{ args: [slot("test", "condition")], block, blockRequired: true }],
    docs: "Runs its statements if the condition holds, those of `else` if not.",
    example:
      'when (request.method == "POST") { header set "X-Writes" "1" } else { header remove "X-Writes" }',
  }
}

export const inboundRows: readonly Row[] = [
  allow,
  deny,
  check,
  concurrencyBlock,
  header,
  query,
  rewrite,
  forwardHost,
  body,
  respond,
  when("inbound"),
]

export const outboundRows: readonly Row[] = [header, body, respond, when("outbound")]

/** `respond` in an operation is short for `inbound { respond … }`. */
export const operationRespond: Row = { ...respond, several: false }
