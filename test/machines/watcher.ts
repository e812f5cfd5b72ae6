import { setTimeout as sleep } from "node:timers/promises"
import { type EventClient, openEvents } from "../authz/event-client.ts"
import type { Machine } from "./fleet.ts"

/** A commit as a watcher got it: its changes, as `write user:a order:1`. */
export type SeenCommit = readonly string[]

/** What one watcher got without a gap, and why it had to begin anew after it; undefined: it is the last part. */
export interface SeenPart {
  readonly commits: SeenCommit[]
  end: "history_lost" | "changes_pruned" | undefined
}

/** A client that watches the store, at one machine after another: when a stream ends, it goes on at the next with its last token. */
export class Watcher {
  readonly parts: SeenPart[] = [{ commits: [], end: undefined }]
  /** What it was told that no watcher may be told. */
  readonly wrong: string[] = []
  readonly #machines: readonly Machine[]
  #at: number
  #after = ""
  #client: EventClient | undefined
  #stopped = false
  #ended: Promise<void> | undefined

  constructor(machines: readonly Machine[], first: number) {
    this.#machines = machines
    this.#at = first
  }

  /** Resolves when it has its place in the feed. */
  async start(): Promise<void> {
    while (!(await this.#open())) await sleep(25)
    this.#ended = this.#follow()
  }

  /** Calls back with each commit. */
  onCommit: (commit: SeenCommit) => void = () => undefined

  async stop(): Promise<void> {
    this.#stopped = true
    this.#client?.close()
    await this.#ended
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      await this.#client?.ended
      this.#client = undefined
      if (this.#stopped) return
      this.#at++
      while (!this.#stopped && !(await this.#open())) {
        this.#at++
        await sleep(25)
      }
    }
  }

  /** Whether there is a stream now. */
  async #open(): Promise<boolean> {
    const machine = this.#machines[this.#at % this.#machines.length] as Machine
    const headers: Record<string, string> = this.#after === "" ? {} : { "last-event-id": this.#after }
    const onEvent = ({ event, data, id }: { event: string; data: { code?: string }; id: string }) => {
      this.#after = id
      if (event === "error") this.#failed(data.code ?? "")
      else this.#took(data as never)
    }
    const client = await openEvents(`${machine.url("authz")}/stores/acme/watch`, headers, onEvent).catch(
      () => undefined,
    )
    if (client === undefined) return false
    if (client.status !== 200) {
      await client.ended
      this.#failed(/"code":"(\w+)"/.exec(client.text())?.[1] ?? "")
      if (client.status !== 409 && client.status !== 410 && client.status !== 503 && client.status !== 504)
        this.wrong.push(`${machine.name} refuses a watcher with ${client.status}: ${client.text()}`)
      return false
    }
    if (this.#stopped) client.close()
    this.#after = client.lastId() || this.#after
    this.#client = client
    return true
  }

  #took({
    changes,
  }: {
    changes: { tuple_key: { user: string; object: string }; operation: string }[]
  }): void {
    const commit = changes.map(
      ({ tuple_key: { user, object }, operation }) =>
        `${operation === "TUPLE_OPERATION_WRITE" ? "write" : "delete"} ${user} ${object}`,
    )
    this.parts.at(-1)?.commits.push(commit)
    this.onCommit(commit)
  }

  /** A client that is told that its place is gone reads the tuples, and begins anew from now. */
  #failed(code: string): void {
    if (code !== "history_lost" && code !== "changes_pruned") return
    const part = this.parts.at(-1)
    if (part !== undefined) part.end = code
    this.parts.push({ commits: [], end: undefined })
    this.#after = ""
  }
}

/**
 * Compares what a watcher got with the feed of the database: each commit once, whole, in order and without a gap. A part that ended because
 * history was lost may end with commits that `mayBeLost` knows.
 */
export function judgeWatcher(
  parts: readonly SeenPart[],
  feed: readonly SeenCommit[],
  mayBeLost: (change: string) => boolean,
): readonly string[] {
  const wrong: string[] = []
  const places = new Map(feed.map((commit, at) => [textOf(commit), at]))
  for (const { commits, end } of parts) {
    let next: number | undefined
    let isLost = false
    for (const commit of commits) {
      const place = places.get(textOf(commit))
      if (place === undefined) {
        isLost = true
        if (!commit.every(mayBeLost)) wrong.push(`a watcher got ${textOf(commit)}, which no feed has`)
      } else if (isLost) wrong.push(`a watcher got ${textOf(commit)} after a lost commit`)
      else if (next !== undefined && place !== next)
        wrong.push(`a watcher got commit ${place} of the feed where ${next} was due: ${textOf(commit)}`)
      if (place !== undefined) next = place + 1
    }
    if (isLost && end !== "history_lost") wrong.push("a watcher got lost commits and was not told")
    if (end === undefined && commits.length > 0 && next !== feed.length)
      wrong.push(`a watcher got the feed up to ${next}, and it has ${feed.length} commits`)
  }
  return wrong
}

/** Within a commit the order says nothing. */
const textOf = (commit: SeenCommit) => [...commit].sort().join(", ")
