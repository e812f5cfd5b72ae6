import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { renewedForks } from "./support/renewed-forks.ts"
import { RoomByRoom } from "./support/room-by-room.ts"
import { openRunFolder } from "./support/run-folder.ts"
import { Tally } from "./support/tally.ts"

/** The random tests, which `npm run test:long` runs again with other worlds and more of them, and those of which `npm test` runs a part. */
const more = [
  "test/check/{differential,list-differential,permuted,concurrent,list-concurrent,conformance,list-conformance}.test.ts",
  "test/check/{concerned-tuples,impact}.test.ts",
  "test/check/{explain-bounds,explain-random,explain-nearest,fixpoint,history}.test.ts",
  "test/authz/{bulk-write,cases,consistency-tokens,faults,fuzz,grpc-codec,grpc-contract,limits,sdk,targets,watch}.test.ts",
  "test/authzen/random.test.ts",
  "test/azure/{convert/{same-steps,same-values},csharp/bounds}.test.ts",
  "test/deploy/prometheus.test.ts",
  "test/diff/{models,properties,schemas,order/{changes,steps}}.test.ts",
  "test/e2e/{init,readme}.test.ts",
  "test/expression/{agreement,hostile,partial}.test.ts",
  "test/gateway-conf/{missing-braces,mutations}.test.ts",
  "test/gateway/{generations,moved-listener,path-confusion}.test.ts",
  "test/hardening/{mutated-documents,mutations}.test.ts",
  "test/http/{differential,random-traffic}.test.ts",
  "test/manual/lived.test.ts",
  "test/mistakes/mistakes.test.ts",
  "test/model-test/mutations.test.ts",
  "test/openapi/{documents,unmatched-pattern}.test.ts",
  "test/pattern/against-regexp.test.ts",
  "test/process/lost-schedules.test.ts",
  "test/model/{bad-input,format}.test.ts",
  "test/model-compare/{random,three-sources}.test.ts",
  "test/service/{edits,kept,reparse}.test.ts",
  "test/store/{bulk-write,contract,parts,plans,refusals,subscriptions}.test.ts",
  "test/syntax/hostile.test.ts",
  "test/usage/{quotas,recorder}.test.ts",
  "test/validation/pieces.test.ts",
]

/** What takes long and seldom fails for another reason than a change of its own room: only `npm run test:long` runs it, besides test/long/. */
const onlyLong = [
  "test/long/**/*.test.ts",
  "test/acme/{databases,failures,pebble}.test.ts",
  "test/authz/{faults,processes}.test.ts",
  "test/cache/shared-cache.test.ts",
  "test/check/budget.test.ts",
  "test/e2e/azure-wing.test.ts",
  // `npm test` has test/mistakes, which makes mistakes of more kinds.
  "test/gateway-conf/{budgets,single-mistakes}.test.ts",
  "test/gateway/{oidc-shared,slow-clients}.test.ts",
  "test/manual/running-many.test.ts",
  "test/machines/schedules.test.ts",
  "test/process/database-states.test.ts",
  "test/process/{canary-fleet,failover,kept-plan,lost-plans,outage-rollbacks,pooler,replicas,rolled-back}.test.ts",
  "test/redis/topologies.test.ts",
  "test/store/{capabilities,faults,pglite,prune,replicas}.test.ts",
  "test/workers/{canary,ends,outage,sockets,worker-faults}.test.ts",
]
const {
  SALLYPORT_TEST_QUERIES = "1000000",
  SALLYPORT_TEST_SEED = "1000001",
  SALLYPORT_TEST_LONG = "1",
} = process.env

/** What `npm run test:fast` leaves to `npm test`: what needs a database, starts processes, or takes seconds of CPU time. */
const slow = [
  "test/{mistakes,process,workers,store,usage,authz,authzen,e2e,house,hardening,machines,manual,redis}/**",
  "test/azure/{liquid,convert/{same-steps,same-values},csharp/bounds}.test.ts",
  "test/cache/{room,shared-cache}.test.ts",
  "test/check/{adjacency,budget,concurrent,differential,explain-bounds,explain-random,list-conformance,list-differential,permuted}.test.ts",
  "test/cli/{bin,ci,compile-commands,shell,test-command,tuple-files}.test.ts",
  "test/diff/{models,properties,schemas,single-changes,cases,order/changes,order/steps}.test.ts",
  "test/expression/{agreement,hostile,partial}.test.ts",
  "test/gateway/{moved-listener,mutated-requests,path-confusion,slow-clients,slow-uploads,websocket}.test.ts",
  "test/gateway-conf/{budgets,missing-braces,mutations,served,traffic}.test.ts",
  "test/http/random-traffic.test.ts",
  "test/limits/shared.test.ts",
  "test/model/{bad-input,entry-points,format,print}.test.ts",
  "test/openapi/{documents,round-trip,unmatched-pattern}.test.ts",
  "test/pattern/against-regexp.test.ts",
  "test/plan/json-scan.test.ts",
  "test/policies/body-threads.test.ts",
  "test/structure.test.ts",
  "test/structure/kinds.test.ts",
  "test/syntax/{format,hostile,recovery}.test.ts",
  "test/validation/pieces.test.ts",
]

// Names that nobody can look up are looked up by many tests, which takes seconds where there is no network, two at a time in a process: those of the next file would wait behind them.
process.env["UV_THREADPOOL_SIZE"] ??= "64"

openRunFolder()

/** `npm test` runs test/<room>/, `npm run test:fast` (mode `fast`) the quick part of it, `npm run test:long` (mode `long`) what only it runs, the random tests, and all of what `npm test` runs a part of. */
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: mode === "long" ? [...onlyLong, ...more] : ["test/**/*.test.ts"],
    exclude: mode === "long" ? [] : [...onlyLong, ...(mode === "fast" ? slow : [])],
    globalSetup: ["test/support/build.ts", "test/support/shared-databases.ts"],
    env: mode === "long" ? { SALLYPORT_TEST_QUERIES, SALLYPORT_TEST_SEED, SALLYPORT_TEST_LONG } : {},
    reporters: ["default", new Tally()],
    // No fresh module graph per file: measured six times faster than the default on many small
    // files. Processes rather than threads, because some tests kill or fill what they run in.
    pool: renewedForks,
    setupFiles: ["test/support/collect-garbage.ts"],
    // The embedded database is WebAssembly: compiled without optimizing it needs 40 % less CPU time and 200 MB less, for what tests ask of it.
    // Without a bound V8 collects late while memory is free, and a process grows to some GB: what most tests hold at a time is less than 200 MB; two read large models and documents.
    // Most code of a test runs a few times: V8 optimizes it later than it would otherwise, which saves 8 % of the CPU time.
    execArgv: [
      "--expose-gc",
      "--interrupt-budget=600000",
      "--liftoff-only",
      `--max-old-space-size=${mode === "long" ? 4_000 : 600}`,
    ],
    // What vitest makes of a source is kept, by the source's content: in a second run this saves a third of the CPU time of files that do little.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest" },
    // Three for two cores: while a test waits for a server, a timer or a child, another one has its core.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    isolate: false,
    sequence: { sequencer: RoomByRoom },
    // Far above what any test needs, and only what never ends should fail by time: at a load of 32 README's tour, 13 s of CPU time,
    // took more than five minutes. So a test sets a limit of its own only where it needs more.
    testTimeout: mode === "long" ? 1_800_000 : 900_000,
    hookTimeout: 900_000,
    // For a busy machine: what comes to hold does so at once otherwise. `vi.waitFor` has no such setting, so nobody uses it.
    expect: { poll: { timeout: 60_000 } },
  },
}))
