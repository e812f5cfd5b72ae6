import { type DestinationStream, destination, type Logger, pino } from "pino"

/** The process's logger. Lines are JSON: `level`, `time` (RFC 3339), `msg` and the fields given. */
export type Log = Logger

/** `level`: `info` when absent. */
export interface LogOptions {
  readonly level?: string
  /** Where lines go; standard output when absent. */
  readonly stream?: DestinationStream
}

/**
 * Fields that must never be read in a log wherever they come from. The access log names its fields one by one and has nothing to hide;
 * this guards lines that carry an object of somebody else's making.
 */
const secretFields = [
  "authorization",
  "cookie",
  "password",
  "token",
  "key",
  "secret",
  "x-api-key",
  "ocp-apim-subscription-key",
  "subscription-key",
]

/** Makes the logger. Lines are written at once: a line that says why a process ended must not be lost with it. */
export function createLog(options: LogOptions = {}): Log {
  return pino(
    {
      level: options.level ?? "info",
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]),
        censor: "[redacted]",
      },
    },
    options.stream ?? destination({ dest: 1, sync: true }),
  )
}

/**
 * The logger of the access log: gathers lines up to 8 KiB and writes at least once a second, because a write per request costs more than the rest of the line.
 * The rest is written by `flush`, which whoever closes the gateway calls.
 */
export function createAccessLog(): { readonly log: Log; flush(): void; close(): void } {
  const stream = destination({ dest: 1, sync: true, minLength: 8192 })
  const log = pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  )
  const timer = setInterval(() => stream.flush(), 1000)
  timer.unref()
  return {
    log,
    flush: () => stream.flushSync(),
    close() {
      clearInterval(timer)
      stream.flushSync()
    },
  }
}
