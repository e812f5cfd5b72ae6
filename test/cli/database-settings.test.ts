import { expect, test } from "vitest"
import { databaseName, databaseOf } from "../../compiler/cli/database-settings.ts"
import type { Io } from "../../compiler/cli/io.ts"

const url = "postgres://u:p@db/x"
const io = (env: Record<string, string>) => ({ cwd: "/project", env }) as unknown as Io
const of = (env: Record<string, string>) => databaseOf(io(env))

test("without a URL the database is the embedded one", () => {
  expect(of({})).toEqual({ folder: "/project/.sallyport" })
  expect(of({ SALLYPORT_DATABASE_URL: "" })).toEqual({ folder: "/project/.sallyport" })
})

test("schema and number of connections", () => {
  expect(of({ SALLYPORT_DATABASE_URL: url })).toMatchObject({ url, poolSize: 10 })
  const more = {
    SALLYPORT_DATABASE_SCHEMA: "own",
    SALLYPORT_DATABASE_POOL_SIZE: "25",
    SALLYPORT_DATABASE_PASSWORD_FILE: "/run/secret",
  }
  expect(of({ SALLYPORT_DATABASE_URL: url, ...more })).toMatchObject({
    ...{ url, schema: "own", poolSize: 25, passwordFile: "/run/secret" },
  })
})

test.each([
  "SALLYPORT_DATABASE_SCHEMA",
  "SALLYPORT_DATABASE_POOL_SIZE",
  "SALLYPORT_DATABASE_PASSWORD_FILE",
  "SALLYPORT_DATABASE_PASSWORD_COMMAND",
  "SALLYPORT_DATABASE_POOLER",
  "SALLYPORT_DATABASE_NOTICES_URL",
])("%s without a URL is refused", (name) => {
  expect(() => of({ [name]: "5" })).toThrow(`${name} is set, but SALLYPORT_DATABASE_URL is not`)
})

test.each(["0", "-1", "ten", "1001", "1.5"])("%s is no number of connections", (size) => {
  expect(() => of({ SALLYPORT_DATABASE_URL: url, SALLYPORT_DATABASE_POOL_SIZE: size })).toThrow(
    `SALLYPORT_DATABASE_POOL_SIZE is not a number of connections: ${size}`,
  )
})

test("a pooler, and the server itself for notices", () => {
  const more = {
    SALLYPORT_DATABASE_POOLER: "transaction",
    SALLYPORT_DATABASE_NOTICES_URL: "postgres://direct/x",
  }
  expect(of({ SALLYPORT_DATABASE_URL: url, ...more })).toMatchObject({
    ...{ pooler: "transaction", noticesUrl: "postgres://direct/x" },
  })
  expect(of({ SALLYPORT_DATABASE_URL: url })).toMatchObject({ pooler: "none" })
  expect(() => of({ SALLYPORT_DATABASE_URL: url, SALLYPORT_DATABASE_POOLER: "pgbouncer" })).toThrow(
    "SALLYPORT_DATABASE_POOLER is not known: pgbouncer",
  )
})

test.each([
  [url, "PostgreSQL at db/x"],
  ["postgres://u:p%40q@a:1,b:2/x?sslmode=require", "PostgreSQL at a:1,b:2/x"],
  ["postgres://u:p@/x?host=/run/postgresql", "PostgreSQL at /run/postgresql/x"],
  ["postgres:///x?password=secret", "PostgreSQL at localhost/x"],
])("%s is named without its password", (given, name) => {
  expect(databaseName(io({ SALLYPORT_DATABASE_URL: given }))).toBe(name)
})
