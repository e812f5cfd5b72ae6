import type { IntList } from "../evaluate/int-list.ts"
import type { LoadedModel } from "../loaded-model.ts"
import type { Circumstances, Paging } from "../questions.ts"
import type { KeptAt } from "../stores/kept.ts"
import type { NameBytes } from "./named-ids.ts"
import { OrderedNames } from "./ordered-names.ts"

const utf8 = new TextEncoder()
const yieldEvery = 512

/**
 * Everything that a list depends on, apart from the store's tuples: two lists with the same key are equal at the same revision. Undefined when
 * the question has contextual tuples or context.
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

/** With a page size, a limit or a cursor, names are needed in order. */
export function isPaged({ pageSize, resultsMax, after }: Paging): boolean {
  return pageSize !== undefined || resultsMax !== undefined || after !== undefined
}

/**
 * The candidates of a list in order of name. One walk serves all pages at a revision, also concurrent ones. When memory has no room for
 * them, every page walks.
 */
export class KeptWalk {
  /** Another question is doing the same walk. */
  waits = false
  readonly #kept: KeptAt
  readonly #key: string
  #claimed = false

  constructor(kept: KeptAt, key: string) {
    this.#kept = kept
    this.#key = `walk ${key}`
  }

  /**
   * At least the candidates after a name. `find` returns all ids, or undefined when that depends on pages that are not in memory; then this
   * returns undefined too.
   */
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

  /** Call it when the question has ended or starts again, so that others do not wait for it. */
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
