import { TupleMoves } from "../check/tuple-moves.ts"
import type { TupleMove } from "../plan/authz.ts"
import type { Database, PreparedStatement } from "./database.ts"

/** Stores with moves that are remembered. */
const storesMax = 10_000

const selectMoves: PreparedStatement = {
  name: "moves-of-store",
  text: "select moves from sallyport.stores where id = $1 and deleted_at is null",
}

/**
 * The moves that a process knows of. The truth is in the store's row: a write states what it knows, and writes nothing when that is not so.
 * Therefore a process that has not noticed a new plan yet keeps old and new tuples in step, too.
 */
export class KnownMoves {
  readonly #database: Database
  readonly #stores = new Map<string, { readonly text: string; readonly moves: TupleMoves }>()

  constructor(database: Database) {
    this.#database = database
  }

  has(storeId: string): boolean {
    return this.#stores.has(storeId)
  }

  of(storeId: string): TupleMoves | undefined {
    return this.#stores.get(storeId)?.moves
  }

  /** Takes the text of a store's row. */
  learn(storeId: string, text: string): void {
    if (this.#stores.get(storeId)?.text === text) return
    this.#stores.delete(storeId)
    if (text === "") return
    this.#stores.set(storeId, { text, moves: movesOf(text) })
    for (const oldest of this.#stores.keys()) {
      if (this.#stores.size <= storesMax) break
      this.#stores.delete(oldest)
    }
  }

  /** Reads them from the database; whether the store has some. */
  async read(storeId: string): Promise<boolean> {
    const [row] = await this.#database.query<[string]>(selectMoves, [storeId])
    this.learn(storeId, row?.[0] ?? "")
    return this.has(storeId)
  }
}

/** The moves in the text of a store's row. */
export function movesOf(text: string): TupleMoves {
  return new TupleMoves(text === "" ? [] : (JSON.parse(text) as TupleMove[]))
}

const byDatabase = new WeakMap<Database, KnownMoves>()

/** What is known of the stores of a database. */
export function knownMoves(database: Database): KnownMoves {
  const found = byDatabase.get(database) ?? new KnownMoves(database)
  byDatabase.set(database, found)
  return found
}
