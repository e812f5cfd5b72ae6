import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { resolve } from "node:path"
import type { ImpactRow } from "../../runtime/check/access-change.ts"
import { type AccessImpact, accessImpact, ImpactTuples } from "../../runtime/check/impact.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { packRows, type TupleKey, type TupleRow } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import type { ImpactLine } from "../../runtime/control/impact.ts"
import { fileReason } from "../../runtime/plan/file-reason.ts"
import type { Plan, PlanBody } from "../../runtime/plan/plan.ts"
import { changedBranches } from "../diff/changed-branch.ts"
import type { StorePeople } from "../diff/people.ts"
import { StoreUses } from "../diff/relation-uses.ts"
import { CliError, type OptionValues } from "./command.ts"
import type { Io } from "./io.ts"
import { readJson, readStore, textOf } from "./options.ts"
import { withProgress } from "./progress.ts"
import { problemError, type Remote } from "./remote.ts"
import { formatOf, tupleBatches } from "./tuple-batches.ts"

/** How people are compared. */
export interface PeopleArgs {
  /** A file with tuples; undefined: those of the running stores. */
  readonly tuples: string | undefined
  /** Whether people are compared over the running stores. */
  readonly running: boolean
  /** The store of the file, by default the only one; or the only running store to compare. */
  readonly store: string | undefined
  /** Values for conditions. */
  readonly context: Readonly<Record<string, unknown>> | undefined
  /** File for all rows. */
  readonly full: string | undefined
}

/** Options of commands that compare people. */
export const peopleOptions = [
  [
    "--tuples <file>",
    "with --against: also tell who gains or loses access, over the tuples in this file (.jsonl, .csv, .yaml or .json)",
  ],
  ["--no-people", "do not tell who gains or loses access, over the tuples of the running stores"],
  [
    "--store <name>",
    "the store of --tuples (default: the only one); without --tuples, the only store of which people are compared",
  ],
  ["--context <json>", "values for conditions, as a JSON object; without them access may stay undecided"],
  ["--full <file>", "write every gain and loss to this file, as JSON lines"],
] as const

/** Reads `peopleOptions`. */
export function readPeople(options: OptionValues): PeopleArgs {
  const [tuples, full] = [textOf(options, "tuples"), textOf(options, "full")]
  const context = readJson(options["context"], "--context") as PeopleArgs["context"]
  const against = textOf(options, "against")
  if (tuples !== undefined && (against ?? "empty") === "empty")
    throw new CliError(
      "--tuples needs an old model to compare with",
      "Add `--against FILE`, a plan file with the old model.",
    )
  const running = options["people"] !== false && against === undefined
  if (tuples === undefined && !running && (full !== undefined || context !== undefined))
    throw new CliError(
      `--${full === undefined ? "context" : "full"} is for the comparison of people`,
      against === undefined ? "Remove --no-people." : "Add `--tuples FILE`.",
    )
  return { tuples, running, store: readStore(options), context, full }
}

/** A store whose model differs between two plans. */
export interface ChangedStore {
  readonly name: string
  readonly before: LoadedModel
  readonly after: LoadedModel
}

/** The stores that both plans have, with different models. */
export function changedStores(before: PlanBody | undefined, after: PlanBody): ChangedStore[] {
  const old = before?.authz?.stores ?? {}
  return Object.entries(after.authz?.stores ?? {}).flatMap(([name, { model }]) => {
    const was = Object.hasOwn(old, name) ? before?.models[old[name]?.model ?? ""] : undefined
    const is = after.models[model]
    if (was === undefined || is === undefined || old[name]?.model === model) return []
    return [{ name, before: loadModel(was), after: loadModel(is) }]
  })
}

/** Compares people over the tuples of a file. Undefined: the model of their store has not changed. */
export async function peopleOfFile(
  io: Io,
  before: PlanBody | undefined,
  after: Plan,
  { tuples: file, store, context, full }: PeopleArgs,
): Promise<StorePeople | undefined> {
  if (file === undefined) return undefined
  const name = storeOf(after.plan, store)
  const changed = changedStores(before, after.plan).find((each) => each.name === name)
  if (changed === undefined) return undefined
  return withProgress(io, "comparing people", async () => {
    const tuples = await readTuples(io, file)
    const rows = full === undefined ? undefined : new RowFile(io, full)
    const onRow = rows === undefined ? undefined : (row: ImpactRow) => rows.add(row)
    const running = accessImpact({ tuples, before: changed.before, after: changed.after, context, onRow })
    let step = running.next()
    for (; step.done !== true; step = running.next()) await rows?.flushed()
    await rows?.close()
    return peopleOf(
      after,
      changed,
      { store: name, source: file, revision: null, tuples: tuples.count, whole: true },
      step.value,
    )
  })
}

/** The plan with which another is compared, and the Sallyport that runs it. */
interface RunningPlan {
  readonly remote?: Remote
  readonly plan: Plan | undefined
  readonly base: { readonly serial?: number | undefined; readonly stamp?: string | undefined } | null
}

/**
 * Compares people over the tuples of the running stores, in the running Sallyport. If that is not possible, says why, and the plan continues without them.
 */
export async function peopleOfRunning(
  io: Io,
  { remote, plan: before, base }: RunningPlan,
  after: Plan,
  { running, store, context, full }: PeopleArgs,
): Promise<StorePeople[]> {
  const changed = changedStores(before?.plan, after.plan).filter(
    ({ name }) => store === undefined || name === store,
  )
  if (!running || remote === undefined || changed.length === 0) return []
  const file = full === undefined ? undefined : new RowFile(io, full)
  const found: StorePeople[] = []
  let [isWhole, failure] = [false, ""]
  const onLine = (line: ImpactLine) => {
    if ("error" in line) failure = line.error
    else if ("end" in line) isWhole = true
    else if ("row" in line) file?.add(line.row)
    else if ("impact" in line) {
      const { revision, tuples, whole } = line
      found.push(
        peopleOf(
          after,
          changed.find(({ name }) => name === line.store),
          { store: line.store, source: "the running store", revision, tuples, whole },
          line.impact,
        ),
      )
    }
  }
  try {
    const from = { base: base?.serial ?? null, baseStamp: base?.stamp }
    const body = { plan: after, ...from, rows: full !== undefined, context, store }
    const answer = await withProgress(io, "comparing people", () =>
      remote.lines("/v1/plan/impact", body, (line) => onLine(line as ImpactLine)),
    )
    if (answer.status !== 200) throw problemError(answer)
    if (!isWhole) throw new CliError(failure || "the answer is not complete")
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    io.err(`People were not compared: ${error.message}\n\n`)
    return []
  } finally {
    await file?.close()
  }
  return found
}

function storeOf({ authz }: PlanBody, given: string | undefined): string {
  const stores = Object.keys(authz?.stores ?? {})
  const [only] = stores
  if (given !== undefined && stores.includes(given)) return given
  if (given === undefined && only !== undefined && stores.length === 1) return only
  throw new CliError(
    given === undefined ? `the project has ${stores.length} stores` : `the project has no store \`${given}\``,
    stores.length === 0
      ? "Remove --tuples: there is no store that tuples could belong to."
      : `Name the store of the tuples: --store ${stores.join(", or --store ")}.`,
  )
}

/** Joins a comparison with what the project says about its relations. */
export function peopleOf(
  { plan, origins }: Plan,
  changed: Pick<ChangedStore, "before" | "after"> | undefined,
  from: Pick<StorePeople, "store" | "source" | "revision" | "tuples" | "whole">,
  impact: AccessImpact,
): StorePeople {
  const uses = new StoreUses(plan, from.store)
  const originOf = (relation: string) => {
    const path = `authz.stores.${from.store}.${relation}`
    const [old, next] = [changed?.before.plan.model, changed?.after.plan.model]
    const branches = old === undefined || next === undefined ? [] : changedBranches(old, next, relation)
    return (
      branches.map((branch) => origins[`${path} ${branch}`]).find((each) => each !== undefined) ??
      origins[path]
    )
  }
  return {
    ...from,
    impact,
    relations: impact.relations.map((each) => ({
      impact: each,
      uses: uses.of(each.relation),
      origin: originOf(each.relation),
    })),
  }
}

async function readTuples(io: Io, file: string): Promise<ImpactTuples> {
  const tuples = new ImpactTuples()
  const seen = new Set<string>()
  for await (const batch of tupleBatches(io, file, formatOf(file), 1)) {
    const rows: TupleRow[] = []
    for (const [at, line] of batch.lines.toString("utf8").split("\n").entries()) {
      if (line.trim() === "") continue
      const row = rowOf(tupleOf(line, `${file}:${batch.lineOf(at + 1)}`))
      const key = `${row[0]} ${row[1]} ${row[2]} ${row[3]}`
      if (seen.has(key)) continue
      seen.add(key)
      rows.push(row)
    }
    tuples.load(packRows(rows))
  }
  for (const _ of tuples.finish());
  return tuples
}

function tupleOf(line: string, place: string): TupleKey {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new CliError(`${place}: this line is not JSON`, "Write one tuple per line.")
  }
  const { user, relation, object, condition } = value as Partial<TupleKey>
  const names = [user, relation, object]
  if (names.every((name): name is string => typeof name === "string" && name !== "" && !/[\t\n]/.test(name)))
    return value as TupleKey
  throw new CliError(
    `${place}: a tuple needs \`user\`, \`relation\` and \`object\`${condition === undefined ? "" : " beside its condition"}`,
    'For example: {"user": "user:ann", "relation": "viewer", "object": "doc:1"}',
  )
}

/** Rows of text before the stream is waited for. */
const pendingMax = 4 * 1024 * 1024

/** All rows as JSON lines, in a file. */
class RowFile {
  readonly #path: string
  readonly #stream: ReturnType<typeof createWriteStream>
  #failure: Error | undefined

  constructor(io: Io, path: string) {
    this.#path = path
    this.#stream = createWriteStream(resolve(io.cwd, path))
    this.#stream.on("error", (error) => {
      this.#failure = error
    })
  }

  add(row: ImpactRow): void {
    this.#stream.write(`${JSON.stringify(row)}\n`)
  }

  /** Waits while too much is not written. */
  async flushed(): Promise<void> {
    this.#check()
    if (this.#stream.writableLength > pendingMax) await once(this.#stream, "drain")
  }

  async close(): Promise<void> {
    await new Promise<void>((done) => this.#stream.end(done))
    this.#check()
  }

  #check(): void {
    if (this.#failure === undefined) return
    throw new CliError(
      `the rows cannot be written to ${this.#path}: ${fileReason(this.#failure)}`,
      "Name a file in an existing folder that this user may write to.",
    )
  }
}
