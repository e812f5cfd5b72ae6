// What clients of three processes see while something fails: throughput, calls without an answer, the longest time without a write, and how
// long a commit takes to all watchers. Real processes on a primary with a standby (fsync on), pgbouncer and Redis, all on this machine.
import { setTimeout as sleep } from "node:timers/promises"
import { type Answer, Client } from "../machines/client.ts"
import { applyPlan, type Failure, failures, type Scene } from "../machines/failures.ts"
import { Fleet } from "../machines/fleet.ts"
import { type Kind, Traffic } from "../machines/traffic.ts"
import { Watcher } from "../machines/watcher.ts"
import { Random } from "../naive/random.ts"

const durable = ["fsync=on", "full_page_writes=on", "max_wal_size=4GB"]
const calmMs = 10_000
/** After an event, until its effects are over. */
const afterMs = 2_000
const markEveryMs = 100
const importLines = 20_000
const importBatches = 50

interface Seen {
  readonly kind: Kind
  readonly atMs: number
  readonly answer: Answer
}

/** Calls and commits between two moments. */
class Observed {
  readonly fromMs = performance.now()
  readonly seen: Seen[] = []
  readonly lagsMs: number[] = []

  row(what: string, wrong: number) {
    const seconds = (performance.now() - this.fromMs) / 1_000
    const good = this.seen.filter(({ answer }) => answer.status !== 0 && answer.status < 500)
    return {
      what,
      value: Math.round(good.length / seconds),
      unit: "answers/s",
      seconds: Math.round(seconds),
      // Clients go on asking a process that does not run; behind a load balancer they would not.
      "no answer": this.seen.length - good.length,
      "check ms": percentiles(timesOf(good, "check")),
      "write ms": percentiles(timesOf(good, "write")),
      "without a write ms": Math.round(this.#longestWithout("write")),
      "to watchers ms": percentiles(this.lagsMs),
      wrong,
      ok: wrong === 0,
    }
  }

  /** The longest time in which nobody got an answer of this kind. */
  #longestWithout(kind: Kind): number {
    let [last, longest] = [this.fromMs, 0]
    for (const each of this.seen) {
      if (each.kind !== kind || each.answer.status !== 200) continue
      longest = Math.max(longest, each.atMs - last)
      last = each.atMs
    }
    return Math.max(longest, performance.now() - last)
  }
}

const timesOf = (seen: readonly Seen[], kind: Kind) =>
  seen.filter((each) => each.kind === kind).map(({ answer }) => answer.ms)

/** Median, 99th percentile and maximum. */
function percentiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10
  return sorted.length === 0 ? "–" : `${at(0.5)} / ${at(0.99)} / ${at(1)}`
}

/** Tuples in large batches, at whichever machine answers; each batch again until it is done. */
async function importMillion({ fleet, client }: Scene): Promise<void> {
  for (let batch = 0; batch < importBatches; batch++) {
    const lines = Array.from({ length: importLines }, (_, at) =>
      JSON.stringify({ user: `user:m${at}`, relation: "viewer", object: `order:bulk${batch}` }),
    )
    const machine = fleet.machines[batch % fleet.machines.length]
    for (let attempt = 0; ; attempt++) {
      const { status, body } = await client.ask(`${machine?.url("authz")}/stores/acme/bulk-write`, {
        text: lines.join("\n"),
      })
      if (status === 200) break
      if (attempt > 100) throw new Error(`the import is answered ${status}: ${JSON.stringify(body)}`)
      await sleep(100)
    }
  }
}

const failure = (name: string) => failures[name] as Failure

const events: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  "nothing fails": () => sleep(calmMs),
  "a process is killed, and starts again": failure("kill"),
  "a rolling restart of one process": failure("restart"),
  "the primary dies, its standby has all": failure("failOver"),
  "the primary dies with the last commits": failure("failOverWithLoss"),
  "Redis restarts without its data": failure("restartRedis"),
  "a plan every second": async (scene) => {
    for (let plan = 0; plan < 10; plan++) {
      await applyPlan(scene)
      await sleep(1_000)
    }
  },
  "1,000,000 tuples are imported": importMillion,
}

const client = new Client(32)
const fleet = await Fleet.start(client, { postgres: durable, redisWaitMs: 100 })
try {
  await bench()
} finally {
  await fleet.stop()
  await client.close()
}

async function bench(): Promise<void> {
  let observed = new Observed()
  const random = new Random(1)
  const traffic = new Traffic(fleet, client, random, "1", {
    ...{ writers: 4, readers: 8, callers: 2, pauseMs: 2 },
    onAnswer: (kind, _machine, answer) => observed.seen.push({ kind, atMs: performance.now(), answer }),
  })
  const scene: Scene = { fleet, traffic, client, random, beside: [] }
  const watchers = fleet.machines.map((_, at) => new Watcher(fleet.machines, at))
  const received = new Map<string, number>()
  for (const watcher of watchers) {
    await watcher.start()
    watcher.onCommit = (commit) => {
      for (const change of commit)
        if (change.includes(":mark")) received.set(change, (received.get(change) ?? 0) + 1)
    }
  }
  let ended = false
  const marking = (async () => {
    while (!ended) {
      const change = `write ${await traffic.mark()}`
      const beganMs = performance.now()
      while (!ended && (received.get(change) ?? 0) < watchers.length && performance.now() - beganMs < 10_000)
        await sleep(1)
      // A watcher that had to begin anew after a loss does not get it.
      if ((received.get(change) ?? 0) >= watchers.length) observed.lagsMs.push(performance.now() - beganMs)
      await sleep(markEveryMs)
    }
  })()
  traffic.start()
  await sleep(afterMs)
  for (const [what, event] of Object.entries(events)) {
    const wrongBefore = traffic.wrong.length + traffic.oracle.wrong.length
    observed = new Observed()
    await event(scene)
    await sleep(afterMs)
    const wrong = traffic.wrong.length + traffic.oracle.wrong.length - wrongBefore
    console.log(JSON.stringify(observed.row(what, wrong)))
  }
  ended = true
  await Promise.all([traffic.stop(), marking, ...watchers.map((watcher) => watcher.stop())])
  for (const said of [...traffic.wrong, ...traffic.oracle.wrong].slice(0, 20)) console.error(said)
}
