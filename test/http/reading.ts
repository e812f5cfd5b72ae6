import { ResponseParser } from "../../runtime/http/client/http1/response-parser.ts"

/** What was made of the bytes of a connection. */
export interface Reading {
  readonly status?: number
  readonly fields?: readonly string[]
  readonly body?: string
  readonly trailers?: readonly string[]
  /** The answer ended where it should. */
  readonly whole: boolean
  /** Nothing came behind it. */
  readonly clean?: boolean
  /** Why the bytes are no answer. */
  readonly error?: string
}

/** Reads the pieces as one answer; `closed`: the connection ends behind them. */
export function read(
  pieces: readonly Buffer[],
  { toHead = false, closed = true }: { toHead?: boolean; closed?: boolean } = {},
): Reading {
  const found: { -readonly [K in keyof Reading]: Reading[K] } = { whole: false }
  const parser = new ResponseParser({
    onHead: ({ status, fields }) => {
      found.status = status
      found.fields = fields
      found.body = ""
    },
    onBody: (bytes) => {
      found.body += bytes.toString("latin1")
    },
    onMessageEnd: (trailers, clean) => {
      found.trailers = trailers
      found.whole = true
      found.clean = clean
    },
  })
  parser.begin(toHead)
  try {
    for (const piece of pieces) if (!found.whole && piece.length > 0) parser.push(piece)
    if (closed && !found.whole) parser.finish()
  } catch (error) {
    found.error = (error as Error).message
  }
  return found
}

/** Cuts bytes at these places. */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places)].sort((a, b) => a - b)
  const pieces: Buffer[] = []
  let from = 0
  for (const place of [...sorted, bytes.length]) {
    pieces.push(bytes.subarray(from, place))
    from = place
  }
  return pieces
}
