import { parallelStatement } from "../steps/parallel.ts"
import { retryStatement } from "../steps/retry.ts"
import { method } from "../steps/set-method.ts"
import { set } from "../steps/set-variable.ts"
import type { StepBlock } from "./block-name.ts"
import { textOrExpression } from "./content.ts"
import { sendAuthenticate } from "./credentials.ts"
import { many, oneOf, optional, type Row, slot, word } from "./row.ts"

const seconds = { min: 1_000, max: 31_536_000, wholeSeconds: true } as const
const variable = slot("variable", "value-name", { label: "NAME" })

const send: Row = {
  keyword: "send",
  several: true,
  forms: [
    { args: [word("and"), word("forget")], block: "send", blockRequired: true },
    { args: [variable], block: "send", blockRequired: true },
  ],
  docs: "Asks another service and leaves its response in a variable: `var.NAME.status`, `.headers`, `.body` (its JSON), `.text`. With `and forget` nobody waits.",
  example: 'send profile { url "https://profiles.internal/${path.id}" }',
}

const trace: Row = {
  keyword: "trace",
  several: true,
  forms: [
    {
      args: [
        slot("message", "text"),
        optional(word("as"), slot("severity", "choice", { choices: ["verbose", "information", "error"] })),
      ],
    },
  ],
  docs: "Writes a line to the log.",
  example: 'trace "no stock for ${path.id}" as error',
}

const metric: Row = {
  keyword: "metric",
  several: true,
  forms: [
    {
      args: [
        variable,
        word("tokens"),
        slot("tokens", "choice", { choices: ["prompt", "completion", "total"] }),
      ],
      block: "metric",
    },
    { args: [variable, optional(slot("amount", "expression"))], block: "metric" },
  ],
  docs: "Adds to the counter `author_NAME_total` on /metrics, 1 unless an expression says how much; or the tokens a language model used for the call, as its answer says.",
  example: 'metric orders_placed { label tenant "${request.header("X-Tenant")}" }',
}

export const metricRows: readonly Row[] = [
  {
    keyword: "label",
    several: 20,
    forms: [{ args: [variable, slot("value", "text")] }],
    docs: "A label of the counter; after 2,000 combinations the rest counts as `other`.",
    example: 'label tenant "${request.header("X-Tenant")}"',
  },
]

/** A time that is written out, or found per request. */
const found = oneOf([slot("seconds", "expression")], [slot("time", "duration", seconds)])
const storing = [found, optional(word("if"), slot("test", "condition"))] as const

/** In `inbound` and `outbound` also the two halves of `cache response`, each where it is to run. */
const cacheHalves: Readonly<Record<StepBlock, Row["forms"]>> = {
  inbound: [{ args: [word("lookup")], block: "cache lookup" }],
  outbound: [{ args: [word("store"), ...storing] }],
  "on-error": [],
}

const halvesDocs: Readonly<Record<StepBlock, string>> = {
  inbound: " `lookup` answers with what a `cache store` in `outbound` has kept for such a request.",
  outbound: " `store` keeps the answer as it is now, for the `cache lookup` in `inbound`.",
  "on-error": "",
}

function cache(block: StepBlock): Row {
  return {
    keyword: "cache",
    several: true,
    forms: [
      ...cacheHalves[block],
      {
        args: [
          word("get"),
          variable,
          slot("key", "text"),
          optional(word("default"), oneOf([slot("expression", "expression")], [slot("value", "text")])),
        ],
      },
      { args: [word("set"), slot("key", "text"), textOrExpression, word("for"), found] },
      { args: [word("remove"), slot("key", "text")] },
      {
        args: [word("value"), variable, slot("key", "text"), word("for"), found],
        block,
        blockRequired: true,
      },
    ],
    docs: `Reads, keeps or forgets a value. \`value\` makes it with the statements of its block where it is not there, once for all who wait. A time may be found by an expression: a \`duration\`, or seconds as an \`int\`.${halvesDocs[block]}`,
    example: 'cache get rates "rates" default ({})',
  }
}

/** Statements of every block that runs. */
export function flowRows(block: StepBlock): readonly Row[] {
  return [set.row, send, cache(block), retryStatement(block).row, parallelStatement(block).row, trace, metric]
}

export const useBackend: Row = {
  keyword: "use",
  several: true,
  forms: [
    { args: [word("backend"), slot("backend", "reference", { to: ["backend"] })] },
    { args: [word("url"), slot("url", "text", { label: '"URL"' }), optional(word("raw"))] },
    {
      args: [word("weighted"), optional(word("by"), slot("key", "text"))],
      block: "weighted",
      blockRequired: true,
    },
    { args: [word("by"), slot("value", "text")], block: "choices", blockRequired: true },
  ],
  docs: "Sends the request to another backend: by name, by weight (with `by` the same for the same text), by what a text says, or to a URL. With `raw` an expression may decide the host.",
  example: "use backend orders_v2",
}

export const weightedRows: readonly Row[] = [
  {
    keyword: "backend",
    several: 50,
    required: true,
    forms: [
      {
        args: [
          slot("backend", "reference", { to: ["backend"] }),
          word("weight"),
          slot("weight", "count", { min: 0, max: 1000 }),
        ],
      },
    ],
    docs: "A backend and its share.",
    example: "backend orders_v2 weight 5",
  },
]

export const choiceRows: readonly Row[] = [
  {
    keyword: "case",
    several: 200,
    required: true,
    forms: [
      { args: [slot("value", "constant", { max: 1024 }), slot("backend", "reference", { to: ["backend"] })] },
    ],
    docs: "The backend where the text is this.",
    example: 'case "beta" orders_v2',
  },
  {
    keyword: "otherwise",
    forms: [{ args: [slot("backend", "reference", { to: ["backend"] })] }],
    byDefault: "the route's own backend",
    docs: "The backend where the text is something else.",
    example: "otherwise orders_v1",
  },
  {
    keyword: "refuse-others",
    forms: [{ args: [] }],
    docs: "A text that is something else is an error (500) and does not lead to the route's own backend.",
    example: "refuse-others",
  },
]

/** Statements of `send`. */
export function sendRows(body: Row, header: Row): readonly Row[] {
  return [
    {
      keyword: "url",
      required: true,
      forms: [{ args: [slot("url", "text", { label: '"URL"' })] }],
      docs: "What is asked. What an expression brings stays inside of its segment, query value or label of the host; only one that is the beginning may be more.",
      example: 'url "https://profiles.internal/${path.id}"',
    },
    { ...method.row, several: false, byDefault: "GET", docs: "The method it is asked with." },
    header,
    body,
    {
      keyword: "copy",
      forms: [{ args: [] }],
      docs: "Begins with the method, headers and body of the caller's request.",
      example: "copy",
    },
    sendAuthenticate,
    {
      keyword: "timeout",
      forms: [{ args: [found] }],
      byDefault: "60s",
      docs: "Longest time for all of it; then the request fails with 504. An expression is a `duration`, or seconds as an `int`.",
      example: "timeout 5s",
    },
    {
      keyword: "ignore-error",
      forms: [{ args: [] }],
      docs: "Without a response the variable is null, and the request goes on.",
      example: "ignore-error",
    },
  ]
}

export const onError: Row = {
  keyword: "on-error",
  several: true,
  forms: [{ args: [], block: "on-error", blockRequired: true }],
  docs: "What happens to the answer when something broke, in this order: `error` says what, `response` is the answer as it would go out. Requests that no route serves are answered without it.",
  example: 'on-error { header set "X-Reason" "${error.reason}" }',
}

const seldom = many(slot("name", "header-name"), 50)

export const cacheResponse: Row = {
  keyword: "cache",
  forms: [{ args: [word("response"), ...storing], block: "cache response" }],
  docs: "Keeps answers of GET, with status 200 or where the condition holds, for a time: looked for behind all `inbound` statements, kept as the backend sent them, so that every `outbound` statement runs over them. Answers with cookies, or said to be private, for no cache or stale at once (`max-age=0`), are not kept, nor are those to requests with a token; how long the others are kept is said here alone.",
  example: 'cache response 60s { vary header "Accept-Language" }',
}

export const cacheResponseRows: readonly Row[] = [
  {
    keyword: "vary",
    several: 2,
    forms: [
      { args: [word("header"), seldom] },
      { args: [word("query"), oneOf([word("none")], [many(slot("parameter", "query-name"), 50)])] },
    ],
    byDefault: "by the whole query",
    docs: "Headers and query parameters by which answers differ.",
    example: 'vary header "Accept-Language"',
  },
  {
    keyword: "key",
    forms: [{ args: [slot("key", "text")] }],
    docs: "A text by which answers differ too.",
    example: 'key "${jwt.tenant}"',
  },
  {
    keyword: "shared",
    forms: [{ args: [] }],
    docs: "Answers to requests with a token are kept too, and given to whoever asks the same.",
    example: "shared",
  },
  {
    keyword: "coalesce",
    forms: [{ args: [] }],
    docs: "Of several requests that find nothing at the same time one asks the backend, the others wait.",
    example: "coalesce",
  },
  {
    keyword: "downstream",
    forms: [
      {
        args: [slot("who", "choice", { choices: ["private", "public"] }), optional(word("must-revalidate"))],
      },
    ],
    byDefault: "what the backend says",
    docs: "What Cache-Control tells callers, with the time that is left.",
    example: "downstream private",
  },
]
