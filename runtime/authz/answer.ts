import type { Reply } from "../http/server/incoming.ts"

/** Headers of every response about a store, in the form that `writeHead` processes fastest. */
export type AnswerHeaders = readonly string[]

/** Called with the cause of an `internal_error`, which the client does not get. */
export type LogFault = (error: unknown, requestId: string) => void

/** Items per piece; and the length up to which a text is sent at once. */
const itemsMax = 512
const wholeTextMax = 1 << 16

/** Without a body the response is empty. */
export interface ApiResponse {
  readonly status: number
  /** Sent as JSON; a string is already JSON. */
  readonly body?: object | string
  /** JSON as bytes. */
  readonly bytes?: Uint8Array
  /** Text instead of JSON. */
  readonly text?: string
  /** JSON in pieces, which are made as fast as the client reads. */
  readonly pieces?: Iterable<string | Uint8Array>
  /** NDJSON instead of JSON, in pieces that end with a line end. They are requested as fast as the client reads. */
  readonly lines?: Iterable<string>
  /** Server-Sent Events: it gets the response when the head was written, and ends it. */
  readonly events?: (response: Reply) => void
  readonly headers?: AnswerHeaders
}

/**
 * The JSON part of a response: a text when it is short, else pieces that are made while they are sent, so that no single turn of the event
 * loop makes all of them.
 */
export function jsonAnswer(value: object): Pick<ApiResponse, "body" | "pieces"> {
  const pieces = jsonPieces(value)
  let text = ""
  for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
    text += next.value
    if (text.length > wholeTextMax) return { pieces: after(text, pieces) }
  }
  return { body: text }
}

function* after(text: string, rest: Iterable<string>): Generator<string> {
  yield text
  yield* rest
}

/** The JSON of a value. An iterable becomes a list, which need not be in memory; undefined fields are omitted. */
function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) yield JSON.stringify(value)
  else if (Symbol.iterator in value) yield* listPieces(value as Iterable<unknown>)
  else {
    let before = "{"
    for (const [key, inner] of Object.entries(value)) {
      if (inner === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* jsonPieces(inner)
      before = ","
    }
    yield before === "{" ? "{}" : "}"
  }
}

function* listPieces(list: Iterable<unknown>): Generator<string> {
  let before = "["
  let items: unknown[] = []
  for (const item of list) {
    items.push(item)
    if (items.length < itemsMax) continue
    yield `${before}${JSON.stringify(items).slice(1, -1)}`
    before = ","
    items = []
  }
  // A few items may still be large.
  for (const item of items) {
    yield before
    yield* jsonPieces(item)
    before = ","
  }
  yield before === "[" ? "[]" : "]"
}
