import { CliError } from "../command.ts"
import { ApiRefusal, type EngineApi } from "./engine-api.ts"

/** A store as the API lists it. */
export interface StoreEntry {
  readonly id: string
  readonly name: string
  readonly created_at: string
}

/** A tuple as the API writes it. */
export interface TupleJson {
  readonly key: {
    readonly user: string
    readonly relation: string
    readonly object: string
    readonly condition?: { readonly name: string; readonly context?: object } | null
  }
  readonly timestamp: string
}

/** One entry of the change feed. */
export interface StoredChange {
  readonly tuple_key: TupleJson["key"]
  readonly operation: string
  readonly timestamp: string
}

/** The types of the model with their relations, and per relation the types of its direct users. */
export type ModelTypes = ReadonlyMap<string, readonly string[]>

const pageSize = 100
/** Maximum number of tuples whose names completion offers. */
const namesFromMax = 1_000
/** Maximum age of the offered names. */
const namesForMs = 30_000

/** All stores, page by page. */
export async function* storesOf(api: EngineApi): AsyncGenerator<readonly StoreEntry[]> {
  let token = ""
  do {
    const query = new URLSearchParams({ page_size: String(pageSize), continuation_token: token })
    const page = (await api.request("GET", `/stores?${query}`)) as {
      stores: readonly StoreEntry[]
      continuation_token: string
    }
    yield page.stores
    token = page.continuation_token
  } while (token !== "")
}

/** The store with this id or declared name, else the only one with this name. @throws CliError */
export async function findStore(api: EngineApi, named: string): Promise<StoreEntry> {
  try {
    return (await api.request("GET", `/stores/${encodeURIComponent(named)}`)) as StoreEntry
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status === 401) throw error
    // A key with only write permission cannot read the store. Its later requests report that.
    if (error.status === 403) return { id: named, name: named, created_at: "" }
  }
  const found: StoreEntry[] = []
  for await (const page of storesOf(api)) found.push(...page.filter(({ name }) => name === named))
  const [only] = found
  if (only === undefined) throw new CliError(`there is no store ${named}`, "`stores` lists them.")
  if (found.length > 1)
    throw new CliError(
      `${found.length} stores have the name ${named}`,
      `Use the id: ${found.map(({ id }) => id).join(", ")}`,
    )
  return only
}

/** One store of the API, with a cache for completion. */
export class StoreView {
  readonly store: StoreEntry
  readonly #api: EngineApi
  #types: Promise<ModelTypes> | undefined
  #names: { readonly at: number; readonly found: Promise<ReadonlySet<string>> } | undefined
  readonly #seen = new Set<string>()

  constructor(api: EngineApi, store: StoreEntry) {
    this.#api = api
    this.store = store
  }

  ask(path: string, body: unknown): Promise<unknown> {
    return this.#api.request("POST", this.#path(path), body)
  }

  /** The results of a list request of the API, page by page. */
  async *lists<Page extends object>(path: string, body: object): AsyncGenerator<Page> {
    for (let token: string | undefined = ""; token !== undefined; ) {
      const paging = { page_size: pageSize, ...(token === "" ? {} : { continuation_token: token }) }
      const page = (await this.ask(path, { ...body, ...paging })) as Awaited<Page> & {
        continuation_token?: string
      }
      yield page
      token = page.continuation_token || undefined
    }
  }

  /** The newest model, or the one with this id, as text. */
  async modelText(id: string | undefined): Promise<string> {
    const model = id ?? (await this.#newestModel())?.id
    if (model === undefined) throw new CliError("this store has no model")
    const text = await this.#api.request("GET", this.#path(`authorization-models/${model}?format=dsl`))
    // A server without the text format returns JSON.
    return typeof text === "string" ? text : `${JSON.stringify(text, null, 2)}\n`
  }

  async modelJson(id: string | undefined): Promise<unknown> {
    if (id === undefined) return (await this.#newestModel()) ?? {}
    const answer = await this.#api.request("GET", this.#path(`authorization-models/${id}`))
    return (answer as { authorization_model: unknown }).authorization_model
  }

  /** Stored tuples, page by page. */
  async *tuples(filter: object | undefined): AsyncGenerator<readonly TupleJson[]> {
    let token = ""
    do {
      const body = { ...(filter && { tuple_key: filter }), page_size: pageSize, continuation_token: token }
      const page = (await this.ask("read", body)) as { tuples: TupleJson[]; continuation_token: string }
      yield page.tuples
      token = page.continuation_token
    } while (token !== "")
  }

  /** The change feed in order of commit, page by page, up to now. */
  async *changes(
    type: string | undefined,
    since: string | undefined,
  ): AsyncGenerator<readonly StoredChange[]> {
    for (let token = ""; ; ) {
      const query = new URLSearchParams({ page_size: String(pageSize), continuation_token: token })
      if (type !== undefined) query.set("type", type)
      if (since !== undefined && token === "") query.set("start_time", since)
      const page = (await this.#api.request("GET", this.#path(`changes?${query}`))) as {
        changes: StoredChange[]
        continuation_token: string
      }
      if (page.changes.length > 0) yield page.changes
      // A page in between can be empty: only an unchanged token means the end.
      if (page.continuation_token === token || page.continuation_token === "") return
      token = page.continuation_token
    }
  }

  /** The types of the newest model and their relations, requested once. */
  types(): Promise<ModelTypes> {
    this.#types ??= this.#newestModel().then(typesOf)
    return this.#types
  }

  /** Users and objects of the store's first tuples, and those of earlier lines. */
  async names(): Promise<ReadonlySet<string>> {
    if (this.#names === undefined || performance.now() - this.#names.at > namesForMs)
      this.#names = { at: performance.now(), found: this.#namesOfTuples() }
    return new Set([...(await this.#names.found), ...this.#seen])
  }

  /** Adds users and objects of a line to the names for completion. */
  remember(...names: readonly string[]): void {
    for (const name of names) if (/^[^:\s]+:[^:\s]+$/.test(name)) this.#seen.add(name)
  }

  /** Names for completion, from the first tuples only: a store may have millions. */
  async #namesOfTuples(): Promise<ReadonlySet<string>> {
    const names = new Set<string>()
    let count = 0
    for await (const page of this.tuples(undefined)) {
      for (const { key } of page) names.add(key.user).add(key.object)
      count += page.length
      if (count >= namesFromMax) break
    }
    return names
  }

  async #newestModel(): Promise<(ModelJson & { id: string }) | undefined> {
    const answer = await this.#api.request("GET", this.#path("authorization-models?page_size=1"))
    return (answer as { authorization_models: (ModelJson & { id: string })[] }).authorization_models[0]
  }

  #path(rest: string): string {
    return `/stores/${encodeURIComponent(this.store.id)}/${rest}`
  }
}

interface ModelJson {
  readonly type_definitions: readonly { readonly type: string; readonly relations?: object | null }[]
}

function typesOf(model: ModelJson | undefined): ModelTypes {
  return new Map(
    (model?.type_definitions ?? []).map(({ type, relations }) => [type, Object.keys(relations ?? {})]),
  )
}
