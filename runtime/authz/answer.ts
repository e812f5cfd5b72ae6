/** What every answer about a store says in its headers, in the form `writeHead` takes fastest. */
export type AnswerHeaders = readonly string[]

/** Told the cause of an `internal_error`, which the client is not. */
export type LogFault = (error: unknown, requestId: string) => void

/** Items of one piece, and how long a text may get before it is sent in pieces. */
const itemsMax = 512
const wholeTextMax = 1 << 16

/** Without a body nothing is sent. */
export interface ApiResponse {
  readonly status: number
  /** To be sent as JSON; a string is JSON already. */
  readonly body?: object | string
  /** JSON as well, as its bytes. */
  readonly bytes?: Uint8Array
  /** Text instead of JSON. */
  readonly text?: string
  /** JSON as well, made or sent piece by piece, as fast as the client reads. */
  readonly pieces?: Iterable<string | Uint8Array>
  /** NDJSON instead of JSON, in pieces that end with a line's end; taken from it as fast as the client reads. */
  readonly lines?: Iterable<string>
  readonly headers?: AnswerHeaders
}

/** The part of an answer that is JSON: a text where it is short, else pieces that are made while they are sent, so that no turn of the event loop makes all of them. */
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

/** The JSON of a value. What can be iterated is a list, which need not be in memory; what is undefined is left out. */
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
  // Few items may be large ones.
  for (const item of items) {
    yield before
    yield* jsonPieces(item)
    before = ","
  }
  yield before === "[" ? "[]" : "]"
}
