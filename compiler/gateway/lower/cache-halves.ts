import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, type BoundStatement, headSpan } from "../bind/bound.ts"
import { isPolicyXml } from "../policy-files.ts"

type Half = "lookup" | "store"

/** A half without the other has no effect, and nothing at run time would show it. */
const missing: Readonly<Record<Half, { readonly detail: string; readonly help: string }>> = {
  lookup: {
    detail: "the cache stays empty: no route that runs this `cache lookup` has a `cache store`",
    help: "Add e.g. `outbound { cache store 60s }`.",
  },
  store: {
    detail: "the cache is never read: no route that runs this `cache store` has a `cache lookup`",
    help: "Add `inbound { cache lookup }`.",
  },
}

interface Found {
  readonly lookup: readonly BoundStatement[]
  readonly store: readonly BoundStatement[]
  /** Something was not understood and may be the other half. */
  readonly damaged: boolean
}

/** Reports `cache lookup` without `cache store`, and the reverse. The two can be in different blocks, but must run on the same route. */
export class CacheHalves {
  readonly #alone = new Map<BoundStatement, Half>()
  readonly #met = new Set<BoundStatement>()

  /** Call it for each route, with the statements that apply to it. */
  see(items: readonly { readonly bound: BoundStatement }[]): void {
    const found = items.map(({ bound }) => halvesIn(bound.block))
    const lookups = found.flatMap(({ lookup }) => lookup)
    const stores = found.flatMap(({ store }) => store)
    // A policy document may contain the other half.
    const open = found.some(({ damaged }) => damaged) || items.some(({ bound }) => isPolicyXml(bound))
    this.#note("lookup", lookups, open || stores.length > 0)
    this.#note("store", stores, open || lookups.length > 0)
  }

  report(report: Report): void {
    for (const [bound, half] of this.#alone)
      if (!this.#met.has(bound))
        report.add("SP2009", headSpan(bound.statement), missing[half].detail, { help: missing[half].help })
  }

  #note(half: Half, found: readonly BoundStatement[], met: boolean): void {
    for (const bound of found) {
      if (met) this.#met.add(bound)
      else this.#alone.set(bound, half)
    }
  }
}

const nothing: Found = { lookup: [], store: [], damaged: false }

const foundIn = new WeakMap<BoundBlock, Found>()

/** The halves in a block and its inner blocks, kept for each block because many routes share the outer ones. */
function halvesIn(block: BoundBlock | undefined): Found {
  if (block === undefined) return nothing
  const known = foundIn.get(block)
  if (known !== undefined) return known
  const inner = block.statements.flatMap(({ block: own, otherwise }) => [halvesIn(own), halvesIn(otherwise)])
  const halves = (half: Half) => [
    ...block.statements.filter((bound) => halfOf(bound) === half),
    ...inner.flatMap((each) => each[half]),
  ]
  const damaged = block.damaged || inner.some((each) => each.damaged)
  const found = { lookup: halves("lookup"), store: halves("store"), damaged }
  foundIn.set(block, found)
  return found
}

function halfOf({ row, statement }: BoundStatement): Half | undefined {
  const [action] = statement.args
  if (row.keyword !== "cache" || action?.kind !== "word") return undefined
  return action.text === "lookup" || action.text === "store" ? action.text : undefined
}
