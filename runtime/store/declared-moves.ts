import type { AuthorizationModel } from "../plan/authorization-model.ts"
import type { TupleMove } from "../plan/authz.ts"
import { canonicalJson } from "../plan/canonical.ts"
import type { PreparedStatement, Queryable } from "./database.ts"

/**
 * Where a move is. `copying`: existing tuples are copied. `ready`: old and new words are in step. `kept`: the model has only the new word;
 * the old tuples are kept in step, for a way back. `finishing`: the old tuples are deleted. `reverting`: the new ones are.
 */
export type MoveState = "copying" | "ready" | "kept" | "finishing" | "reverting"

/** A plan cannot be applied, because of a move. `message` is for operators. */
export class MoveRefused extends Error {
  override readonly name = "MoveRefused"
  readonly store: string

  constructor(store: string, message: string) {
    super(message)
    this.store = store
  }
}

const listOfStore: PreparedStatement = {
  name: "moves-list-of-store",
  text: "select source, target, users, state from sallyport.tuple_moves where store_id = $1 order by source, target, users for update",
}
const insert: PreparedStatement = {
  name: "moves-insert",
  text: `insert into sallyport.tuple_moves (store_id, source, target, users, state) values ($1, $2, $3, $4, 'copying')`,
}
/** A state starts at the first tuple. */
const setState: PreparedStatement = {
  name: "moves-set-state",
  text: `update sallyport.tuple_moves set state = $5, position = '', examined = 0, changed = case when $5 = 'ready' then changed else 0 end,
    failure = '', owner = '', leased_until = now(), updated_at = now() where store_id = $1 and source = $2 and target = $3 and users = $4`,
}
const removeMove: PreparedStatement = {
  name: "moves-remove",
  text: "delete from sallyport.tuple_moves where store_id = $1 and source = $2 and target = $3 and users = $4",
}
const modelOfStore: PreparedStatement = {
  name: "moves-model-of-store",
  text: `select m.model from sallyport.stores s join sallyport.models m on m.store_id = s.id and m.id = s.model_id where s.id = $1`,
}
const setMoves: PreparedStatement = {
  name: "moves-set-of-store",
  text: "update sallyport.stores set moves = $2 where id = $1 and moves <> $2",
}

type MoveRow = [source: string, target: string, users: string, state: MoveState]

/** The store of a plan whose moves are declared. */
export interface MovingStore {
  readonly name: string
  readonly storeId: string
  readonly model: AuthorizationModel
  readonly moves: readonly TupleMove[]
}

/**
 * Starts the moves that a plan adds to a store, and ends those that it leaves out: what the new model no longer has is given up. Call it
 * with the store's row locked, before the store gets its new model. From the commit on all writers keep the words in step.
 * @throws MoveRefused when somebody would lose access, or tuples would be lost
 */
export async function declareMoves(transaction: Queryable, store: MovingStore): Promise<void> {
  const rows = await transaction.query<MoveRow>(listOfStore, [store.storeId])
  if (rows.length === 0 && store.moves.length === 0) return
  const [running] = await transaction.query<[string]>(modelOfStore, [store.storeId])
  const before = running === undefined ? undefined : (JSON.parse(running[0]) as AuthorizationModel)
  const known = new Map(rows.map((row) => [keyOf(moveOf(row)), row]))
  for (const move of store.moves) {
    const row = known.get(keyOf(move))
    known.delete(keyOf(move))
    if (row === undefined) await start(transaction, store, before, move)
    else await resume(transaction, store, moveOf(row), row[3])
  }
  for (const row of known.values()) await leaveOut(transaction, store, moveOf(row), row[3])
  await keepInStep(transaction, store.storeId)
}

/** Writes into the store's row what writers keep in step. */
export async function keepInStep(transaction: Queryable, storeId: string): Promise<void> {
  const rows = await transaction.query<MoveRow>(listOfStore, [storeId])
  const kept = rows.filter(([, , , state]) => ["copying", "ready", "kept"].includes(state)).map(moveOf)
  await transaction.query(setMoves, [storeId, kept.length === 0 ? "" : canonicalJson(kept)])
}

async function start(
  transaction: Queryable,
  { name, storeId, model }: MovingStore,
  before: AuthorizationModel | undefined,
  move: TupleMove,
): Promise<void> {
  const { from, to } = move
  for (const word of [from, to])
    if (!hasWord(model, word)) throw new MoveRefused(name, `the model has no \`${word}\` for ${said(move)}`)
  if (before !== undefined && !hasWord(before, from))
    throw new MoveRefused(
      name,
      `${said(move)} starts from \`${from}\`, which the running model does not have: its tuples may be incomplete`,
    )
  if (before !== undefined && hasWord(before, to))
    throw new MoveRefused(
      name,
      `${said(move)} needs a new word, and the running model already has \`${to}\`: copied tuples could not be told from others when the plan is rolled back`,
    )
  await transaction.query(insert, [storeId, from, to, usersText(move)])
}

async function resume(
  transaction: Queryable,
  { name, storeId }: MovingStore,
  move: TupleMove,
  state: MoveState,
): Promise<void> {
  if (state === "finishing" || state === "reverting")
    throw new MoveRefused(name, `${said(move)} is ${state}: wait until that is done, or leave it out`)
  if (state === "kept") await change(transaction, storeId, move, "ready")
}

async function leaveOut(
  transaction: Queryable,
  { name, storeId, model }: MovingStore,
  move: TupleMove,
  state: MoveState,
): Promise<void> {
  const [hasOld, hasNew] = [hasWord(model, move.from), hasWord(model, move.to)]
  if ((state === "finishing" && hasOld) || (state === "reverting" && hasNew))
    throw new MoveRefused(
      name,
      `${said(move)} is ${state}, and the model has \`${state === "finishing" ? move.from : move.to}\` again: wait until that is done`,
    )
  if (state === "finishing" || state === "reverting") return
  if (hasNew && !hasOld) {
    if (state === "copying")
      throw new MoveRefused(
        name,
        `the tuples of \`${move.from}\` are still being copied to \`${move.to}\`: without them users would lose access. Apply the plan again when \`sallyport model moves\` says that the move is ready`,
      )
    await change(transaction, storeId, move, "kept")
  } else if (hasOld && !hasNew) await change(transaction, storeId, move, "reverting")
  // Both stay or both go: nothing that a model reads has to be deleted.
  else await transaction.query(removeMove, [storeId, ...rowKey(move)])
}

/** Sets the state of a move and starts it at the first tuple. */
export async function change(
  transaction: Queryable,
  storeId: string,
  move: TupleMove,
  state: MoveState,
): Promise<void> {
  await transaction.query(setState, [storeId, ...rowKey(move), state])
}

/** The columns that identify a move in its store. */
export function rowKey(move: TupleMove): [source: string, target: string, users: string] {
  return [move.from, move.to, usersText(move)]
}

/** The move of these columns. */
export function moveOf([from, to, users]: readonly [string, string, string, ...unknown[]]): TupleMove {
  return users === "" ? { from, to } : { from, to, users: users.split(" ") }
}

function usersText({ users = [] }: TupleMove): string {
  return [...users].sort().join(" ")
}

function keyOf(move: TupleMove): string {
  return rowKey(move).join("\n")
}

function said({ from, to }: TupleMove): string {
  return `the move of \`${from}\` to \`${to}\``
}

function hasWord({ type_definitions }: AuthorizationModel, word: string): boolean {
  const [type, relation] = word.split("#")
  const found = type_definitions.find((each) => each.type === type)
  return found !== undefined && (relation === undefined || Object.hasOwn(found.relations ?? {}, relation))
}
