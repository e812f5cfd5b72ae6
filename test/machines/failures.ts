import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../naive/random.ts"
import type { Client } from "./client.ts"
import type { Fleet, Machine } from "./fleet.ts"
import type { Traffic } from "./traffic.ts"

/** A fleet with its clients, to which something happens. */
export interface Scene {
  readonly fleet: Fleet
  readonly traffic: Traffic
  readonly client: Client
  readonly random: Random
  /** Work that goes on beside what happens next. */
  readonly beside: Promise<unknown>[]
}

/** Something that happens to a fleet under way; it resolves when it is over, though its effects may not be. */
export type Failure = (scene: Scene) => Promise<void>

/** All that can happen, by its name. */
export const failures: Readonly<Record<string, Failure>> = {
  kill,
  restart,
  freeze,
  failOver,
  failOverWithLoss,
  crashDatabase,
  startWithoutDatabase,
  endSessions,
  restartRedis,
  withoutRedis,
  applyPlans,
  importTuples,
  prune,
  suspendKey,
}

const countsInRedis = "sallyport_shared_limits_up 1"
const pause = (random: Random, fromMs: number, toMs: number) => sleep(fromMs + random.below(toMs - fromMs))

/** A process ends by SIGKILL, and is started again a moment later. */
async function kill(scene: Scene): Promise<void> {
  const machine = scene.random.pick(scene.fleet.machines)
  await machine.end("SIGKILL")
  await pause(scene.random, 0, 200)
  await startAgain(scene, machine)
}

/** A process ends by SIGTERM, as in a rolling restart, and is started again. */
async function restart(scene: Scene): Promise<void> {
  const machine = scene.random.pick(scene.fleet.machines)
  const code = await machine.end("SIGTERM")
  if (code !== 0) scene.traffic.wrong.push(`${machine.name} ended with ${code} after SIGTERM: ${machine.log}`)
  await startAgain(scene, machine)
}

/** A process gets no time for a while, as on a machine that is paused. */
async function freeze({ fleet, random }: Scene): Promise<void> {
  const machine = random.pick(fleet.machines)
  machine.signal("SIGSTOP")
  await pause(random, 100, 1_200)
  machine.signal("SIGCONT")
}

/** The primary dies, and the standby has all that was acknowledged. */
async function failOver(scene: Scene): Promise<void> {
  const { fleet, random } = scene
  await fleet.hasStandby()
  await fleet.postgres.synchronous(true)
  await pause(random, 50, 200)
  await databaseAway(scene, () => fleet.failOver())
  await pause(random, 100, 400)
}

/** The primary dies, and the standby lacks the last commits: tuples, and often a plan. */
async function failOverWithLoss(scene: Scene): Promise<void> {
  const { random } = scene
  await loseCommits(scene, async () => {
    if (random.chance(60)) await applyPlan(scene)
    await pause(random, 50, 300)
  })
  await pause(random, 100, 400)
}

/** A failover that loses what is committed from now on; `meanwhile` ends the time in which commits get lost. */
export async function loseCommits(scene: Scene, meanwhile: () => Promise<void>): Promise<void> {
  const { fleet, traffic } = scene
  await fleet.hasStandby()
  await fleet.postgres.synchronous(false)
  const plan = traffic.sentPlan
  traffic.oracle.beginWithholding()
  await fleet.postgres.withhold()
  traffic.oracle.withhold()
  await meanwhile()
  await databaseAway(scene, async () => {
    traffic.oracle.beginLoss()
    await fleet.postgres.kill()
    traffic.losePlans(plan)
    traffic.oracle.lost()
    await fleet.failOver()
  })
}

/** The primary loses power and starts again with all that was acknowledged; the standby does not take over. */
async function crashDatabase(scene: Scene): Promise<void> {
  const { fleet, random } = scene
  await fleet.hasStandby()
  await databaseAway(scene, async () => {
    await fleet.postgres.crash()
    await pause(random, 0, 600)
    await fleet.postgres.restart()
  })
}

/** A process starts while the database is away: it serves the plan that it served last, and knows no tuple. */
async function startWithoutDatabase(scene: Scene): Promise<void> {
  const { fleet, traffic, random } = scene
  await fleet.hasStandby()
  const machine = random.pick(fleet.machines)
  const served = await traffic.hello(machine)
  await databaseAway(scene, async () => {
    await fleet.postgres.crash()
    // A process that ends in order waits until its plan is on disk.
    await machine.end("SIGTERM")
    traffic.limits.disturb()
    machine.start()
    for (let attempt = 0; ; attempt++) {
      const number = await traffic.hello(machine)
      if (number === undefined && attempt < 400) {
        await sleep(25)
        continue
      }
      if (number === undefined || number < (served ?? 0))
        traffic.wrong.push(
          `${machine.name} serves plan ${number} from disk, and had served ${served}: ${machine.log}`,
        )
      break
    }
    const name = traffic.oracle.names.at(-1)
    const answer = name === undefined ? undefined : await traffic.checkOf(machine, name, {})
    if (answer !== undefined && answer.status !== 503)
      traffic.wrong.push(
        `${machine.name} answers a check with ${answer.status} though it has never had a database`,
      )
    await fleet.postgres.restart()
  })
  await machine.ready(scene.client)
  await machine.shows(scene.client, countsInRedis)
  traffic.limits.disturb()
}

/** An administrator ends all sessions, three times. */
async function endSessions(scene: Scene): Promise<void> {
  const { fleet, random } = scene
  await databaseAway(scene, async () => {
    for (let storm = 0; storm < 3; storm++) {
      await fleet.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
      )
      await pause(random, 20, 120)
    }
  })
}

/** Redis loses its data. */
function restartRedis(scene: Scene): Promise<void> {
  return redisAway(scene, 0)
}

/** There is no Redis for a while. */
function withoutRedis(scene: Scene): Promise<void> {
  return redisAway(scene, 200 + scene.random.below(500))
}

async function redisAway(scene: Scene, ms: number): Promise<void> {
  scene.traffic.limits.disturb()
  await scene.fleet.restartRedis(ms)
  for (const machine of scene.fleet.machines) await machine.shows(scene.client, countsInRedis)
  scene.traffic.limits.disturb(lastCallsMs)
}

/** Some plans, each at another process. */
async function applyPlans(scene: Scene): Promise<void> {
  for (let times = 1 + scene.random.below(3); times > 0; times--) {
    await applyPlan(scene)
    await pause(scene.random, 0, 150)
  }
}

/** Applies the next plan at any process, upon the plan that is the newest there. */
export async function applyPlan({ fleet, traffic, client, random }: Scene): Promise<number> {
  const machine = random.pick(fleet.machines)
  const { body } = await fleet.control(client, machine, "GET", "/v1/plan")
  const number = traffic.nextPlan()
  const { status, body: told } = await fleet.apply(client, machine, number, body?.record?.serial ?? null)
  // 412: another plan came in between, for example by an apply whose answer was lost.
  if (![0, 200, 412, 503].includes(status))
    traffic.wrong.push(`${machine.name} answers an apply with ${status}: ${JSON.stringify(told)}`)
  return status
}

/** An import that goes on beside what happens next. */
async function importTuples({ traffic, random, beside }: Scene): Promise<void> {
  const batches = 2 + random.below(4)
  const all = async () => {
    for (let batch = 0; batch < batches; batch++) await traffic.import(100 + random.below(300))
  }
  beside.push(all())
}

/** Changes become old, and are deleted. */
async function prune({ fleet, traffic, client, random }: Scene): Promise<void> {
  await fleet.ageChanges()
  const machine = random.pick(fleet.machines)
  for (let cursor: unknown = null; ; ) {
    const asked = { changesSeconds: 86_400, plansKept: 5, cursor }
    const { status, body } = await fleet.control(client, machine, "POST", "/v1/prune", asked)
    if (status !== 200) {
      if (status !== 0 && status !== 503)
        traffic.wrong.push(`prune is answered ${status}: ${JSON.stringify(body)}`)
      return
    }
    cursor = body.next
    if (cursor === null) return
  }
}

/** The key of this schedule is suspended or activated, at any process. */
async function suspendKey({ fleet, traffic, client, random }: Scene): Promise<void> {
  const name = `key-${traffic.round}`
  const machine = random.pick(fleet.machines)
  const [row] = await fleet.sql<[string]>("select state from sallyport.subscriptions where name = $1", [name])
  const action = row?.[0] === "active" ? "suspend" : "activate"
  const path = `/v1/subscriptions/${name}/${action}`
  const { status, body } = await fleet.control(client, machine, "POST", path, {})
  if (![0, 200, 503].includes(status))
    traffic.wrong.push(`${machine.name} answers ${action} with ${status}: ${JSON.stringify(body)}`)
}

/** What was sent to a server that died may fail this long after others have succeeded, or before a process has noticed. */
const lastCallsMs = 2_000

/** While a process does not reach the database, it lets calls of a quota pass that it has not counted there. */
async function databaseAway({ fleet, traffic, client }: Scene, what: () => Promise<unknown>): Promise<void> {
  traffic.quotas.disturb()
  await what()
  for (const machine of fleet.machines) await machine.shows(client, "sallyport_database_up 1")
  traffic.quotas.disturb(lastCallsMs)
}

async function startAgain(scene: Scene, machine: Machine): Promise<void> {
  // Until its connection to Redis stands it counts on its own.
  scene.traffic.limits.disturb()
  machine.start()
  await machine.ready(scene.client)
  await machine.shows(scene.client, countsInRedis)
  scene.traffic.limits.disturb()
}
