/** What every answer about a store says in its headers, in the form `writeHead` takes fastest. */
export type AnswerHeaders = readonly string[]

/** Told the cause of an `internal_error`, which the client is not. */
export type LogFault = (error: unknown, requestId: string) => void

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
