import { type FileHandle, mkdir, open, readdir, stat, unlink } from "node:fs/promises"
import { join } from "node:path"
import type { SealingKey } from "../sealing/sealing-key.ts"
import type { RecordedRequest } from "./recorded-request.ts"
import { frameOf, newSegment, segmentEnd } from "./segment.ts"

/** What was recorded, and what was not. `queue-full`: the disk is too slow. `write-failed`: it refused. */
export interface RecordCounts {
  recorded: number
  bytes: number
  readonly dropped: { "queue-full": number; "write-failed": number }
}

/** Where a writer writes, and how much. */
export interface RecordWriterOptions {
  /** Absolute. */
  readonly folder: string
  readonly key: SealingKey
  /** Of all segments in the folder. */
  readonly bytesMax: number
  readonly counts: RecordCounts
  /** Called when writing fails, with the reason, and when it works again. */
  readonly onChange: (reason: string | undefined) => void
  /** How long requests wait until they are written, in milliseconds (default: 1000). */
  readonly everyMs?: number
}

/** Requests in memory that are not written yet, in characters. */
const queueMax = 2 ** 22
/** A frame is written when so many characters wait, before its time. */
const frameMin = 2 ** 16
/** Segments of a full record. */
const segmentsMin = 32
const segmentBytesMax = 2 ** 25
const everyMsDefault = 1_000

/**
 * Writes requests to segments in a folder, and deletes the oldest segments when all of them together are too large, also those of other processes. It never
 * waits in the path of a request: what cannot be written in time is counted and dropped.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions
  readonly #segmentBytes: number
  #queue: string[] = []
  #queued = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #file: OpenSegment | undefined
  #isFailing = false
  #isClosed = false

  constructor(options: RecordWriterOptions) {
    this.#options = options
    this.#segmentBytes = Math.min(segmentBytesMax, Math.floor(options.bytesMax / segmentsMin))
  }

  /** `text`: a request as JSON, in one line. */
  write(text: string): void {
    const { dropped } = this.#options.counts
    if (this.#isClosed || this.#queued + text.length > queueMax) {
      dropped["queue-full"] += 1
      return
    }
    this.#queue.push(text)
    this.#queued += text.length
    if (this.#queued >= frameMin) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), this.#options.everyMs ?? everyMsDefault).unref()
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#flush()
    await this.#writing
    await this.#file?.handle.close().catch(() => undefined)
    this.#file = undefined
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const lines = this.#queue
      this.#queue = []
      this.#queued = 0
      await this.#writeFrame(lines)
    }
  }

  async #writeFrame(lines: readonly string[]): Promise<void> {
    const { counts, key } = this.#options
    try {
      this.#file ??= await this.#openSegment()
      const file = this.#file
      const frame = frameOf(key, file.id, file.frames, lines.join("\n"))
      await file.handle.appendFile(frame)
      file.frames += 1
      file.bytes += frame.length
      counts.recorded += lines.length
      counts.bytes += frame.length
      if (file.bytes >= this.#segmentBytes) await this.#endSegment()
      await this.#deleteOldest()
      this.#report(undefined)
    } catch (error) {
      counts.dropped["write-failed"] += lines.length
      this.#report((error as NodeJS.ErrnoException).code ?? String(error))
      // A part of the frame may have been written, so nothing can follow it.
      await this.#endSegment()
    }
  }

  async #openSegment(): Promise<OpenSegment> {
    const { folder, key } = this.#options
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const { id, head } = newSegment(key)
    // Names sort by time; the id makes them different.
    const name = `${String(Date.now()).padStart(15, "0")}-${process.pid}-${id}${segmentEnd}`
    const handle = await open(join(folder, name), "ax", 0o600)
    await handle.appendFile(head)
    return { name, id, handle, frames: 0, bytes: head.length }
  }

  async #endSegment(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.handle.close().catch(() => undefined)
  }

  async #deleteOldest(): Promise<void> {
    const { folder, bytesMax } = this.#options
    const segments = await segmentsIn(folder)
    let total = segments.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { name, bytes } of segments) {
      if (total <= bytesMax || name === this.#file?.name) break
      // Another process may have deleted it.
      await unlink(join(folder, name)).catch(() => undefined)
      total -= bytes
    }
  }

  #report(reason: string | undefined): void {
    const isFailing = reason !== undefined
    if (isFailing === this.#isFailing) return
    this.#isFailing = isFailing
    this.#options.onChange(reason)
  }
}

interface OpenSegment {
  readonly name: string
  readonly id: string
  readonly handle: FileHandle
  frames: number
  bytes: number
}

/** The segments of a folder, the oldest first. @throws the system's error when the folder cannot be read */
export async function segmentsIn(
  folder: string,
): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(segmentEnd)).sort()
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return names.map((name, at) => ({ name, bytes: sizes[at] ?? 0 }))
}

/** A request as the line of a record. `hidden`: texts that must not be in it, wherever they come from. */
export function lineOf(request: RecordedRequest, hidden: readonly string[]): string {
  const line = JSON.stringify(request)
  const found = hidden.filter(
    (text) => text.length >= hiddenMin && line.includes(JSON.stringify(text).slice(1, -1)),
  )
  if (found.length === 0) return line
  // The longest first: it may contain others.
  found.sort((a, b) => b.length - a.length)
  const clean = (text: string) => found.reduce((rest, each) => rest.replaceAll(each, "left-out"), text)
  return JSON.stringify(request, (_, value: unknown) => (typeof value === "string" ? clean(value) : value))
}

/** Shorter texts occur by chance. */
const hiddenMin = 6
