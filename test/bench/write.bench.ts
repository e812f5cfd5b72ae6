// 38,000 tuples in hundreds over HTTP, eight requests at once, on PostgreSQL; the API in a process of its own.
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { AuthzApi } from "../../runtime/authz/api.ts"
import { startAuthz } from "../../runtime/authz/server.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const tuples = 38_000
const perRequest = 100
const writers = 8
const rounds = 5

const model = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "document",
      relations: { viewer: { this: {} } },
      metadata: { relations: { viewer: { directly_related_user_types: [{ type: "user" }] } } },
    },
  ],
}

if (process.argv[2] === "serve") await serve(process.argv[3] ?? "")
else await measure()

async function serve(url: string): Promise<void> {
  const database = openPostgres(url)
  const engine = new Engine(createTupleSource(database))
  const api = new AuthzApi({ database, engine })
  const { addresses } = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
  process.send?.(addresses[0]?.port ?? 0)
}

async function measure(): Promise<void> {
  const postgres = await startThrowAwayPostgres()
  const url = postgres.url("postgres")
  const database = openPostgres(url)
  await migrate(database)
  await database.close()
  const child = fork(fileURLToPath(import.meta.url), ["serve", url])
  try {
    const [port] = (await once(child, "message")) as [number]
    const rates: number[] = []
    for (let round = 0; round < rounds; round += 1) rates.push(await writeAll(port, perRequest, tuples))
    const single = [
      await writeAll(port, 1, 4_000),
      await writeAll(port, 1, 4_000),
      await writeAll(port, 1, 4_000),
    ]
    const value = Math.round(median(rates))
    print({
      what: "write 38,000 tuples over HTTP in hundreds, 8 at once, on PostgreSQL",
      value,
      unit: "tuples/s",
      spread: spread(rates),
      bar: "≥ 10,000",
      ok: value >= 10_000,
    })
    print({
      what: "  one by one, 8 at once",
      value: Math.round(median(single)),
      unit: "tuples/s",
      spread: spread(single),
    })
  } finally {
    child.kill()
    await postgres.stop()
  }
}

/** Tuples a second, into a store of its own. */
async function writeAll(port: number, size: number, count: number): Promise<number> {
  const post = async (path: string, body: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { id: string }
  }
  const { id } = await post("/stores", JSON.stringify({ name: "bench" }))
  await post(`/stores/${id}/authorization-models`, JSON.stringify(model))
  const bodies: string[] = []
  for (let at = 0; at < count; at += size) {
    const tuple_keys = Array.from({ length: size }, (_, n) => ({
      user: `user:u${(at + n) % 997}`,
      relation: "viewer",
      object: `document:d${at + n}`,
    }))
    bodies.push(JSON.stringify({ writes: { tuple_keys } }))
  }
  const startedMs = performance.now()
  const write = async () => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop())
      await post(`/stores/${id}/write`, body)
  }
  await Promise.all(Array.from({ length: writers }, write))
  return count / ((performance.now() - startedMs) / 1000)
}

function print(row: object): void {
  console.log(JSON.stringify(row))
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function spread(values: readonly number[]): string {
  return `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`
}
