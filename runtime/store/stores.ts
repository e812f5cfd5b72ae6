import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { newId } from "./ids.ts"

/** A store that is not deleted. `managed`: the running plan declares it, under `declaredName`. */
export interface StoreRecord {
  readonly id: string
  readonly name: string
  readonly declaredName: string | null
  readonly managed: boolean
  /** The model in use: the plan's for a managed store, else the newest; null when it has no model. */
  readonly modelId: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

type StoreRow = [
  id: string,
  name: string,
  declaredName: string | null,
  managed: boolean,
  modelId: string | null,
  createdAt: Date,
  updatedAt: Date,
]

const columns = `s.id, s.name, s.declared_name, s.managed,
  case when s.managed then s.model_id else (select max(m.id) from sallyport.models m where m.store_id = s.id) end,
  s.created_at, s.updated_at`

const insert: PreparedStatement = {
  name: "store-insert",
  text: "insert into sallyport.stores (id, name) values ($1, $2) returning created_at, updated_at",
}
const find: PreparedStatement = {
  name: "store-find",
  text: `select ${columns} from sallyport.stores s
    where s.deleted_at is null and (s.id = $1 or (s.managed and s.declared_name = $1))
    order by s.id = $1 desc limit 1`,
}
const list: PreparedStatement = {
  name: "store-list",
  text: `select ${columns} from sallyport.stores s
    where s.deleted_at is null and s.id > $1 and ($2::text is null or s.name = $2)
      and ($4::text[] is null or s.declared_name = any($4)) order by s.id limit $3`,
}
const markDeleted: PreparedStatement = {
  name: "store-delete",
  text: `update sallyport.stores set deleted_at = now(), updated_at = now()
    where id = $1 and deleted_at is null and not managed returning id`,
}

/** Creates a store of the API. Names need not be unique. */
export async function createStore(database: Queryable, name: string): Promise<StoreRecord> {
  const id = newId()
  const [row] = await database.query<[Date, Date]>(insert, [id, name])
  const [createdAt, updatedAt] = row as [Date, Date]
  return { id, name, declaredName: null, managed: false, modelId: null, createdAt, updatedAt }
}

/** By id, or by the name under which the running plan declares it. */
export async function findStore(database: Queryable, idOrName: string): Promise<StoreRecord | undefined> {
  const [row] = await database.query<StoreRow>(find, [idOrName])
  return row === undefined ? undefined : recordOf(row)
}

/**
 * Stores in order of their ids, at most `limit`. Only those after `after`; `""`: from the start. With `name`: only stores with exactly that
 * name. With `declared`: only stores that a plan declares under one of these names.
 */
export async function listStores(
  database: Queryable,
  page: {
    readonly after: string
    readonly limit: number
    readonly name?: string | undefined
    readonly declared?: ReadonlySet<string> | undefined
  },
): Promise<readonly StoreRecord[]> {
  const { after, limit, name, declared } = page
  const names = declared === undefined ? null : [...declared]
  const rows = await database.query<StoreRow>(list, [after, name ?? null, limit, names])
  return rows.map(recordOf)
}

const rename: PreparedStatement = {
  name: "store-rename",
  text: `update sallyport.stores set name = $2, updated_at = now()
    where id = $1 and deleted_at is null and not managed returning id`,
}

/** Renames a store of the API. `managed` and `absent` as in `deleteStore`. */
export async function renameStore(
  database: Database,
  id: string,
  name: string,
): Promise<StoreRecord | "managed" | "absent"> {
  const rows = await database.query(rename, [id, name])
  const found = await findStore(database, id)
  if (found === undefined) return "absent"
  return rows.length > 0 ? found : "managed"
}

/**
 * Marks a store as deleted; its rows stay, as in OpenFGA. `managed`: refused, the store belongs to the plan. `absent`: no such store (any
 * more).
 */
export async function deleteStore(database: Database, id: string): Promise<"deleted" | "managed" | "absent"> {
  const rows = await database.query(markDeleted, [id])
  if (rows.length > 0) return "deleted"
  const found = await findStore(database, id)
  return found === undefined ? "absent" : "managed"
}

function recordOf([id, name, declaredName, managed, modelId, createdAt, updatedAt]: StoreRow): StoreRecord {
  return { id, name, declaredName, managed, modelId, createdAt, updatedAt }
}
