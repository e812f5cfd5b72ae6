import type { Finished, Observer } from "../gateway/observer.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { MeteredCall } from "../usage/tally.ts"

/** Gives every call that is over to `add`, with the price its product has in the plan. */
export class UsageObserver implements Observer {
  readonly #add: (call: MeteredCall) => void
  readonly #plan: () => PlanBody | null

  constructor(add: (call: MeteredCall) => void, plan: () => PlanBody | null) {
    this.#add = add
    this.#plan = plan
  }

  finished(exchange: Finished): void {
    const { product = "", status } = exchange
    // What the gateway refused or could not do, what failed, and what the caller did not wait for costs nothing.
    const billed = exchange.problem === undefined && status >= 200 && status < 500 && !exchange.aborted
    this.#add({
      endedAtMs: exchange.startedAtMs + exchange.durationMs,
      durationMs: exchange.durationMs,
      subscription: exchange.subscription ?? "",
      user: exchange.user ?? "",
      product,
      api: exchange.api ?? "",
      version: exchange.version ?? "",
      operation: exchange.operation ?? "",
      status,
      billed,
      price: product === "" ? "" : priceOf(this.#plan(), product),
      bytesIn: exchange.bytesReceived,
      bytesOut: exchange.bytesSent,
    })
  }
}

function priceOf(plan: PlanBody | null, product: string): string {
  const products = plan?.products
  const price =
    products !== undefined && Object.hasOwn(products, product) ? products[product]?.price : undefined
  return price === undefined ? "" : `${price.amount} ${price.currency}`
}
