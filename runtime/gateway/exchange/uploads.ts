import type { Deadline, Deadlines, Timed } from "../backends/deadlines.ts"
import type { Patience } from "../backends/patience.ts"
import type { RequestBody } from "./request-body.ts"

/** A body on its way to a target, of which the client has not sent everything yet. */
export interface Upload {
  readonly body: RequestBody
  /** Who sends it: callers have a share of the places, and not all of them. */
  readonly caller: string
  /** It may take a connection. */
  begin(): void
  /** Too many of its kind wait already. */
  refuse(): void
}

/** Shares of a target's connections, as divisors. What is left over serves requests that wait for no client. */
const shares = {
  /** Bodies that are fast enough: three quarters, of one caller a quarter. */
  fast: { all: 4 / 3, caller: 4 },
  /** Bodies that bring next to nothing, such as streams that pause: an eighth, of one caller a thirty-second. */
  slow: { all: 8, caller: 32 },
} as const
/** Bodies that are fast enough and wait for others to end, and those of one caller: each holds as much as a connection would be given at once. */
const waitingMax = { all: 1024, caller: 256 } as const

type Pace = "fast" | "slow"

/**
 * Who may hold connections to a target while a client is still sending: a connection is lent to no one who brings nothing. A body that is here as a whole needs no
 * place. One of which a bound is here, or that comes fast enough, takes one of many; what is slower takes one of few.
 */
export class Uploads {
  readonly #connectionsMax: number
  readonly #held = { fast: new Count(), slow: new Count() }
  /** In the order in which they came to be what they are. */
  readonly #waiting = { fast: new Set<UploadSlot>(), slow: new Set<UploadSlot>() }
  readonly #queued = new Count()

  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax
  }

  /** `begin` is called when there is a place for it, perhaps at once. The place is given back when the body is here or given up, or by `leave`. */
  enter(upload: Upload, waiting: { readonly deadlines: Deadlines; readonly patience: Patience }): UploadSlot {
    return new UploadSlot(this, upload, waiting)
  }

  /** How many bodies hold a connection now. */
  get holding(): number {
    return this.#held.fast.all + this.#held.slow.all
  }

  /** A body wants a place of this kind. False: too many wait for one. */
  wait(slot: UploadSlot, pace: Pace): boolean {
    const { caller } = slot
    if (pace === "fast" && !this.#mayTake(caller, pace)) {
      if (this.#queued.all >= waitingMax.all || this.#queued.of(caller) >= waitingMax.caller) return false
    }
    // Again and again slow: it keeps its turn.
    if (this.#waiting[pace].has(slot)) return true
    this.#forget(slot)
    this.#waiting[pace].add(slot)
    if (pace === "fast") this.#queued.add(caller, 1)
    this.#flush()
    return true
  }

  leave(slot: UploadSlot, held: Pace | undefined): void {
    this.#forget(slot)
    if (held === undefined) return
    this.#held[held].add(slot.caller, -1)
    this.#flush()
  }

  #forget(slot: UploadSlot): void {
    this.#waiting.slow.delete(slot)
    if (this.#waiting.fast.delete(slot)) this.#queued.add(slot.caller, -1)
  }

  #flush(): void {
    for (const pace of ["fast", "slow"] as const)
      for (const slot of this.#waiting[pace]) {
        if (this.#isFull(pace)) break
        if (!this.#mayTake(slot.caller, pace)) continue
        this.#forget(slot)
        this.#held[pace].add(slot.caller, 1)
        slot.take(pace)
      }
  }

  #isFull(pace: Pace): boolean {
    return this.#held[pace].all >= this.#most(shares[pace].all)
  }

  #mayTake(caller: string, pace: Pace): boolean {
    return !this.#isFull(pace) && this.#held[pace].of(caller) < this.#most(shares[pace].caller)
  }

  #most(divisor: number): number {
    return Math.max(1, Math.floor(this.#connectionsMax / divisor))
  }
}

/** One body, from when it waits for its place until it needs none. */
export class UploadSlot implements Timed {
  readonly #uploads: Uploads
  readonly #upload: Upload
  readonly #deadlines: Deadlines
  readonly #patience: Patience
  readonly #startedMs = performance.now()
  #deadline: Deadline | undefined
  #held: Pace | undefined
  #isFast = false
  #begun = false
  #over = false

  constructor(
    uploads: Uploads,
    upload: Upload,
    { deadlines, patience }: { readonly deadlines: Deadlines; readonly patience: Patience },
  ) {
    this.#uploads = uploads
    this.#upload = upload
    this.#deadlines = deadlines
    this.#patience = patience
    this.#deadline = deadlines.set(this, patience.uploadMs)
    upload.body.gather(this.#changed)
    this.#changed()
  }

  get caller(): string {
    return this.#upload.caller
  }

  /** Its turn has come. */
  take(pace: Pace): void {
    this.#held = pace
    this.#deadlines.cancel(this.#deadline)
    this.#begin()
  }

  /** It needs none any more. */
  leave(): void {
    if (this.#over) return
    this.#over = true
    this.#deadlines.cancel(this.#deadline)
    this.#uploads.leave(this, this.#held)
  }

  /** A part of a second has passed: its rate is known, and what is slow may have one of the few places. */
  expired(): void {
    const { uploadMs, uploadBytesMin } = this.#patience
    const windows = (performance.now() - this.#startedMs) / uploadMs
    if (this.#upload.body.received >= uploadBytesMin * windows) this.#isFastEnough()
    else {
      this.#deadline = this.#deadlines.set(this, uploadMs)
      this.#uploads.wait(this, "slow")
    }
  }

  readonly #changed = (): void => {
    const { body } = this.#upload
    if (body.destroyed) this.leave()
    else if (body.isHere) {
      this.leave()
      this.#begin()
    } else if (body.isHeld) this.#isFastEnough()
  }

  #isFastEnough(): void {
    if (this.#isFast || this.#held !== undefined) return
    this.#isFast = true
    this.#deadlines.cancel(this.#deadline)
    if (this.#uploads.wait(this, "fast")) return
    this.#begun = true
    this.leave()
    this.#upload.refuse()
  }

  #begin(): void {
    if (this.#begun) return
    this.#begun = true
    this.#upload.begin()
  }
}

/** Numbers by caller, and their sum. */
class Count {
  all = 0
  readonly #byCaller = new Map<string, number>()

  of(caller: string): number {
    return this.#byCaller.get(caller) ?? 0
  }

  add(caller: string, amount: 1 | -1): void {
    this.all += amount
    const number = this.of(caller) + amount
    if (number === 0) this.#byCaller.delete(caller)
    else this.#byCaller.set(caller, number)
  }
}
