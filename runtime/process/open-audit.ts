import type { AuditPorts } from "../control/audit.ts"
import { type AuditRow, appendAudit, pruneAudit, readAudit } from "../store/audit-log.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import { type AuditSink, openAuditSink, sinkName } from "./audit-sinks.ts"

/** The audit log of a process, with the places to which its rows are copied. */
export interface AuditLog extends AuditPorts {
  /** Rows that a sink did not take, by sink. */
  readonly dropped: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Opens the log. `sinks`: `stdout`, `file:PATH` or an HTTP URL; `token`: sent to URLs as bearer token. */
export function openAudit(
  database: Database,
  log: Log,
  {
    sinks = [],
    token,
  }: { readonly sinks?: readonly string[] | undefined; readonly token?: string | undefined } = {},
): AuditLog {
  const opened = sinks.map((place): [string, AuditSink] => [
    sinkName(place),
    openAuditSink(place, { log, token }),
  ])
  const copy = (row: AuditRow): void => {
    for (const [, sink] of opened)
      sink.write(`{"seq":${row.seq},"hash":"${row.hash}","entry":${row.entry}}\n`)
  }
  return {
    append: async (content) => {
      const row = await appendAudit(database, content)
      copy(row)
      return row.seq
    },
    read: (range) => readAudit(database, range),
    prune: (olderThanSeconds) => pruneAudit(database, olderThanSeconds),
    onLost: (error) =>
      log.error(
        { err: error },
        "a row of the audit log could not be written; its request changed nothing, or its first row exists",
      ),
    get dropped() {
      return new Map(opened.map(([place, sink]) => [place, sink.dropped]))
    },
    close: async () => {
      await Promise.all(opened.map(([, sink]) => sink.close()))
    },
  }
}
