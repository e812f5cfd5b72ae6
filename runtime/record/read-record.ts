import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { markOf } from "./mark.ts"
import { segmentsIn } from "./record-writer.ts"
import type { RecordedRequest } from "./recorded-request.ts"
import { readSegment, recordKey, type SegmentEnding } from "./segment.ts"

/** A record that is read. */
export interface OpenRecord {
  /** How many segments ended how; complete after the last request. */
  readonly endings: Readonly<Record<SegmentEnding, number>>
  requests(): AsyncGenerator<RecordedRequest>
  /** The keyed digest by which the record identifies a text. */
  mark(text: string): string
}

/**
 * Opens the record in a folder. The order of requests is that of the segments and of the requests in them, the same in every reading.
 * @throws the system's error when the folder cannot be read
 */
export async function openRecord(folder: string, secret: string): Promise<OpenRecord> {
  const key = recordKey(secret)
  const segments = await segmentsIn(folder)
  const endings: Record<SegmentEnding, number> = { whole: 0, torn: 0, damaged: 0, foreign: 0, unknown: 0 }
  return {
    endings,
    async *requests() {
      for (const { name } of segments) {
        // The ring may have deleted it meanwhile.
        const content = await readFile(join(folder, name)).catch(() => undefined)
        if (content !== undefined) endings[yield* readSegment(key, content)] += 1
      }
    },
    mark: (text) => markOf(key, text),
  }
}
