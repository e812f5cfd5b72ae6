import type { AuditPorts } from "../control/audit.ts"
import { type AuditRow, appendAudit, pruneAudit, readAudit } from "../store/audit-log.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import { type AuditSink, openAuditSink, sinkName } from "./audit-sinks.ts"
import type { OutageRollbacks } from "./outage-rollbacks.ts"

/** The audit log of a process, with the places to which its rows are copied. */
export interface AuditLog extends AuditPorts {
  /** Copies a row that is in the log already to the sinks. */
  copy(row: AuditRow): void
  /** Rows that a sink did not take, by sink. */
  readonly dropped: ReadonlyMap<string, number>
  close(): Promise<void>
}

/**
 * Opens the log. `sinks`: `stdout`, `file:PATH` or an HTTP URL; `token`: sent to URLs as bearer token. `outage`: what was done without the database
 * comes into the log before anything newer.
 */
export function openAudit(
  database: Database,
  log: Log,
  {
    sinks = [],
    token,
    outage,
  }: {
    readonly sinks?: readonly string[] | undefined
    readonly token?: string | undefined
    readonly outage?: OutageRollbacks | undefined
  } = {},
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
    copy,
    ...(outage && { journal: (content) => outage.append(content) }),
    append: async (content) => {
      await outage?.settle()
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
