import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { Tally } from "./support/tally.ts"

/** The random tests, which `npm run test:long` runs again with other worlds and more of them. */
const random = [
  "test/check/{differential,list-differential,permuted,concurrent,explain-random,explain-nearest,fixpoint}.test.ts",
  "test/authzen/random.test.ts",
  "test/gateway/path-confusion.test.ts",
]
const { SALLYPORT_TEST_QUERIES = "3000000", SALLYPORT_TEST_SEED = "1000001" } = process.env

// Names that nobody can look up are looked up by many tests, which takes seconds where there is no network, two at a time in a process: those of the next file would wait behind them.
process.env["UV_THREADPOOL_SIZE"] ??= "64"

/** `npm test` runs test/<room>/, `npm run test:long` (mode `long`) test/long/ and the random tests. */
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: mode === "long" ? ["test/long/**/*.test.ts", ...random] : ["test/**/*.test.ts"],
    exclude: mode === "long" ? [] : ["test/long/**"],
    globalSetup: ["test/support/build.ts", "test/support/postgres-server.ts"],
    env: mode === "long" ? { SALLYPORT_TEST_QUERIES, SALLYPORT_TEST_SEED } : {},
    reporters: ["default", new Tally()],
    // One process per core and no fresh module graph per file: measured six times faster than the default on many small
    // files. Processes rather than threads, because some tests kill or fill what they run in.
    pool: "forks",
    maxWorkers: "100%",
    isolate: false,
    // Far above what any test needs: a busy machine takes ten times as long, and only what never ends should fail by time.
    testTimeout: mode === "long" ? 1_800_000 : 180_000,
    hookTimeout: 180_000,
    // For a busy machine: what comes to hold does so at once otherwise. `vi.waitFor` has no such setting, so nobody uses it.
    expect: { poll: { timeout: 60_000 } },
  },
}))
