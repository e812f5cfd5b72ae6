import { expect, test } from "vitest"
import { rethrowForPeople } from "../../compiler/cli/start.ts"
import { SourceUnavailable } from "../../runtime/check/ports.ts"
import { migrateDatabase } from "../../runtime/main.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createDatabase, describePostgres } from "../postgres.ts"

const log = createLog({ level: "silent" })
const told = (error: unknown) => {
  try {
    return rethrowForPeople(error)
  } catch (thrown) {
    return thrown
  }
}

describePostgres("a command on a database", () => {
  test("that does not exist says that the server refuses, and how to create it", async () => {
    const { url, drop } = await createDatabase()
    await drop()
    const error = await migrateDatabase({ database: { url }, log }).catch(told)
    expect(error).toMatchObject({
      message: expect.stringMatching(/^the database refuses: database ".*" does not exist \(3D000\)$/),
      help: expect.stringContaining("CREATE DATABASE"),
    })
  })
})

test("a command on a port that nobody listens on says that the database is unavailable", async () => {
  const database = { url: "postgres://a:secret@127.0.0.1:1/x" }
  expect(await migrateDatabase({ database, log }).catch(told)).toMatchObject({
    message: "the database is unavailable: connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED)",
    help: expect.stringContaining("check host and port"),
  })
})

test.each([
  ['password authentication failed for user "a" (28P01)', "refuses", "%40 for @"],
  ["permission denied for database x (42501)", "refuses", "GRANT CREATE"],
  ["getaddrinfo ENOTFOUND ss (ENOTFOUND)", "is unavailable", "Check the host"],
  ["the database system is starting up (57P03)", "is unavailable", "Check that it runs"],
  ["sorry, too many clients already (53300)", "refuses", "Check that it runs"],
])("%s", (message, effect, help) => {
  expect(told(new SourceUnavailable(message))).toMatchObject({
    message: `the database ${effect}: ${message}`,
    help: expect.stringContaining(help),
  })
})
