import type { ImpactRow } from "../../runtime/check/access-change.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { type AccessImpact, accessImpact, ImpactTuples } from "../../runtime/check/impact.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { matrix } from "../../runtime/check/matrix.ts"
import { packRows, type TupleKey, type TupleRow } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { withAnother } from "../model-compare/another-model.ts"
import type { Random } from "../naive/random.ts"
import { type RandomWorld, randomWorld } from "../naive/worlds.ts"
import { MemorySource } from "./memory-source.ts"

const relations = ["a", "b", "c", "d", "parent", "e"]
const types = ["user", "robot", "group", "folder", "doc"]

/** What `accessImpact` tells, with all rows. */
export interface ImpactWithRows {
  readonly impact: AccessImpact
  readonly rows: readonly ImpactRow[]
}

export function impactOf(
  tuples: readonly TupleKey[],
  before: LoadedModel,
  after: LoadedModel,
  context?: Record<string, unknown>,
  memoryBytes?: number,
): ImpactWithRows {
  return impactOfRows(tuples.map(rowOf), before, after, context, memoryBytes)
}

export function impactOfRows(
  tuples: readonly TupleRow[],
  before: LoadedModel,
  after: LoadedModel,
  context?: Record<string, unknown>,
  memoryBytes?: number,
): ImpactWithRows {
  const stored = new ImpactTuples()
  stored.load(packRows(tuples))
  for (const _ of stored.finish());
  const rows: ImpactRow[] = []
  const onRow = (row: ImpactRow) => rows.push(row)
  const running = accessImpact({ tuples: stored, before, after, context, memoryBytes, onRow })
  for (;;) {
    const step = running.next()
    if (step.done === true) return { impact: step.value, rows }
  }
}

/** Whether the sets (`group:1#member`) that tuples name are asked for, too. */
type AskedUsers = "users" | "users and sets"

/** Every user that a tuple names, and one of each type that none names. */
function usersOf(tuples: readonly TupleKey[], asked: AskedUsers): string[] {
  const named = tuples
    .map(({ user }) => user)
    .filter((user) => !user.endsWith(":*") && (asked === "users and sets" || !user.includes("#")))
  return [...new Set([...named, ...types.map((type) => `${type}:stranger`)])]
}

/** The access of every user by every relation to every object: true, false or an error. */
export async function accessOf(
  { tuples, objects }: Pick<RandomWorld, "tuples" | "objects">,
  model: LoadedModel,
  context: Record<string, unknown>,
  who: AskedUsers = "users",
): Promise<Map<string, boolean | "error">> {
  const source = new MemorySource()
  source.write(...tuples)
  const engine = new Engine(source, { pollMs: 0, depthMax: Number.POSITIVE_INFINITY })
  const users = usersOf(tuples, who)
  const known = new Set(model.types.keys())
  const found = new Map<string, boolean | "error">()
  try {
    const asked = users.filter((user) => {
      const [type = "", relation] = user.replace(/:[^#]*/, "").split("#")
      return relation === undefined ? known.has(type) : model.relationIndex(type, relation) >= 0
    })
    const kept = objects.filter((object) => known.has(object.split(":")[0] ?? ""))
    const { cells } = await engine.ask(
      "store",
      matrix(model, { users: asked, relations, objects: kept, context }, engine.bounds),
    )
    for (const [u, user] of asked.entries())
      for (const [r, relation] of relations.entries())
        for (const [o, object] of kept.entries()) {
          const cell = cells[u]?.[r]?.[o]
          found.set(`${user} ${object}#${relation}`, typeof cell === "boolean" ? cell : "error")
        }
  } finally {
    engine.close()
  }
  return found
}

/** The change of one answer; `error` is that of a condition without its values. */
export function changeOf(old: boolean | "error", next: boolean | "error"): string {
  if (old === next) return old === "error" ? "undecided" : "unchanged"
  if (old === "error") return next ? "may-gain" : "may-lose"
  if (next === "error") return old ? "may-lose" : "may-gain"
  return next ? "gains" : "loses"
}

/** What the rows say of a user: its own row, or that of everybody. */
export function told(rows: readonly ImpactRow[]): Map<string, string> {
  return new Map(
    rows.map(({ user, relation, object, change }) => [`${user} ${object}#${relation.split("#")[1]}`, change]),
  )
}

/** Another model: one or two edits, sometimes a condition with another expression, or one relation more or less. */
export function edited(model: AuthorizationModel, random: Random): AuthorizationModel {
  let next = withAnother(model, randomWorld(random).model, random)
  if (random.chance(40)) next = withAnother(next, randomWorld(random).model, random)
  next = structuredClone(next)
  if (random.chance(20) && next.conditions?.["small"] !== undefined)
    next.conditions["small"] = { ...next.conditions["small"], expression: "x < 5" }
  const definition = random.pick(next.type_definitions.slice(2))
  if (random.chance(15) && definition.relations !== undefined) {
    const copied = random.pick(["a", "b", "c"])
    definition.relations["e"] = structuredClone(definition.relations[copied] ?? { this: {} })
    const listed = definition.metadata?.relations?.[copied]
    if (listed !== undefined && definition.metadata?.relations !== undefined)
      definition.metadata.relations["e"] = listed
  }
  return next
}
