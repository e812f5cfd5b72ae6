import type { Deadline, Deadlines, Timed } from "../backends/deadlines.ts"
import type { Patience } from "../backends/patience.ts"
import type { RequestBody } from "./request-body.ts"

/** A body on its way to a target that the client has not sent completely. */
export interface Upload {
  readonly body: RequestBody
  /** Its parts may come at any time, and the backend may answer each of them: it takes a slot at once. */
  readonly isConversation: boolean
  /** The caller that sends it; each caller may use only a share of the slots. */
  readonly caller: string
  /** Called when it may take a connection. */
  begin(): void
  /** Called when too many bodies of its pace already wait. */
  refuse(): void
}

/** Shares of a target's connections, as divisors. The rest serves requests that do not wait for their client. */
const shares = {
  /** Bodies that are fast enough: three quarters in total, a quarter per caller. */
  fast: { all: 4 / 3, caller: 4 },
  /** Bodies that are too slow, such as paused streams: an eighth in total, a thirty-second per caller. */
  slow: { all: 8, caller: 32 },
} as const
/** Limits of waiting fast bodies, in total and per caller. Each keeps in memory as much as a connection would take at once. */
const waitingMax = { all: 1024, caller: 256 } as const

type Pace = "fast" | "slow"

/**
 * Decides which bodies may hold connections to a target while their clients are still sending, so that idle clients cannot block connections. A
 * complete body needs no slot. A body that has filled its buffer, or is fast enough, takes one of many slots; a slower one takes one of few.
 */
export class Uploads {
  readonly #connectionsMax: number
  readonly #held = { fast: new Count(), slow: new Count() }
  /** In the order in which they joined their queue. */
  readonly #waiting = { fast: new Set<UploadSlot>(), slow: new Set<UploadSlot>() }
  readonly #queued = new Count()

  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax
  }

  /** Calls `begin` when there is a slot, possibly at once. The slot is released when the body is complete or has failed, or by `leave`. */
  enter(upload: Upload, waiting: { readonly deadlines: Deadlines; readonly patience: Patience }): UploadSlot {
    return new UploadSlot(this, upload, waiting)
  }

  /** Number of bodies that hold a connection. */
  get holding(): number {
    return this.#held.fast.all + this.#held.slow.all
  }

  /** Queues a body for a slot of this pace. False: too many wait already. */
  wait(slot: UploadSlot, pace: Pace): boolean {
    const { caller } = slot
    if (pace === "fast" && !this.#mayTake(caller, pace)) {
      if (this.#queued.all >= waitingMax.all || this.#queued.of(caller) >= waitingMax.caller) return false
    }
    // It was slow before and keeps its position.
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

  /** Gives free places to waiting uploads, fast ones first. A caller cannot take all of them. */
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

/** One body, until it no longer needs a slot. */
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

  /** An upload waits until its body is complete or known to be fast, so that slow ones do not hold connections to the backend. */
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
    if (upload.isConversation && !upload.body.isHere) this.#isFastEnough()
  }

  get caller(): string {
    return this.#upload.caller
  }

  /** Takes the slot. */
  take(pace: Pace): void {
    this.#held = pace
    this.#deadlines.cancel(this.#deadline)
    this.#begin()
  }

  /** The body no longer needs a slot. */
  leave(): void {
    if (this.#over) return
    this.#over = true
    this.#deadlines.cancel(this.#deadline)
    this.#uploads.leave(this, this.#held)
  }

  /** A measuring window has ended: the rate is known, and a slow body may take one of the few slots. */
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

  /** Marks the upload as fast once it has sent enough. */
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

/** Counts per caller, and in total. */
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
