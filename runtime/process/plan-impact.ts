import type { ImpactLine, ImpactQuestion } from "../control/impact.ts"
import { Unavailable } from "../control/ports.ts"
import { storeImpact } from "../impact/store-impact.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { Database } from "../store/database.ts"
import { declaredStores } from "../store/declared-stores.ts"
import { createTupleSource } from "../store/tuple-source.ts"

/** Lines about the reading, at most. */
const readingSteps = 20

/** What a comparison of people needs of the process. */
export interface PlanImpactParts {
  readonly database: Database
}

/**
 * Who gains or loses access if a plan replaces the running one: for each store that both have, with another model. The tuples of each are those of
 * one commit.
 */
export async function* planImpact(
  { database }: PlanImpactParts,
  { plan, running: base, context, rows, store: only, signal }: ImpactQuestion,
): AsyncGenerator<ImpactLine> {
  const running = base?.plan.plan
  if (running === undefined) return
  const stores = await declaredStores(database)
  const depthMax = plan.plan.authz?.limits.depthMax ?? Number.POSITIVE_INFINITY
  for (const { store, before, after } of changedModels(running, plan.plan)) {
    if (only !== undefined && store !== only) continue
    const storeId = stores.get(store)?.storeId
    if (storeId === undefined) throw new Unavailable(`the database has no store ${store} yet`)
    const source = createTupleSource(database)
    let told = -1
    for await (const event of storeImpact({
      source,
      storeId,
      before,
      after,
      context,
      rows,
      depthMax,
      signal,
    })) {
      if ("rows" in event) for (const row of event.rows) yield { store, row }
      else if ("progress" in event) yield { store, progress: event.progress }
      else if ("result" in event)
        yield {
          ...{ store, impact: event.result, revision: event.revision },
          ...{ tuples: event.tuples, whole: event.whole },
        }
      else {
        const step = Math.floor(readingSteps * (event.reading ?? 0))
        if (step > told) yield { store, reading: event.reading ?? null }
        told = Math.max(told, step)
      }
    }
  }
}

function* changedModels(old: PlanBody, next: PlanBody) {
  for (const [store, { model }] of Object.entries(next.authz?.stores ?? {})) {
    const stores = old.authz?.stores ?? {}
    const was = Object.hasOwn(stores, store) ? stores[store]?.model : undefined
    const [before, after] = [old.models[was ?? ""], next.models[model]]
    if (was !== model && before !== undefined && after !== undefined) yield { store, before, after }
  }
}
