import type { IntList } from "../evaluate/int-list.ts"
import type { LoadedModel } from "../loaded-model.ts"
import type { Circumstances, Paging } from "../questions.ts"
import type { KeptAt } from "../stores/kept.ts"
import type { NameBytes } from "./named-ids.ts"
import { OrderedNames } from "./ordered-names.ts"

const utf8 = new TextEncoder()
const yieldEvery = 512

/**
 * What a list hangs on besides the store's tuples: two lists with the same key are the same at the same revision. Undefined where a question brings tuples or values along.
 */
export function listKey(
  model: LoadedModel,
  { contextualTuples, context }: Circumstances,
  { depthMax, partialConditions }: { readonly depthMax: number; readonly partialConditions: boolean },
  question: readonly (string | undefined)[],
): string | undefined {
  if (contextualTuples !== undefined && contextualTuples.length > 0) return undefined
  if (context !== undefined && Object.keys(context).length > 0) return undefined
  return JSON.stringify([model.serial, String(depthMax), partialConditions, ...question])
}

/** A page size, a limit or a cursor: names are wanted in order. */
export function isPaged({ pageSize, resultsMax, after }: Paging): boolean {
  return pageSize !== undefined || resultsMax !== undefined || after !== undefined
}

/**
 * The candidates of a list in order of name, found by one walk for all of its pages at a revision, also for those that are asked for at the same time. There is room for them or
 * there is not; then every page walks.
 */
export class KeptWalk {
  /** Another question is at the same walk. */
  waits = false
  readonly #kept: KeptAt
  readonly #key: string
  #claimed = false

  constructor(kept: KeptAt, key: string) {
    this.#kept = kept
    this.#key = `walk ${key}`
  }

  /** Those after a name at least. `find` gives all ids, or undefined when that hangs on what is not in memory; then this is undefined too. */
  *candidates(
    after: string,
    bytes: NameBytes,
    find: () => Generator<void, IntList | undefined>,
  ): Generator<void, OrderedNames | undefined> {
    for (;;) {
      const known = this.#kept.get(this.#key) as OrderedNames | undefined
      if (known?.reaches(after) === true) return known
      this.waits = !this.#kept.claim(this.#key)
      if (!this.waits) break
      yield
    }
    this.#claimed = true
    const ids = yield* find()
    const found = ids === undefined ? undefined : yield* inOrder(ids, bytes, after)
    if (found !== undefined) this.#kept.put(this.#key, found, found.bytes)
    this.close()
    return found
  }

  /** The question has ended, or begins anew: others need not wait for it. */
  close(): void {
    this.waits = false
    if (this.#claimed) this.#kept.unclaim(this.#key)
    this.#claimed = false
  }
}

function* inOrder(ids: IntList, bytes: NameBytes, after: string): Generator<void, OrderedNames> {
  const names = new OrderedNames(after, ids.length)
  const begin = utf8.encode(after)
  for (let at = 0; at < ids.length; at++) {
    const id = ids.get(at)
    if (after === "" || bytes.orderOf(id, begin) > 0) names.add(bytes.of(id), bytes.suffix)
    if (at % yieldEvery === 0) yield
  }
  yield* names.seal()
  return names
}
