import type { Sent } from "./both.ts"
import type { ContractCall } from "./contract-calls.ts"

/** What a server said to a call, as far as the contract says it. */
export interface Heard {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly json: any
  readonly headers: Readonly<Record<string, string>>
}

/** One call and both answers. */
export interface Exchange {
  readonly call: ContractCall
  readonly theirs: Heard
  readonly ours: Heard
}

const headersCompared = ["content-type", "openfga-store-id", "openfga-authorization-model-id"]
const bodiless = 204

/** An answer without what is different each time: ids, times, tokens, the order of lists that have none. */
export function heardOf({ status, headers, text }: Sent): Heard {
  const kept = headersCompared.flatMap((name) => {
    const value = headers.get(name)
    return value === null || (status === bodiless && name === "content-type")
      ? []
      : [[name, /^([0-9A-Z]{26}(, )?)+$/.test(value) ? "an id" : value]]
  })
  const json = text.trim() === "" ? undefined : jsonOf(text, headers.get("content-type") ?? "")
  return { status, json: steady(json, ""), headers: Object.fromEntries(kept) }
}

function jsonOf(text: string, type: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (!/json/.test(type)) return text
    const lines = text.trim().split("\n")
    return { lines: lines.map((line) => JSON.parse(line)) }
  }
}

/** Lists without an order. */
const unordered = new Set(["users", "excluded_users", "objects", "lines", "computed", "results"])

function steady(value: unknown, name: string): unknown {
  if (typeof value === "string") {
    if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)) return "a time"
    if (name === "continuation_token") return value === "" ? "" : "a token"
    return /^[0-9A-HJKMNP-TV-Z]{26}$/.test(value) ? "an id" : value
  }
  if (Array.isArray(value)) {
    const items = value.map((each) => steady(each, ""))
    return unordered.has(name) ? items.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1)) : items
  }
  if (value === null || typeof value !== "object") return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, steady(each, key)]))
}

export const textOf = (value: unknown): string => JSON.stringify(value) ?? ""

/** What is said of a tuple or value, without how the tuple is written down and by which way the server came to it. */
function reasonOf(message: unknown): string {
  return String(message)
    .replace(/^(?:invalid tuple: |invalid relation: |Invalid tuple '.*?'\. Reason: )+/s, "")
    .replace(/^parameter type error on condition '.*?' - /, "")
    .replace(/^(failed to convert context parameter '.*?'): .*$/s, "$1")
    .replace(/\s+$/, "")
}

const isFault = (heard: Heard) => heard.status >= 400
const faultOf = ({ json }: Heard) =>
  (json?.error?.message === undefined ? json : json.error) as
    | { code?: unknown; message?: unknown }
    | undefined
const messageOf = (heard: Heard) => String(faultOf(heard)?.message ?? "")
const sameReason = ({ theirs, ours }: Exchange) =>
  theirs.status === ours.status && reasonOf(messageOf(theirs)) === reasonOf(messageOf(ours))
const sameHeaders = ({ theirs, ours }: Exchange) => textOf(theirs.headers) === textOf(ours.headers)
const refusedByBoth = ({ theirs, ours }: Exchange) => theirs.status === 400 && ours.status === 400
const decoder =
  /^(syntax error )?\(line \d+:\d+\)|^parsing field|^invalid character|^malformed JSON|^json: |^unexpected |^cannot decode|^invalid escape|^illegal base64|^bad /

/** Named differences, the first that fits counts. Each name is the first column of a line of compiler/docs/coming-from/openfga.md. */
export const contractDifferences: readonly {
  readonly name: string
  readonly is: (exchange: Exchange) => boolean
}[] = [
  {
    name: "headers of a failure",
    is: (exchange) =>
      isFault(exchange.theirs) &&
      !sameHeaders(exchange) &&
      textOf(exchange.theirs.json) === textOf(exchange.ours.json),
  },
  { name: "`{store}`", is: ({ call, ours }) => call.method === "DELETE" && ours.status === 204 },
  { name: "unknown store", is: ({ ours }) => ours.json?.code === "store_id_not_found" },
  { name: "`PATCH /stores/{store}`", is: ({ call, ours }) => call.method === "PATCH" && ours.status < 300 },
  { name: "body too large", is: ({ theirs, ours }) => theirs.status === 500 && ours.status === 413 },
  {
    name: "context nested deeper than 64",
    is: ({ ours }) => messageOf(ours).endsWith("nested deeper than 64"),
  },
  {
    name: "NUL, half a surrogate pair, invalid UTF-8",
    is: ({ call, ours }) => ours.status === 400 && /\\u0000|\\ud800/.test(textOf(call.body)),
  },
  {
    name: "control characters in a context",
    is: ({ theirs, ours }) =>
      messageOf(theirs).endsWith("contains forbidden characters") && ours.status === 200,
  },
  {
    name: "size of a stored context",
    is: ({ theirs, ours }) =>
      [theirs, ours].every((heard) => messageOf(heard).includes("condition context size limit exceeded")),
  },
  {
    name: "a type error in JSON",
    is: (exchange) => refusedByBoth(exchange) && decoder.test(messageOf(exchange.theirs)),
  },
  {
    name: "a key twice that is not a field",
    is: ({ ours }) => /^malformed JSON: line \d+ has the key .* a second time/.test(messageOf(ours)),
  },
  {
    name: "text behind the JSON of a body",
    is: ({ call, ours }) =>
      typeof call.body === "string" && messageOf(ours).includes("after JSON at position"),
  },
  {
    name: "a path that ends with a slash",
    is: ({ call, ours }) => call.path.endsWith("/") && ours.status === 404,
  },
  {
    name: "several fields against their rules",
    is: (exchange) => refusedByBoth(exchange) && messageOf(exchange.theirs).includes("; invalid "),
  },
  {
    name: "Content-Type of a stream",
    is: ({ call, theirs, ours }) =>
      call.path.endsWith("/streamed-list-objects") &&
      theirs.status === 200 &&
      textOf(theirs.json) === textOf(ours.json),
  },
  {
    name: "camelCase names of fields",
    is: ({ call, theirs }) =>
      call.changes?.some((change) => change.endsWith("spelled otherwise")) === true ||
      (theirs.status === 200 && /\?(?:pageSize|startTime)=/.test(call.path)),
  },
  {
    name: "a tuple in a message",
    is: (exchange) =>
      isFault(exchange.theirs) &&
      exchange.theirs.json?.code === exchange.ours.json?.code &&
      sameReason(exchange),
  },
  {
    name: "a contextual tuple with a wrong condition",
    is: (exchange) =>
      exchange.theirs.json?.code === "invalid_tuple" &&
      exchange.ours.json?.code === "validation_error" &&
      sameReason(exchange),
  },
  {
    name: "order of read",
    is: ({ call, theirs, ours }) =>
      call.path.endsWith("/read") &&
      theirs.status === 200 &&
      ours.status === 200 &&
      theirs.json.tuples.length === ours.json.tuples.length &&
      theirs.json.continuation_token === ours.json.continuation_token,
  },
  {
    name: "list-users: an object that can be none (`a b`, `*`)",
    is: ({ call, theirs, ours }) =>
      call.path.endsWith("/list-users") &&
      ours.status === 400 &&
      theirs.status === 200 &&
      textOf(theirs.json) === '{"users":[]}',
  },
  {
    name: "`start_time` that is no time",
    is: (exchange) => refusedByBoth(exchange) && exchange.ours.json.code === "invalid_start_time",
  },
  {
    name: "a refused model",
    is: (exchange) => refusedByBoth(exchange) && exchange.call.path.endsWith("/authorization-models"),
  },
  {
    name: "headers with a model",
    is: ({ call, theirs, ours }) =>
      call.path.includes("/authorization-models") &&
      theirs.status < 300 &&
      textOf(theirs.json) === textOf(ours.json),
  },
  {
    name: "blanks of Unicode in names of a model",
    is: ({ call, theirs, ours }) =>
      call.path.endsWith("/authorization-models") &&
      theirs.status === 201 &&
      ours.json?.code === "type_invalid_pattern" &&
      /\u00a0/.test(textOf(call.body)),
  },
  {
    name: "which of several errors is reported",
    is: (exchange) => refusedByBoth(exchange) && (exchange.call.changes?.length ?? 0) > 1,
  },
  {
    name: "a deletion of what can be no tuple",
    is: ({ call, theirs, ours }) =>
      call.path.endsWith("/write") &&
      ours.status === 400 &&
      (theirs.status === 200 || theirs.json?.code === "write_failed_due_to_invalid_input") &&
      /'(?:object|relation)' field/.test(messageOf(ours)),
  },
  {
    name: "AuthZEN: requests",
    is: (exchange) => refusedByBoth(exchange) && exchange.call.path.includes("/access/v1/"),
  },
  {
    name: "an invalid token",
    is: ({ theirs, ours }) => theirs.status === 500 && ours.json?.code === "invalid_continuation_token",
  },
  {
    name: "a parameter of the query twice",
    is: ({ call, theirs }) => call.path.includes("?") && messageOf(theirs).startsWith("too many values"),
  },
]

/** What is different in a contextual tuple of a batch is in one item of the answer. */
function itemsOf({ json }: Heard): readonly [string, Heard][] | undefined {
  if (json?.result === null || typeof json?.result !== "object") return undefined
  return Object.entries(json.result).map(([id, item]) => {
    const { error } = item as { error?: { input_error?: string; internal_error?: string; message: string } }
    return [
      id,
      error === undefined
        ? { status: 200, json: item, headers: {} }
        : {
            status: 400,
            json: { code: error.input_error ?? error.internal_error, message: error.message },
            headers: {},
          },
    ]
  })
}

/** The names of how two answers differ: none when they are the same, undefined when there is a difference without a name. */
export function namesOf(exchange: Exchange): readonly string[] | undefined {
  const { call, theirs, ours } = exchange
  if (textOf(theirs) === textOf(ours)) return []
  const found = contractDifferences.find(({ is }) => is(exchange))
  if (found !== undefined) return [found.name]
  const [one, other] = [itemsOf(theirs), itemsOf(ours)]
  if (one === undefined || other?.length !== one.length) return undefined
  if (textOf(theirs.headers) !== textOf(ours.headers)) return undefined
  const names = one.map(([id, heard], at) => {
    const [ownId, own] = other[at] ?? []
    if (ownId !== id || own === undefined) return undefined
    return namesOf({ call: { ...call, path: "item" }, theirs: heard, ours: own })
  })
  return names.includes(undefined) ? undefined : names.flatMap((each) => each ?? [])
}
