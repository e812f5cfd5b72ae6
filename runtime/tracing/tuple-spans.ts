import { firstAttribute, textAttribute, wholeAttribute } from "./attributes.ts"
import { randomId } from "./random-ids.ts"
import type { RecordedPart, RequestTrace } from "./request-trace.ts"

const system = firstAttribute("db.system.name")("postgresql")
const operation = textAttribute("db.operation.name")
const collection = textAttribute("db.collection.name")("tuples")
const rowsReturned = wholeAttribute("db.response.returned_rows")
const pagesRead = wholeAttribute("sallyport.engine.pages")
const batchSize = wholeAttribute("db.operation.batch.size")
const errorKind = textAttribute("error.type")

/** The time in which a question waited for tuples of the database. Times are those of `performance.now()`. */
export interface TupleRead {
  readonly started: number
  readonly ended: number
  /** Pages that the question lacked, and the rows in them. */
  readonly pages: number
  readonly rows: number
}

/**
 * The span of a read of tuples, with the attributes of OpenTelemetry's conventions for databases. One statement may read for several questions: then each
 * of them has a span with the pages that it waited for, below its own request.
 */
class ReadSpan implements RecordedPart {
  readonly spanId = randomId(8)
  readonly parentSpanId: string | undefined
  readonly kind = "client"
  readonly spanName = "SELECT tuples"
  readonly error = undefined
  readonly #read: TupleRead

  constructor(read: TupleRead, parentSpanId: string | undefined) {
    this.#read = read
    this.parentSpanId = parentSpanId
  }

  get started(): number {
    return this.#read.started
  }

  get ended(): number {
    return this.#read.ended
  }

  attributes(): string {
    const { pages, rows } = this.#read
    return system + operation("SELECT") + collection + rowsReturned(rows) + pagesRead(pages)
  }
}

/** Adds the reads of a question to a trace. `asker`: the part that asked; undefined: the request itself. */
export function addReads(
  trace: RequestTrace,
  asker: RecordedPart | undefined,
  reads: readonly TupleRead[] | undefined,
): void {
  if (reads !== undefined) for (const read of reads) trace.add(new ReadSpan(read, asker?.spanId))
}

/** The span of a commit of tuples: inserts and deletes. It contains the wait for a connection to the database. */
class WriteSpan implements RecordedPart {
  readonly spanId = randomId(8)
  readonly parentSpanId = undefined
  readonly started = performance.now()
  ended: number | undefined
  readonly kind = "client"
  readonly spanName = "BATCH tuples"
  error: string | undefined
  readonly #rows: number

  constructor(rows: number) {
    this.#rows = rows
  }

  attributes(): string {
    return system + operation("BATCH") + collection + batchSize(this.#rows) + errorKind(this.error)
  }
}

/** Runs a commit of `rows` tuples as a part of a trace, if there is one that is recorded. */
export async function asWrite<Outcome>(
  trace: RequestTrace | undefined,
  rows: number,
  commit: () => Promise<Outcome>,
): Promise<Outcome> {
  if (trace?.recording !== true) return commit()
  const span = new WriteSpan(rows)
  trace.add(span)
  try {
    return await commit()
  } catch (error) {
    span.error = "commit"
    throw error
  } finally {
    span.ended = performance.now()
  }
}
