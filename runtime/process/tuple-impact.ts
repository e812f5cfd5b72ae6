import type { ImpactRow } from "../check/access-change.ts"
import { loadModel } from "../check/loaded-model.ts"
import type { TupleRow } from "../check/ports.ts"
import { rowOf, validateTuple } from "../check/tuple.ts"
import { TupleMoves } from "../check/tuple-moves.ts"
import type { TupleImpactAnswer, TupleImpactQuestion } from "../control/tuple-impact.ts"
import { editedStore, type TupleEdit } from "../impact/edited-store.ts"
import { type StoreImpactEvent, storeImpact } from "../impact/store-impact.ts"
import { lowerModel } from "../model/lower.ts"
import type { Plan } from "../plan/plan.ts"
import type { Database } from "../store/database.ts"
import { findModel } from "../store/models.ts"
import { findStore } from "../store/stores.ts"
import { createTupleSource } from "../store/tuple-source.ts"

/** So many changes are listed one by one; of more, the response has only their numbers. */
const rowsMax = 500

/** What the effect of tuples needs of the process. */
interface TupleImpactParts {
  readonly database: Database
  /** The running plan. */
  readonly plan: Plan | undefined
}

/**
 * Who gains or loses access when tuples are written and deleted: the comparison of two models (runtime/impact), over the tuples of one commit.
 * Null: there is no such store. A text: why these tuples cannot be written.
 */
export async function tupleImpact(
  { database, plan }: TupleImpactParts,
  question: TupleImpactQuestion,
): Promise<TupleImpactAnswer | string | null> {
  const store = await findStore(database, question.store)
  if (store === undefined) return null
  const found = store.modelId === null ? undefined : await findModel(database, store.id, store.modelId)
  if (found === undefined) return "the store has no model"
  const model = lowerModel(found.model)
  const loaded = loadModel(model)
  for (const key of question.writes) {
    const error = validateTuple(loaded, key)
    if (error !== undefined) return error.message
  }
  const moves = store.managed ? plan?.plan.authz?.stores[store.declaredName ?? ""]?.moves : undefined
  const edit = editOf(question, new TupleMoves(moves ?? []))
  if (edit === undefined) return "a tuple is named twice"
  const edited = editedStore(model, edit)
  const terms = {
    source: edited.source(createTupleSource(database)),
    ...{ storeId: store.id, before: edited.before, after: edited.after, context: question.context },
    ...{ depthMax: plan?.plan.authz?.limits.depthMax ?? Number.POSITIVE_INFINITY, signal: question.signal },
  }
  const rows: ImpactRow[] = []
  const { result, revision } = await resultOf(storeImpact({ ...terms, rows: rowsMax }), rows)
  const { relations, users, objects, compared, candidates } = result
  return {
    ...{ revision, users, objects, compared, candidates },
    relations: relations.map(({ samples: _, ...relation }) => relation),
    rows: relations.length === 0 || rows.length > 0 ? rows : null,
  }
}

/** The tuples with those that a `move` keeps in step. Undefined: one is named twice. */
function editOf(question: TupleImpactQuestion, moves: TupleMoves): TupleEdit | undefined {
  const writes = question.writes.map(rowOf)
  const deletes = question.deletes.map(rowOf)
  const keys = [...writes, ...deletes].map((row: TupleRow) => row.slice(0, 4).join(" "))
  if (new Set(keys).size < keys.length) return undefined
  const companions = moves.companions(writes, deletes)
  // A copy that other tuples keep is not deleted with this one.
  const copies = companions.deletes.filter(({ unless }) => unless.length === 0).map(({ row }) => row)
  return { writes: [...writes, ...companions.writes], deletes: [...deletes, ...copies] }
}

async function resultOf(
  events: AsyncIterable<StoreImpactEvent>,
  rows: ImpactRow[],
): Promise<Extract<StoreImpactEvent, { result: unknown }>> {
  for await (const event of events) {
    if ("rows" in event) rows.push(...event.rows)
    if ("result" in event) return event
  }
  throw new Error("the comparison ended without a result")
}
