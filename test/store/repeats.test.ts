import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { classTreatments, codeTreatments, faultOf, type Treatment } from "../../runtime/store/fault.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { postgresMissing } from "../support/postgres-binaries.ts"

const tries = { name: "", text: "select last_value - 1 from public.tries" }
/** Takes a number of a sequence, which no rollback gives back, and fails with `code` while the number is at most `times`. */
const failing = (code: string, times: number) => ({
  name: "",
  text: `do $$ begin
    if nextval('public.tries') <= ${times + 1} then raise exception using errcode = '${code}', message = 'as the test wants it'; end if;
  end $$`,
})
const attemptsMax = 5
const forever = 1_000

/** By class, or by code where it differs from its class: what the caller gets, after how many attempts. */
const outcomes: Readonly<Record<Treatment, readonly [name: string, attempts: number]>> = {
  again: ["SourceUnavailable", attemptsMax],
  reconnect: ["SourceUnavailable", attemptsMax],
  unavailable: ["SourceUnavailable", 1],
  schema: ["SqlError", 1],
  refused: ["SqlError", 1],
}

/** A code of each class; 00 is what `raise` takes for none. */
const ofClass = (name: string) =>
  ({ "00": "01000", "3F": "3F000", "40": "40001", "55": "55006" })[name] ?? `${name}000`
const codes: readonly (readonly [code: string, treatment: Treatment])[] = [
  ...Object.entries(classTreatments).map(([name, treatment]) => [ofClass(name), treatment] as const),
  ...Object.entries(codeTreatments),
  // Named here once more, so that the table cannot be changed without a thought.
  ["40P01", "again"],
  ["40001", "again"],
  ["40003", "unavailable"],
  ["57014", "unavailable"],
  ["53300", "unavailable"],
  ["55P03", "unavailable"],
  ["23505", "refused"],
  ["22021", "refused"],
  ["YB001", "unavailable"],
]

let created: TestDatabase
let database: Database
const repeated: string[] = []
const one = (text: string) => database.query({ name: "", text })

beforeAll(async () => {
  if (postgresMissing !== undefined) return
  created = await createDatabase()
  database = openPostgres(created.url, { onRepeat: (code) => repeated.push(code) })
  await one("create sequence public.tries")
})
afterAll(async () => {
  await database?.close()
  await created?.drop()
})

describePostgres("a statement that the server rolls back", () => {
  beforeEach(async () => {
    repeated.length = 0
    await one("select setval('public.tries', 1)")
  })

  test.each(codes)("%s is %s", async (code, treatment) => {
    const [name, attempts] = outcomes[treatment]
    const state = treatment === "schema" || treatment === "refused" ? { code } : {}
    await expect(database.query(failing(code, forever))).rejects.toMatchObject({ name, ...state })
    expect(await database.query(tries)).toEqual([[attempts]])
    expect(repeated.splice(0)).toEqual(Array(attempts - 1).fill(code))
  })

  test.each(["40001", "40P01", "40000", "72000", "26000"])(
    "%s once: done at the second attempt",
    async (code) => {
      await database.query(failing(code, 1))
      expect(await database.query(tries)).toEqual([[2]])
    },
  )

  test("a transaction is run again as a whole, and leaves only its last attempt", async () => {
    await one("create table public.kept (attempt bigint)")
    const note = { name: "", text: "insert into public.kept values ((select last_value from public.tries))" }
    await database.transaction(async (transaction) => {
      await transaction.query(note)
      await transaction.query(failing("40P01", attemptsMax - 1))
    })
    expect(await one("select attempt from public.kept")).toEqual([[attemptsMax]])
  })
})

describePostgres("two transactions that wait for each other", () => {
  test("are both done", async () => {
    await one("create table public.pair (id integer primary key, n integer)")
    await one("insert into public.pair values (1, 0), (2, 0)")
    const add = { name: "", text: "update public.pair set n = n + 1 where id = $1" }
    let met = 0
    const both = (ids: readonly number[]) =>
      database.transaction(async (transaction) => {
        await transaction.query(add, [ids[0]])
        // The first attempts hold their first row when they ask for their second.
        met += 1
        for (let waited = 0; met < 2 && waited < 500; waited += 1)
          await transaction.query({ name: "", text: "select pg_sleep(0.01)" })
        await transaction.query(add, [ids[1]])
      })
    await Promise.all([both([1, 2]), both([2, 1])])
    expect(met).toBeGreaterThan(2)
    expect(await one("select n from public.pair")).toEqual([[2], [2]])
  })
})

describe("the table of treatments", () => {
  test("has every class of PostgreSQL's appendix A", () => {
    const classes =
      "00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX"
    expect(Object.keys(classTreatments).sort()).toEqual(classes.split(" "))
  })

  test.each(["EPIPE", "ECONNRESET", undefined])("the system's own %s is no SQLSTATE: it is away", (code) => {
    expect(faultOf(Object.assign(new Error("write"), { code }))).toMatchObject({ name: "SourceUnavailable" })
  })
})
