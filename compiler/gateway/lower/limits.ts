import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type BoundStatement, headSpan } from "../bind/bound.ts"
import { lowerQuota, unitOf } from "../steps/quota.ts"
import { lowerLimit } from "../steps/rate-limit.ts"
import { countedWords } from "./counting.ts"
import type { Memo } from "./memo.ts"
import { askedPlace, type Places, type StatementPlace } from "./place.ts"
import type { Item } from "./scope.ts"
import type { Lowered, LowerStep, StepContext } from "./step.ts"

/** Finds limits that count the same calls in one counter. */
export class SameLimits {
  readonly #report: Report
  readonly #seen = new Map<string, BoundStatement>()

  constructor(report: Report) {
    this.#report = report
  }

  /** Reports a limit or quota that has the same counter as an earlier one. */
  see(bound: BoundStatement, scope: string): void {
    const { args, statement } = bound
    const key = JSON.stringify([
      scope,
      bound.row.keyword,
      args.all("key").map(({ argument }) => written(argument.span)),
      args.value("period"),
      bound.row.keyword === "quota" ? unitOf(bound) : countedWords(bound),
      args.value("bytes") !== undefined,
    ])
    const earlier = this.#seen.get(key)
    if (earlier === undefined) this.#seen.set(key, bound)
    else if (earlier !== bound) {
      this.#report.add(
        "SP3010",
        headSpan(statement),
        "another limit of this block counts by the same key for the same time",
        { related: [{ span: headSpan(earlier.statement), message: "the other one" }] },
      )
    }
  }
}

function written({ file, start, end }: Span): string {
  return file.text.slice(start, end)
}

/** Lowers the limits and quotas that apply to a route. */
export class Limits {
  readonly #places: Places
  readonly #memo: Memo
  readonly #context: (place: StatementPlace) => StepContext

  constructor(places: Places, memo: Memo, context: (place: StatementPlace) => StepContext) {
    this.#places = places
    this.#memo = memo
    this.#context = context
  }

  /** `late`: the place at which conditions on the response are evaluated. */
  lower(items: readonly Item[], place: StatementPlace, late: StatementPlace): Lowered[] {
    const same = new SameLimits(this.#context(place).report)
    return items.flatMap((item) => {
      const lowered = this.#memo.once(
        `limit ${item.scope} ${this.#memo.keyOf([item])} ${place.key} ${late.key}`,
        () =>
          item.product === undefined
            ? lowerCounted(item, this.#context(place), late)
            : this.#ofProduct(item, item.product, place, late),
      )
      if (lowered === undefined) return []
      same.see(item.bound, item.scope)
      return [lowered]
    })
  }

  /** A limit of a product counts only callers with a subscription to that product. */
  #ofProduct(item: Item, product: string, place: StatementPlace, late: StatementPlace): Lowered | undefined {
    const ways = place.auth.ways.filter((way) => way.kind === "subscription")
    if (ways.length === 0) return undefined
    const route = { key: place.route, span: place.routeSpan }
    const { pathParameters, variables } = place
    const auth = { ways, span: place.auth.span }
    const inside = this.#places.make(route, "inbound", pathParameters, auth, false, variables)
    const limit = lowerCounted(item, this.#context(inside), late)
    if (limit === undefined) return undefined
    const test = `subscription.product == ${JSON.stringify(product)}`
    const text = ways.length === place.auth.ways.length ? test : `has(subscription.product) && ${test}`
    return this.#context(place).steps.add(
      { kind: "when", test: { lang: "cel", text, type: "bool" }, matched: [limit.id], otherwise: [] },
      headSpan(item.bound.statement),
      { matched: [limit], otherwise: [] },
    )
  }
}

/** Lowers `limit` or `quota`. */
export function lowerCounted(
  { bound, scope }: { readonly bound: BoundStatement; readonly scope: string },
  context: StepContext,
  late: StatementPlace,
): Lowered | undefined {
  return (bound.row.keyword === "quota" ? lowerQuota : lowerLimit)(bound, scope, context, late)
}

/** Whether a statement is a limit or quota. */
export function isCounted({ row }: BoundStatement): boolean {
  return row.keyword === "limit" || row.keyword === "quota"
}

/** `limit` or `quota` in `inbound`: runs in its place, with a counter separate from other blocks. */
export const lowerCountedInOrder: LowerStep = (bound, context) => {
  const { place, places, scope } = context
  const route = { key: place.route, span: place.routeSpan }
  const { pathParameters, auth, variables, asked } = place
  const made = places.make(route, "outbound", pathParameters, auth, false, variables)
  return lowerCounted({ bound, scope }, context, asked ? askedPlace(made) : made)
}
