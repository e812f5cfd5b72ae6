import type { OpenRecorder } from "../gateway/generation/recorder-of-plan.ts"
import { lineOf, type RecordCounts, RecordWriter } from "../record/record-writer.ts"
import { recordKey } from "../record/segment.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"

/** Opens the records of a process, and counts what all of them do. */
export class ProcessRecording {
  readonly #counts: RecordCounts = {
    recorded: 0,
    bytes: 0,
    dropped: { "queue-full": 0, "write-failed": 0 },
  }
  readonly #writers = new Set<RecordWriter>()
  readonly #log: Log

  constructor(log: Log, metrics: Metrics) {
    this.#log = log
    addRecordMetrics(metrics, this.#counts)
  }

  /** Opens the record of a plan. */
  readonly open: OpenRecorder = ({ folder, secret, bytesMax }) => {
    const key = recordKey(secret)
    const writer = new RecordWriter({
      ...{ folder, key, bytesMax, counts: this.#counts },
      onChange: (reason) =>
        reason === undefined
          ? this.#log.info({ folder }, "requests are recorded again")
          : this.#log.warn({ folder, reason }, "requests cannot be recorded"),
    })
    this.#writers.add(writer)
    return {
      value: {
        write: (request, hidden) => writer.write(lineOf(request, hidden)),
        mark: (text) => key.mark(text),
      },
      close: () => void writer.close().then(() => this.#writers.delete(writer)),
    }
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    await Promise.all([...this.#writers].map((writer) => writer.close()))
  }
}

function addRecordMetrics(metrics: Metrics, counts: RecordCounts): void {
  metrics.observableCounter(
    "sallyport_recorded_requests_total",
    "Requests that were written to the record.",
    [],
    () => [[[], counts.recorded]],
  )
  metrics.observableCounter(
    "sallyport_record_bytes_total",
    "Bytes that were written to the record.",
    [],
    () => [[[], counts.bytes]],
  )
  metrics.observableCounter(
    "sallyport_record_dropped_total",
    "Requests that were to be recorded and were not, by reason.",
    ["reason"],
    () => Object.entries(counts.dropped).map(([reason, count]) => [[reason], count] as const),
  )
}
