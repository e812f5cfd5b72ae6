import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { passwordSource } from "../../runtime/store/password-source.ts"
import { openPostgres, type PostgresOptions } from "../../runtime/store/postgres.ts"
import { describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const folder = mkdtempSync(join(tmpdir(), "sallyport-passwords-"))
afterAll(() => rmSync(folder, { recursive: true }))
const one = { name: "", text: "select 1" }

describePostgres("a server that asks for a password", () => {
  let server: ThrowAwayPostgres
  const url = () => `postgres://rotating@127.0.0.1:${server.port}/postgres`
  const admin = async (text: string) => {
    const database = openPostgres(server.socketUrl("postgres"))
    await database.query({ name: "", text })
    await database.close()
  }
  const ask = async (options: PostgresOptions, at = url()) => {
    const database = openPostgres(at, { env: {}, ...options })
    try {
      return await database.query(one)
    } finally {
      await database.close()
    }
  }
  beforeAll(async () => {
    const rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    server = await startThrowAwayPostgres({ files: { "pg_hba.conf": rules } })
    await admin("create role rotating login password 'first'")
  })
  afterAll(() => server.stop())

  test("gets it from the URL, a variable, a file or a command", async () => {
    const file = join(folder, "password")
    writeFileSync(file, "first\n")
    expect(await ask({}, url().replace("@", ":first@"))).toEqual([[1]])
    expect(await ask({ env: { PGPASSWORD: "first" } })).toEqual([[1]])
    expect(await ask({ passwordFile: file })).toEqual([[1]])
    expect(await ask({ passwordCommand: `"${process.execPath}" -e "console.log('first')"` })).toEqual([[1]])
  })

  test("waits for a command that is slower than a server may be", async () => {
    expect(await ask({ passwordCommand: "sh -c 'sleep 1.5; echo first'" })).toEqual([[1]])
  })

  test.each<[PostgresOptions, RegExp]>([
    [{}, /the server asks for a password, and none is set/],
    [{ passwordFile: join(folder, "none") }, /the password file .*none cannot be read \(ENOENT\)/],
    [{ passwordCommand: "/nowhere/token" }, /the password command \/nowhere\/token failed: ENOENT/],
    [
      { passwordCommand: `sh -c 'echo expired >&2; exit 3'` },
      /the password command sh failed: exit code 3: expired/,
    ],
    [{ passwordCommand: "true" }, /the password command true printed nothing/],
    [{ passwordCommand: "echo wrong" }, /password authentication failed .*\(28P01\)/],
  ])("%j: %s", async (options, reason) => {
    await expect(ask(options)).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: expect.stringMatching(reason),
    })
  })

  test("a rotated password is used by the next connection, without a failed statement", async () => {
    const file = join(folder, "rotated")
    writeFileSync(file, "first")
    const counted = join(folder, "runs")
    writeFileSync(counted, "")
    const command = `sh -c 'echo run >> ${counted}; cat ${file}'`
    const database = openPostgres(url(), { env: {}, passwordCommand: command, connectionsMax: 4 })
    const runs = async () => (await import("node:fs")).readFileSync(counted, "utf8").split("\n").length - 1
    try {
      await Promise.all([database.query(one), database.query(one)])
      expect(await runs()).toBe(1)
      writeFileSync(file, "second")
      await admin("alter role rotating password 'second'")
      await Promise.all(
        Array.from({ length: 4 }, () => database.query({ name: "", text: "select pg_sleep(0.1)" })),
      )
      expect(database.state.connections.size).toBe(4)
      expect(await runs()).toBeGreaterThan(1)
    } finally {
      await database.close()
    }
  })
})

test("two passwords are refused, and a command with an open quote", () => {
  expect(() => passwordSource("a", { passwordFile: "b" })).toThrow("more than one password")
  for (const passwordCommand of [`token "x`, "  ", `a'`])
    expect(() => passwordSource(undefined, { passwordCommand })).toThrow("is not a program with arguments")
})
