import { createHash } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { afterEach, beforeAll, expect, it } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { type Pebble, type PebbleOptions, pebbleBinary, startPebble } from "../support/pebble.ts"
import { describePebble } from "./describe-pebble.ts"
import { answerChallenges, type Member, memberOf, settingsOf } from "./fleet.ts"

const minuteMs = 60_000
const key = createHash("sha256").update("key").digest("base64url")

describePebble("orders that fail", () => {
  let stops: (() => Promise<unknown>)[] = []
  let database: Database
  let member: Member
  let clock: number

  beforeAll(() => {
    clock = Date.now()
  })

  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
    stops = []
  })

  async function begin(options: Partial<PebbleOptions> = {}): Promise<Pebble> {
    const httpPort = await freePort()
    const pebble = await startPebble(pebbleBinary() ?? "", {
      httpPort,
      tlsPort: await freePort(),
      ...options,
    })
    const made = await createMigratedDatabase()
    database = openPostgres(made.url)
    const stopAnswers = await answerChallenges(httpPort, () => [member])
    stops.push(
      made.drop,
      () => database.close(),
      () => pebble.stop(),
      stopAnswers,
    )
    return pebble
  }

  const join = (...settings: Parameters<typeof memberOf>[1]) => {
    member = memberOf(database, settings, { now: () => clock, random: () => 0 })
    stops.push(() => member.acme.close())
    return member
  }
  const state = () => member.acme.states[0]
  const failed = async (times = 1) => {
    await expect.poll(() => state()?.failures).toBe(times)
    return state()?.reason
  }

  it("and none is needed by a process that starts without the database: its disk has the certificate", async () => {
    const settings = settingsOf(await begin())
    const files = new Map<string, string>()
    const disk = {
      read: async (id: string) => files.get(id),
      write: async (id: string, sealed: string) => void files.set(id, sealed),
    }
    member = memberOf(database, [settings], { disk })
    stops.push(() => member.acme.close())
    await expect.poll(() => files.size).toBe(1)
    const issued = await member.shown(settings)
    expect([...files.values()].join()).not.toContain("PRIVATE KEY")
    const away = openPostgres(`postgres://nobody@127.0.0.1:${await freePort()}/none`)
    stops.push(() => away.close())
    const starting = async (now = Date.now()) => {
      const other = memberOf(away, [], { disk, now: () => now })
      stops.push(() => other.acme.close())
      return await other.shown(settings)
    }
    expect((await starting())?.fingerprint256).toBe(issued?.fingerprint256)
    expect(await starting(Date.parse(issued?.validTo ?? "") + 1000)).toBeUndefined()
    for (const [id, sealed] of files) files.set(id, `${sealed.slice(0, -2)}AA`)
    expect(await starting()).toBeUndefined()
  })

  it("because the authority is not there: the pauses grow, and continue after a restart", async () => {
    const settings = settingsOf(await begin(), { directory: `https://localhost:${await freePort()}/dir` })
    join(settings)
    expect(await failed()).toMatch(
      /^the authority at https:\/\/localhost:\d+\/dir cannot be reached: .*ECONNREFUSED/,
    )
    expect((state()?.retryAtMs ?? 0) - clock).toBe(minuteMs)
    clock += minuteMs
    await failed(2)
    expect((state()?.retryAtMs ?? 0) - clock).toBe(5 * minuteMs)
    await member.acme.close()
    join(settings)
    clock += 4 * minuteMs
    await expect.poll(() => state()?.failures).toBe(2)
    await member.acme.refresh()
    expect(member.log).toEqual([])
    clock += minuteMs
    await failed(3)
  })

  it("because the authority does not know the external account, or its key", async () => {
    const pebble = await begin({ externalAccounts: { "kid-1": key } })
    join(settingsOf(pebble))
    expect(await failed()).toMatch(/^the authority does not register an account: .*externalAccountBinding/)
    await member.acme.close()
    join(settingsOf(pebble, { externalAccount: { id: "kid-2", key } }))
    expect(await failed()).toMatch(
      /^the authority does not register an account for the external account kid-2: /,
    )
    await member.acme.close()
    join(
      settingsOf(pebble, { externalAccount: { id: "kid-1", key: createHash("sha256").digest("base64url") } }),
    )
    expect(await failed()).toMatch(
      /^the authority does not register an account for the external account kid-1: /,
    )
    await member.acme.close()
    join(settingsOf(pebble, { externalAccount: { id: "kid-1", key } }))
    await expect.poll(() => member.changes).toBe(1)
  })

  it("because a host is not ours, or does not exist: it is named, and the others do not get a certificate", async () => {
    const pebble = await begin()
    join(settingsOf(pebble, { hosts: ["a.example", "shop.away"] }))
    expect(await failed()).toMatch(/^the authority could not verify shop\.away by http-01: /)
    expect(member.changes).toBe(0)
  })

  it("not because the process ends: another one orders at once", async () => {
    const pebble = await begin()
    const connections: Socket[] = []
    const silent = createServer((socket) => void connections.push(socket)).listen(0, "127.0.0.1")
    stops.push(async () => {
      for (const socket of connections) socket.destroy()
      silent.close()
    })
    await once(silent, "listening")
    const { port } = silent.address() as AddressInfo
    const settings = settingsOf(pebble, { directory: `https://localhost:${port}/dir` })
    join(settings)
    await expect.poll(() => connections.length).toBe(1)
    await member.acme.close()
    join(settings)
    await expect.poll(() => connections.length).toBe(2)
    expect(state()).toMatchObject({ failures: 0, reason: "" })
  })

  it("because the certificate of the directory is not trusted", async () => {
    const pebble = await begin()
    join(settingsOf(pebble, { ca: undefined }))
    expect(await failed()).toMatch(/cannot be reached: .*(self-signed|unable to verify|verify the first)/)
  })

  it("not because of rejected nonces, and slow validations", async () => {
    const pebble = await begin({
      env: {
        PEBBLE_WFE_NONCEREJECT: "30",
        PEBBLE_VA_NOSLEEP: "0",
        PEBBLE_VA_SLEEPTIME: "3",
        PEBBLE_AUTHZREUSE: "0",
      },
    })
    join(settingsOf(pebble, { hosts: ["a.example", "b.example", "c.example"] }))
    await expect.poll(() => member.changes + (state()?.failures ?? 0)).toBe(1)
    expect(state()).toMatchObject({ failures: 0, reason: "" })
  })
})
