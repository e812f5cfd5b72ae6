import { type DestinationStream, destination, type Logger, type LoggerOptions, pino } from "pino"
import { type LogNames, levelFields, lineNames, renamedFields } from "./log-names.ts"

/** The process's logger. Lines are JSON: `level`, `time` (RFC 3339), `msg` and the given fields. */
export type Log = Logger

/** `level` (default: `info`). */
export interface LogOptions {
  readonly level?: string
  /** Destination of the lines (default: standard output). */
  readonly stream?: DestinationStream
  /** Names of the fields (default: those of the manual). */
  readonly names?: LogNames
}

/**
 * Fields that must never appear in a log. The access log names its fields one by one and contains no secrets. This list protects lines that contain an
 * object from a library.
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

const notRenamed: ReadonlySet<string> = new Set(secretFields)

/** The form of lines. Fields are renamed only where other names are wanted, so that the usual ones cost nothing more. */
function formOf(names: LogNames, base: Record<string, unknown> | null): LoggerOptions {
  const { time, message } = lineNames[names]
  const rename = (line: Record<string, unknown>) =>
    names === "sallyport" ? line : renamedFields(line, names, notRenamed)
  return {
    base,
    messageKey: message,
    timestamp: () => `,"${time}":"${new Date().toISOString()}"`,
    formatters: {
      level: (label) => levelFields(label, names),
      ...(names === "sallyport" ? {} : { log: rename, bindings: rename }),
    },
  }
}

/** Makes the logger. It writes each line at once, so that the line with the reason of an exit is not lost. */
export function createLog(options: LogOptions = {}): Log {
  return pino(
    {
      ...formOf(options.names ?? "sallyport", null),
      level: options.level ?? "info",
      redact: {
        paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]),
        censor: "[redacted]",
      },
    },
    options.stream ?? destination({ dest: 1, sync: true }),
  )
}

/** The log of one of several workers. pino does not rename what a child adds. `pid`: its process id. */
export function logOfWorker(log: Log, pid: number, names: LogNames = "sallyport"): Log {
  const worker = { worker: pid }
  return log.child(names === "sallyport" ? worker : renamedFields(worker, names, notRenamed))
}

/** Linux writes up to this many bytes to a pipe as one piece, so lines of two processes do not mix (PIPE_BUF in pipe(7)). */
const atomicBytes = 4096

/**
 * The logger of the access log. It collects lines up to 8 KiB and writes at least once a second, because a write per request costs more than the rest of
 * the line. `flush` writes the remaining lines; call it when the gateway closes. `worker`: the process id, where several
 * workers write to the same output.
 */
export function createAccessLog(
  worker?: number,
  names: LogNames = "sallyport",
): { readonly log: Log; flush(): void; close(): void } {
  const isAlone = worker === undefined
  const size = isAlone ? { minLength: 8192 } : { minLength: atomicBytes / 2, maxWrite: atomicBytes }
  const stream = destination({ dest: 1, sync: true, ...size })
  const log = pino(formOf(names, isAlone ? null : { worker }), stream)
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
