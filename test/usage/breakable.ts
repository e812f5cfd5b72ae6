import { SourceUnavailable } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"

/** A database that is away while `away` is true; `swallow` says how many transactions went through without their answer coming back. */
export function breakable(real: Database): Database & { away: boolean; swallow: number } {
  const state = { away: false, swallow: 0 }
  const transaction: Database["transaction"] = async (work, options) => {
    if (state.away) throw new SourceUnavailable("nobody there")
    const result = await real.transaction(work, options)
    if (state.swallow > 0) {
      state.swallow -= 1
      throw new SourceUnavailable("the answer was lost")
    }
    return result
  }
  return Object.assign(state, {
    kind: real.kind,
    schema: real.schema,
    state: real.state,
    query: real.query.bind(real),
    batch: real.batch.bind(real),
    transaction,
    close: async () => undefined,
  } as Omit<Database, "listen">) as Database & { away: boolean; swallow: number }
}
