import { afterAll, beforeAll, expect, it } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { type Pebble, pebbleBinary, startPebble } from "../support/pebble.ts"
import { describePebble } from "./describe-pebble.ts"
import { answerChallenges, type Member, memberOf, protection, settingsOf } from "./fleet.ts"

const dayMs = 86_400_000

describePebble("certificates from ACME in a fleet", () => {
  let pebble: Pebble
  let database: Database
  let stop: (() => Promise<unknown>)[] = []
  const members: Member[] = []
  let clock: number

  /** Another process of the fleet; its clock is that of the test. */
  const join = (...more: Parameters<typeof settingsOf>[1][]) => {
    const settings = (more.length === 0 ? [{}] : more).map((each) => settingsOf(pebble, each))
    const member = memberOf(database, settings, { now: () => clock })
    members.push(member)
    return member
  }
  const leave = async () => {
    for (const { acme } of members.splice(0)) await acme.close()
  }

  beforeAll(async () => {
    const httpPort = await freePort()
    pebble = await startPebble(pebbleBinary() ?? "", { httpPort, tlsPort: await freePort() })
    const made = await createMigratedDatabase()
    database = openPostgres(made.url)
    const stopAnswers = await answerChallenges(httpPort, () => members)
    stop = [leave, stopAnswers, () => pebble.stop(), () => database.close(), made.drop]
    clock = Date.now()
  })

  afterAll(async () => {
    for (const each of stop) await each()
  })

  const orders = () =>
    members.flatMap(({ log }) => log.filter(({ msg }) => msg === "ordering a certificate")).length

  it("are ordered by one process, and encrypted in the database", async () => {
    const fleet = [join(), join(), join()]
    for (const member of fleet) await expect.poll(() => member.changes).toBe(1)
    expect(orders()).toBe(1)
    const shown = await Promise.all(fleet.map((each) => each.shown(settingsOf(pebble))))
    expect(new Set(shown.map((each) => each?.fingerprint256)).size).toBe(1)
    const rows = await database.query<[string]>({
      name: "",
      text: "select sealed from sallyport.acme_certificates union all select sealed from sallyport.acme_accounts",
    })
    expect(rows).toHaveLength(2)
    for (const [sealed] of rows) {
      expect(sealed).toMatch(/^v1\.[\w-]+$/)
      expect(Buffer.from(sealed.slice(3), "base64url").includes("PRIVATE KEY")).toBe(false)
    }
  })

  it("are there at once after a restart, and in no process with another secret", async () => {
    await leave()
    const again = join()
    expect(await again.shown(settingsOf(pebble))).toBeDefined()
    expect(orders()).toBe(0)
    expect(await again.shown(settingsOf(pebble, { protectedBy: `${protection}!` }))).toBeUndefined()
  })

  it("are renewed when the authority suggests it, and not by a suggestion that is malformed", async () => {
    const [first] = members
    const settings = settingsOf(pebble)
    const before = await first?.shown(settings)
    const cert = before?.toString() ?? ""
    await pebble.suggest(cert, "{")
    clock += dayMs
    await expect.poll(() => first?.acme.states[0]?.renewAtMs).toBeGreaterThan(clock)
    const [start, end] = [-2, -1].map((days) => new Date(clock + days * dayMs).toISOString())
    await pebble.suggest(cert, JSON.stringify({ suggestedWindow: { start, end } }))
    clock += dayMs
    await expect.poll(async () => (await first?.shown(settings))?.serialNumber).not.toBe(before?.serialNumber)
    expect(first?.acme.states[0]?.renewAtMs).toBeGreaterThan(clock)
  })

  it("are renewed after two thirds of their time, by one process", async () => {
    const fleet = [...members, join()]
    await expect.poll(() => fleet[1]?.changes).toBe(1)
    const [state] = fleet[0]?.acme.states ?? []
    const leftDays = ((state?.notAfterMs ?? 0) - (state?.renewAtMs ?? 0)) / dayMs
    expect(leftDays).toBeGreaterThan(27)
    expect(leftDays).toBeLessThan(31)
    const before = await fleet[0]?.shown(settingsOf(pebble))
    const earlier = orders()
    clock = (state?.renewAtMs ?? 0) - dayMs
    await Promise.all(fleet.map(({ acme }) => acme.refresh()))
    expect(orders()).toBe(earlier)
    clock += 2 * dayMs
    for (const member of fleet)
      await expect
        .poll(async () => (await member.shown(settingsOf(pebble)))?.serialNumber)
        .not.toBe(before?.serialNumber)
    expect(orders()).toBe(earlier + 1)
  })

  it("keep the previous certificate in use until one for other hosts is there", async () => {
    await leave()
    const wider = join({ hosts: ["a.example", "c.example"] })
    expect(
      (await wider.shown(settingsOf(pebble, { hosts: ["a.example", "c.example"] })))?.subjectAltName,
    ).toBe("DNS:a.example")
    await expect
      .poll(
        async () =>
          (await wider.shown(settingsOf(pebble, { hosts: ["a.example", "c.example"] })))?.subjectAltName,
      )
      .toBe("DNS:a.example, DNS:c.example")
  })
})
