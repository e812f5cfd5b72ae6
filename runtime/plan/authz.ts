import * as z from "zod"
import { engineListener } from "./resources.ts"
import { loadText, name } from "./text.ts"

const milliseconds = z.number().int().min(1).max(86_400_000)
const count = (max: number) => z.number().int().min(1).max(max)

/** Names of stores in the plan, sorted, or `*`: every store, including stores created through the API. */
const grantedStores = z.union([z.literal("*"), z.array(name).max(10_000)])

/** What a caller of the engine may do. `write` does not imply `read`. `manage` allows to create, rename and delete stores. */
const engineGrants = z.strictObject({ read: grantedStores, write: grantedStores, manage: z.boolean() })
export type EngineGrants = z.infer<typeof engineGrants>

/** Who may call the engine's listener. Keys are named by their secret. A token's `sub` has its own grants or, without an entry, those of `anySubject`. */
const engineAuth = z.strictObject({
  keys: z.record(name, engineGrants),
  issuers: z.record(
    name,
    z.strictObject({
      subjects: z
        .array(z.strictObject({ subject: z.string().min(1).max(1024), grants: engineGrants }))
        .max(10_000),
      anySubject: engineGrants.nullable(),
    }),
  ),
})
export type EngineAuth = z.infer<typeof engineAuth>

/** Limits on one request to the engine (documented at `AuthzLimits` of runtime/authz) and on the depth of a check. Null: no limit. */
export const engineLimits = z.strictObject({
  bodyBytesMax: z.number().int().min(1024).max(67_108_864),
  requestMs: milliseconds,
  tuplesPerWriteMax: count(10_000),
  contextualTuplesMax: count(10_000),
  conditionContextBytesMax: z.number().int().min(0).max(1_048_576),
  typesPerModelMax: count(10_000),
  modelBytesMax: z.number().int().min(1024).max(16_777_216),
  checksPerBatchMax: count(10_000),
  listObjectsMax: count(10_000_000).nullable(),
  listObjectsMs: milliseconds,
  listUsersMax: count(10_000_000).nullable(),
  listUsersMs: milliseconds,
  listPageSizeMax: count(100_000),
  /** The engine itself accepts no more. */
  matrixCellsMax: count(10_000),
  changesPageSizeMax: count(10_000),
  changesHorizonMs: z.number().int().min(0).max(86_400_000),
  watchersMax: count(100_000),
  assertionsMax: count(10_000),
  assertionsBytesMax: z.number().int().min(1024).max(16_777_216),
  assertionTuplesMax: count(1000),
  /** Usersets and `from` in a row that a check may follow. */
  depthMax: count(1_000_000).nullable(),
  /** Open connections of one address (default: `connectionsPerAddressDefault`). */
  connectionsPerAddressMax: count(1_000_000).nullable().optional(),
})
export type EngineLimits = z.infer<typeof engineLimits>

/** OpenFGA's defaults, except for the lengths of lists: lists are complete here. */
export const engineLimitDefaults: EngineLimits = {
  bodyBytesMax: 616_448,
  requestMs: 3_000,
  tuplesPerWriteMax: 100,
  contextualTuplesMax: 100,
  conditionContextBytesMax: 32 * 1024,
  typesPerModelMax: 100,
  modelBytesMax: 256 * 1024,
  checksPerBatchMax: 50,
  listObjectsMax: null,
  listObjectsMs: 3_000,
  listUsersMax: null,
  listUsersMs: 3_000,
  listPageSizeMax: 1_000,
  matrixCellsMax: 10_000,
  changesPageSizeMax: 100,
  changesHorizonMs: 0,
  watchersMax: 5_000,
  assertionsMax: 100,
  // Measured as JSON. OpenFGA accepts 64,000 bytes of protobuf, and their JSON is always shorter than this.
  assertionsBytesMax: 256 * 1024,
  assertionTuplesMax: 20,
  depthMax: 25,
}

/** Origins whose pages may call the engine (`*`: any), and the request headers they may send. */
const engineCors = z.strictObject({
  origins: z.array(z.string().min(1).max(1024)).max(1000),
  headers: z.array(z.string().min(1).max(256)).max(1000),
})
export type EngineCors = z.infer<typeof engineCors>

/** AuthZEN. `store`: the store that paths without a store use; null: the only store. `url`: where clients reach the engine; null: the address that a request reached. */
const engineAuthzen = z.strictObject({ store: name.nullable(), url: loadText.nullable() })
export type EngineAuthzen = z.infer<typeof engineAuthzen>

/** Which lines the engine writes to the log. Values of contexts are in none. */
const engineLog = z.strictObject({
  /** One for each request to the engine, and each question of the gateway. */
  requests: z.boolean(),
  /** The share of decisions with a line, in percent; null: none. */
  decisions: z.number().min(0).max(100).nullable(),
  /** How lines name users: by their type, by a keyed hash (the name of a secret), or as they are. */
  users: z.union([z.enum(["types", "plain"]), z.strictObject({ secret: name })]),
  /** Questions that take this long, or this many steps, have a line; null: the default, and no limit. */
  slowMs: milliseconds.nullable(),
  slowSteps: count(1_000_000_000).nullable(),
})
/** What the engine logs. */
export type EngineLogPlan = z.infer<typeof engineLog>

/** Memory for the tuples of all stores of a process, in bytes. */
export const memoryBytes = z.number().int().min(1_048_576).max(1_099_511_627_776)
/** Default of `memoryBytes`. */
export const memoryBytesDefault = 512 * 1024 * 1024

/**
 * A move of stored tuples: those of a relation (`doc#viewer`) or a type (`doc`) are copied to another one, and kept in step. `users`: only
 * tuples of these types of users (`user`, `user:*`, `group#member`); absent: of all.
 */
export const tupleMove = z.strictObject({
  from: z.string(),
  to: z.string(),
  users: z.array(z.string()).min(1).optional(),
})
export type TupleMove = z.infer<typeof tupleMove>

/** The engine's internal listener. `maxStalenessMs` null: no limit. `readyWhenWarm`: a process is ready when its stores are in memory. Stores name a model by digest. `auth` null: no authentication. */
export const authz = z.strictObject({
  listen: z.array(engineListener).max(16),
  public: z.boolean(),
  maxStalenessMs: milliseconds.nullable(),
  memoryBytes,
  readyWhenWarm: z.boolean(),
  auth: engineAuth.nullable(),
  limits: engineLimits,
  cors: engineCors,
  authzen: engineAuthzen,
  log: engineLog.optional(),
  stores: z.record(name, z.strictObject({ model: z.string(), moves: z.array(tupleMove).min(1).optional() })),
})
