/** Memory of a new batch, and of the next ones while it is not enough. */
const firstBytes = 64 * 1024
/** A collector accepts 20 MiB by default, proxies before it often 1 MiB. */
const bytesMax = 2 ** 20
const spansMax = 2_048

/**
 * The body of a request to the collector, written as spans end. Bytes in one piece of memory outside the heap: texts that wait would be copied by the
 * garbage collector several times.
 */
export class SpanBatch {
  spans = 0
  readonly #end: string
  #memory: Buffer
  #used: number

  /** `start` and `end`: what comes before and after the spans. `memory`: that of a batch which is no longer needed. */
  constructor(start: string, end: string, memory: Buffer = Buffer.allocUnsafeSlow(firstBytes)) {
    this.#memory = memory
    this.#end = end
    this.#used = 0
    this.#write(start)
  }

  /** Bytes that it has so far. */
  get bytes(): number {
    return this.#used
  }

  /** Adds spans as JSON, separated by commas. False: it is full, and a new one must be begun. A trace stays whole, so the first one always fits. */
  add(json: string, spans: number): boolean {
    const isFirst = this.spans === 0
    if (!isFirst && (this.spans + spans > spansMax || this.#used + json.length > bytesMax)) return false
    if (!isFirst) this.#write(",")
    this.#write(json)
    this.spans += spans
    return true
  }

  /** Ends it. Returns the whole body. */
  seal(): Buffer {
    this.#write(this.#end)
    return this.#memory.subarray(0, this.#used)
  }

  /** Its memory, for another batch; undefined if it is unusually large. Only after the body was sent. */
  get memory(): Buffer | undefined {
    return this.#memory.length <= bytesMax * 2 ? this.#memory : undefined
  }

  #write(text: string): void {
    // In UTF-8 a UTF-16 unit has at most three bytes. Only when they may not fit are they counted.
    if (this.#used + text.length * 3 > this.#memory.length) this.#reserve(Buffer.byteLength(text))
    this.#used += this.#memory.write(text, this.#used, "utf8")
  }

  #reserve(bytes: number): void {
    let size = this.#memory.length
    while (size < this.#used + bytes) size *= 2
    if (size === this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(size)
    this.#memory.copy(larger, 0, 0, this.#used)
    this.#memory = larger
  }
}
