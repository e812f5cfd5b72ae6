import type { TupleKey } from "../../../check/ports.ts"
import { call, get } from "./client.ts"

/** A store of the engine. */
export interface EngineStore {
  readonly id: string
  readonly name: string
}

/** What users a relation takes directly: a type, everybody of it (`wildcard`), or a set (`relation`), perhaps under a condition. */
export interface DirectUser {
  readonly type: string
  readonly relation?: string
  readonly wildcard?: object
  readonly condition?: string
}

/** The types of a store's model by name, each with its relations, and what each relation takes directly. */
export type RelationsByType = ReadonlyMap<string, ReadonlyMap<string, readonly DirectUser[]>>

/** A tuple as the engine stores it. */
export interface ListedTuple {
  readonly key: Omit<TupleKey, "condition"> & { readonly condition: TupleKey["condition"] | null }
  /** ISO 8601. */
  readonly timestamp: string
}

interface StoresPage {
  readonly stores: readonly EngineStore[]
  readonly continuation_token: string
}

interface ModelsPage {
  readonly authorization_models: readonly {
    readonly type_definitions: readonly {
      readonly type: string
      readonly relations?: Readonly<Record<string, unknown>> | null
      readonly metadata?: {
        readonly relations?: Readonly<
          Record<string, { readonly directly_related_user_types?: readonly DirectUser[] } | undefined>
        > | null
      } | null
    }[]
  }[]
}

/** More stores than a list to choose from should have. */
const storesMax = 1_000

/** The path of something in a store. */
export function storePath(store: string, rest: string): string {
  return `/authz/stores/${encodeURIComponent(store)}/${rest}`
}

/** Asks the engine. Rejects with `CallFailure`. */
export function askEngine<Answer>(store: string, question: string, body: unknown): Promise<Answer> {
  return call<Answer>("POST", storePath(store, question), body)
}

/** The stores, in the order of the engine; the first thousand. */
export async function readStores(): Promise<readonly EngineStore[]> {
  const stores: EngineStore[] = []
  let token = ""
  do {
    const query = new URLSearchParams({ page_size: "100", ...(token && { continuation_token: token }) })
    const page = await get<StoresPage>(`/authz/stores?${query}`)
    stores.push(...page.stores)
    token = page.continuation_token
  } while (token !== "" && stores.length < storesMax)
  return stores
}

/** The types of the newest model of a store; none when it has no model. */
export async function readTypes(store: string): Promise<RelationsByType> {
  const path = storePath(store, "authorization-models?page_size=1")
  const [model] = (await get<ModelsPage>(path)).authorization_models
  return new Map(
    (model?.type_definitions ?? []).map(({ type, relations, metadata }) => [
      type,
      new Map(
        Object.keys(relations ?? {}).map((relation) => [
          relation,
          metadata?.relations?.[relation]?.directly_related_user_types ?? [],
        ]),
      ),
    ]),
  )
}

/** `user:ann`, `user:*` or `group:eng#member`: the type, the id, and the relation of a set. Undefined: it has no such form. */
export function partsOf(
  name: string,
): { type: string; id: string; relation: string | undefined } | undefined {
  const [, type, id, relation] = /^([^:#\s]+):([^#\s]+)(?:#([^:#\s]+))?$/.exec(name) ?? []
  return type === undefined || id === undefined ? undefined : { type, id, relation }
}
