/** Something with a deadline. An object can be on only one list at a time. */
export interface Timed {
  /** Called once at the deadline; the entry has been removed from the list. */
  expired(): void
}

interface Entry {
  readonly owner: Timed
  dueMs: number
  previous: Entry | undefined
  next: Entry | undefined
  list: DueList | undefined
}

interface DueList {
  first: Entry | undefined
  last: Entry | undefined
}

/** A handle to cancel the deadline. */
export type Deadline = Entry

const tickMs = 20

/**
 * Timers for many requests with few different durations: one FIFO list per duration, so that setting and cancelling cost a few pointer writes, and
 * one interval that checks the first entries. Late by at most one tick, never early. A setTimeout per request costs ten times as much.
 */
export class Deadlines {
  readonly #lists = new Map<number, DueList>()
  readonly #now: () => number
  readonly #isDriven: boolean
  #size = 0
  #ticking: NodeJS.Timeout | undefined

  /** `isDriven`: its owner calls `tick` when the clock has moved, and there is no interval. */
  constructor(now: () => number = () => performance.now(), isDriven = false) {
    this.#now = now
    this.#isDriven = isDriven
  }

  /** When the next deadline is, by its clock; undefined: there is none. */
  get nextMs(): number | undefined {
    let next: number | undefined
    for (const { first } of this.#lists.values())
      if (first !== undefined && (next === undefined || first.dueMs < next)) next = first.dueMs
    return next
  }

  /** Adds a deadline to the end of the list of its duration; the list stays sorted, because time only grows. */
  set(owner: Timed, afterMs: number): Deadline {
    let list = this.#lists.get(afterMs)
    if (list === undefined) {
      list = { first: undefined, last: undefined }
      this.#lists.set(afterMs, list)
    }
    const entry: Entry = { owner, dueMs: this.#now() + afterMs, previous: list.last, next: undefined, list }
    if (list.last === undefined) list.first = entry
    else list.last.next = entry
    list.last = entry
    this.#size += 1
    if (!this.#isDriven) this.#ticking ??= setInterval(() => this.tick(), tickMs).unref()
    return entry
  }

  /** Removes a deadline in constant time. */
  cancel(entry: Deadline | undefined): void {
    if (entry?.list === undefined) return
    const { list, previous, next } = entry
    if (previous === undefined) list.first = next
    else previous.next = next
    if (next === undefined) list.last = previous
    else next.previous = previous
    entry.list = undefined
    // An old, finished entry would keep all later entries and their requests reachable, so that the young-generation collector could not free them.
    entry.previous = undefined
    entry.next = undefined
    this.#size -= 1
  }

  /** Runs what is due. One interval serves all deadlines: a timer for each request costs more than the request. */
  tick(): void {
    const now = this.#now()
    for (const [duration, list] of this.#lists) {
      for (let entry = list.first; entry !== undefined && entry.dueMs <= now; entry = list.first) {
        this.cancel(entry)
        entry.owner.expired()
      }
      // Durations come from plans: lists of durations that are no longer used must not accumulate.
      if (list.first === undefined) this.#lists.delete(duration)
    }
    if (this.#size === 0) {
      clearInterval(this.#ticking)
      this.#ticking = undefined
    }
  }
}
