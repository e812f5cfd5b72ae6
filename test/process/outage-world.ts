import { randomUUID } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { JournalHead } from "../../runtime/process/journal-head.ts"
import type { RuntimeSettings } from "../../runtime/process/settings.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, control, freePorts, type Ports, planOf, start, token } from "./project.ts"

/** A process with its disk, and the server of its database. */
export interface OutageWorld {
  readonly server: ThrowAwayPostgres
  readonly url: string
  readonly ports: Ports
  readonly spoolFolder: string
}

/** A server and a disk. Both end with the test. With `beside`, another process of the same database. */
export async function outageWorld(beside?: OutageWorld): Promise<OutageWorld> {
  const server = beside?.server ?? (await startThrowAwayPostgres({ migrated: true }))
  if (beside === undefined) onTestFinished(() => server.stop())
  const spoolFolder = join(tmpdir(), `sallyport-outage-${randomUUID()}`)
  onTestFinished(() => rmSync(spoolFolder, { recursive: true, force: true }))
  return { server, url: server.url("postgres"), ports: await freePorts(), spoolFolder }
}

/** Starts the process. It ends with the test, before its disk and its server. */
export async function startIn({ url, ports, spoolFolder }: OutageWorld, more: Partial<RuntimeSettings> = {}) {
  const runtime = await start(url, ports, { spoolFolder, graceMs: 100, ...more })
  const end = runtime.close
  let ending: Promise<void> | undefined
  const close = () => {
    ending ??= end()
    return ending
  }
  onTestFinished(close)
  return Object.assign(runtime, { close })
}

/** The folder of the kept plans and of the journal. */
export function folderOf({ spoolFolder }: OutageWorld): string {
  const plans = join(spoolFolder, "plans")
  return join(plans, readdirSync(plans)[0] ?? "")
}

export function filesOf(world: OutageWorld, part: string): string[] {
  return readdirSync(folderOf(world)).filter((name) => name.includes(part))
}

/** Path of the only journal. */
export function journalOf(world: OutageWorld): string {
  return join(folderOf(world), filesOf(world, ".journal")[0] ?? "")
}

/** Leaves the first rows of the journal, with the head that the process wrote after them. */
export async function endJournalAt(world: OutageWorld, rows: number): Promise<void> {
  const path = journalOf(world)
  const kept = readFileSync(path, "utf8").split("\n").slice(0, rows)
  const { hash, entry } = JSON.parse(kept.at(-1) ?? "") as { hash: string; entry: string }
  const { journal } = JSON.parse(entry) as { journal: string }
  writeFileSync(path, `${kept.join("\n")}\n`)
  await new JournalHead(`${path}.head`, token).write({ journal, rows, hash, isTaken: false })
}

/** Applies plans that greet like this, one after another, to an empty history, and waits until all are kept. */
export async function applyGreetings(
  world: OutageWorld,
  runtime: Awaited<ReturnType<typeof startIn>>,
  ...greetings: readonly string[]
): Promise<void> {
  for (const greeting of greetings)
    expect((await runtime.apply(planOf(world.ports, greeting), author)).kind).toBe("done")
  await expect.poll(() => filesOf(world, ".plan").length).toBe(greetings.length)
}

/** Rolls back without the database. `despiteCanary`: also when it is not known whether one runs. */
export function rollBackAlone(
  ports: Ports,
  serial: number,
  base: number,
  message: string | null = null,
  despiteCanary = false,
) {
  const body = { serial, base, author: { ...author, message }, ...(despiteCanary ? { despiteCanary } : {}) }
  return control(ports, "POST", "/v1/rollback/without-database", body)
}

/** Waits until the journal has the row after the request, which is written when its response was sent. */
export async function hasEnded(world: OutageWorld): Promise<void> {
  await expect.poll(() => readFileSync(journalOf(world), "utf8")).toContain("ended")
}

/** What `status` says about the process that is asked. */
export async function ownState(
  ports: Ports,
): Promise<{ state: string; serial: number | null; reasons: string[] }> {
  const { body } = await control(ports, "GET", "/v1/status")
  return (body["processes"] as never[])[0] as never
}

/** The plans of the history, newest first. */
export async function historyOf(ports: Ports) {
  const body = await answered(ports, "/v1/plans")
  return body["plans"] as { serial: number; who: string; message: string | null }[]
}

/** Entries of the audit log that come from journals. */
export async function journalEntries(ports: Ports): Promise<Record<string, unknown>[]> {
  const body = await answered(ports, "/v1/audit")
  return (body["rows"] as { entry: string }[])
    .map(({ entry }) => JSON.parse(entry) as Record<string, unknown>)
    .filter((entry) => entry["journal"] !== undefined)
}

/** The body of a response, as soon as the database answers again. */
async function answered(ports: Ports, path: string): Promise<Record<string, unknown>> {
  let found: Awaited<ReturnType<typeof control>> | undefined
  await expect
    .poll(async () => {
      found = await control(ports, "GET", path)
      return found.status
    })
    .toBe(200)
  return found?.body ?? {}
}
