import { LRUCache } from "lru-cache"
import type { PlanAnswer, PlanRecord } from "../control/api.ts"
import { type PublishedVersionPlan, portalPlan } from "../plan/portal.ts"
import { type ChangeEntry, type ChangelogAnswer, type ChangeNote, type Lifecycle, noteKinds } from "./api.ts"
import { PublishedDocument } from "./document.ts"
import { documentChanges } from "./document-changes.ts"
import { lifecycleNote, lifecyclesOf, versionKey, versionName } from "./lifecycles.ts"
import type { Published } from "./published.ts"

/** The history of plans. Methods reject with `SourceUnavailable` when the database does not answer. */
export interface PlanHistory {
  /** The newest plans, newest first. */
  list(limit: number): Promise<readonly PlanRecord[]>
  plan(serial: number): Promise<PlanAnswer | undefined>
}

/** Plans that are looked at. */
const plansMax = 50
const notesMax = 200
const keptMax = 500

/**
 * What changed for callers, plan by plan. Only the published documents and announced ends are compared, so nothing else of a plan can be told. What was found for two
 * plans is kept: plans of the history do not change.
 */
export class Changelog {
  readonly #history: PlanHistory
  readonly #kept = new LRUCache<string, readonly ChangeNote[]>({ max: keptMax })
  /** One at a time: each reads plans, which are large. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(history: PlanHistory) {
    this.#history = history
  }

  /** `api`: only this API. APIs that are not published now are not named. */
  async read(published: Published, api: unknown): Promise<ChangelogAnswer> {
    const reading = this.#last.then(() => this.#all())
    this.#last = reading.catch(() => undefined)
    const shown = new Set(published.list().apis.map(({ name }) => name))
    const entries = (await reading).flatMap(({ at, notes }): ChangeEntry[] => {
      const own = notes.filter((note) => shown.has(note.api) && (api === undefined || api === note.api))
      return own.length === 0 ? [] : [{ at, notes: own.slice(0, notesMax), cut: own.length > notesMax }]
    })
    return { ends: published.ends.filter((end) => api === undefined || api === end.api), entries }
  }

  async #all(): Promise<{ readonly at: string; readonly notes: readonly ChangeNote[] }[]> {
    const records = await this.#history.list(plansMax + 1)
    const found: { at: string; notes: readonly ChangeNote[] }[] = []
    let loaded: { readonly of: PlanRecord; readonly shown: Shown } | undefined
    const load = async (of: PlanRecord) => {
      if (loaded?.of !== of) loaded = { of, shown: shownIn(await this.#history.plan(of.serial)) }
      return loaded.shown
    }
    for (const [index, record] of records.slice(0, plansMax).entries()) {
      const before = records[index + 1]
      if (before === undefined) continue
      const key = `${before.stamp} ${record.stamp}`
      let notes = this.#kept.get(key)
      if (notes === undefined) {
        const next = await load(record)
        notes = notesOf(await load(before), next)
        this.#kept.set(key, notes)
      }
      if (notes.length > 0) found.push({ at: record.at, notes })
    }
    return found
  }
}

/** What a plan published, and what it announced of the ends. */
interface Shown {
  readonly apis: readonly PublishedVersionPlan[]
  readonly lifecycles: ReadonlyMap<string, Lifecycle>
}

const nothing: Shown = { apis: [], lifecycles: new Map() }

/** What a plan of the history published. A plan of another version of Sallyport may be unreadable: it counts as one without a portal. */
function shownIn(found: PlanAnswer | undefined): Shown {
  const read = portalPlan.safeParse(found?.plan.plan.portal)
  if (found === undefined || !read.success) return nothing
  const { apis } = read.data
  try {
    return { apis, lifecycles: lifecyclesOf(found.plan.plan, apis) }
  } catch {
    // A plan of another version of Sallyport has other routes, but its documents can be compared.
    return { apis, lifecycles: new Map() }
  }
}

/** Changes from one plan to the next; an empty list before means that there was no portal, which is no change of an API. */
function notesOf({ apis: before, ...was }: Shown, { apis: after, ...is }: Shown): ChangeNote[] {
  if (before.length === 0) return []
  const find = (list: readonly PublishedVersionPlan[], { api, version }: PublishedVersionPlan) =>
    list.find((each) => each.api === api && each.version === version)
  const notes: ChangeNote[] = []
  for (const next of after) {
    const { api, version } = next
    const old = find(before, next)
    const name = versionName(next)
    const key = versionKey(next)
    const end = lifecycleNote(next, was.lifecycles.get(key), is.lifecycles.get(key))
    if (end !== undefined) notes.push(end)
    if (old === undefined)
      notes.push({ kind: "added", api, version, operation: null, text: `${name} is published` })
    else if (old.document !== next.document)
      for (const change of documentChanges(
        new PublishedDocument(old.document),
        new PublishedDocument(next.document),
      ))
        notes.push({ ...change, api, version })
    if (old !== undefined && old.path !== next.path)
      notes.push({
        kind: "breaking",
        api,
        version,
        operation: null,
        text: `${name} moved from ${old.path} to ${next.path}`,
      })
  }
  for (const old of before) {
    const { api, version } = old
    if (find(after, old) === undefined)
      notes.push({
        kind: "breaking",
        api,
        version,
        operation: null,
        text: `${versionName(old)} is no longer published`,
      })
  }
  return notes.sort((a, b) => noteKinds.indexOf(a.kind) - noteKinds.indexOf(b.kind))
}
