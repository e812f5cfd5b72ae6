import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "./throw-away-postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Socket that answers, to whoever connects, with the connection string of the run's server. */
    postgresAsk: string
  }
}

/**
 * One PostgreSQL per test run, started when the first file asks for it. Files run in other processes, so they ask
 * through a socket; the answer is one JSON line, `{url}` or `{error}`.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<ThrowAwayPostgres> | undefined
  const path = join(tmpdir(), `sallyport-test-${process.pid}.sock`)
  const server = createServer(async (socket) => {
    socket.on("error", () => {})
    started ??= startThrowAwayPostgres()
    const answer = await started.then(
      (postgres) => ({ url: postgres.url("postgres") }),
      (error: unknown) => ({ error: String(error) }),
    )
    socket.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  server.unref()
  project.provide("postgresAsk", path)
  return async () => {
    server.close()
    await (await started?.catch(() => undefined))?.stop()
  }
}
