import type { Explanation } from "../../../check/ports.ts"
import { call, get, getText } from "./client.ts"
import { type EngineStore, storePath } from "./engine.ts"
import { momentText } from "./format.ts"

// Models and assertions of the engine, in OpenFGA's JSON: only what the page reads.

/** A version of a store's model: OpenFGA's JSON with an id. */
export interface EngineModel {
  readonly id: string
  readonly schema_version: string
}

/** An expected result of a check. */
export interface EngineAssertion {
  readonly tuple_key: { readonly user: string; readonly relation: string; readonly object: string }
  readonly expectation: boolean
  readonly contextual_tuples?: readonly unknown[]
  readonly context?: unknown
}

/** An assertion with its result: `actual`, or `error` where the check failed. */
export interface AssertionOutcome extends EngineAssertion {
  readonly actual: boolean | null
  readonly passed: boolean
  readonly error?: { readonly message: string }
  readonly explanation?: Explanation
}

/** The results of a run. */
export interface AssertionRun {
  readonly passed: number
  readonly failed: number
  readonly results: readonly AssertionOutcome[]
}

/** A list with the token of its next page; empty: this page is the last. */
export interface EnginePage<Item> {
  readonly items: readonly Item[]
  readonly next: string
}

/** A store by its id, or by the name in gateway.conf. */
export function loadStore(store: string): Promise<EngineStore> {
  return get(`/authz/stores/${encodeURIComponent(store)}`)
}

/** Versions of a model, newest first. Each contains the whole model, so pages are short. */
export async function loadVersions(store: string, after: string): Promise<EnginePage<EngineModel>> {
  const query = new URLSearchParams({ page_size: "20", continuation_token: after })
  const found = await get<{
    readonly authorization_models: EngineModel[]
    readonly continuation_token: string
  }>(`${storePath(store, "authorization-models")}?${query}`)
  return { items: found.authorization_models, next: found.continuation_token }
}

/** A version as text, with a name whose ending says in which language: JSON where the language cannot express the model. */
export async function loadText(
  store: string,
  model: string,
): Promise<{ readonly path: string; readonly text: string }> {
  const path = storePath(store, `authorization-models/${encodeURIComponent(model)}`)
  try {
    return { path: "model.fga", text: await getText(`${path}?format=dsl`) }
  } catch (error) {
    const json = await get<{ readonly authorization_model: EngineModel }>(path).catch(() => {
      throw error
    })
    const { id: _, ...model } = json.authorization_model
    return { path: "model.json", text: JSON.stringify(model, undefined, 2) }
  }
}

function assertionsPath(store: string, model: string): string {
  return storePath(store, `assertions/${encodeURIComponent(model)}`)
}

/** The stored assertions of a version. */
export async function loadAssertions(store: string, model: string): Promise<readonly EngineAssertion[]> {
  const found = await get<{ readonly assertions: EngineAssertion[] }>(assertionsPath(store, model))
  return found.assertions
}

/** Stores the assertions of a version in place of the earlier ones. */
export function saveAssertions(
  store: string,
  model: string,
  assertions: readonly EngineAssertion[],
): Promise<void> {
  return call("PUT", assertionsPath(store, model), { assertions })
}

/** Checks assertions against the tuples of the store, by a version or by a draft. */
export function runAssertions(
  store: string,
  model: string,
  assertions: readonly EngineAssertion[],
  draft: object | undefined,
): Promise<AssertionRun> {
  return call("POST", `${assertionsPath(store, model)}/run`, {
    assertions,
    ...(draft === undefined ? {} : { authorization_model: draft }),
  })
}

/** How lists of versions, newest first, call one of them: when it was written. */
export function versionName(id: string, at: number): string {
  const moment = madeAt(id)
  const name = moment === undefined ? id : momentText(moment)
  return at === 0 ? `${name} (newest)` : name
}

/** When a store or model was made. Ids are ULIDs, whose first ten characters count milliseconds. */
export function madeAt(id: string): string | undefined {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
  let ms = 0
  for (const letter of id.slice(0, 10)) ms = ms * 32 + digits.indexOf(letter)
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
