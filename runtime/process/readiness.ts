import type { PlanKeeper } from "../control/plan-keeper.ts"
import type { Database } from "../store/database.ts"
import { schemaState } from "../store/schema-state.ts"

/** What keeps a process from being ready: the database, its schema, its plan. */
export async function reasonsAgainst(
  database: Database,
  keeper: PlanKeeper,
  hasFile: boolean,
): Promise<readonly string[]> {
  const kept = keeper.kept === undefined ? [] : [keeper.kept]
  try {
    const schema = await schemaState(database)
    // A newer schema only adds (migrations/README.md): while a release comes in, the one before serves on.
    if (schema.state !== "ok" && schema.state !== "newer") return [schema.message]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [`the database does not answer: ${reason}`, ...kept]
  }
  if (hasFile || keeper.serial !== null) return []
  return [keeper.error ?? "no plan was applied yet: `sallyport apply` applies one", ...kept]
}
