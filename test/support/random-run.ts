import type { TestContext } from "vitest"

declare module "vitest" {
  interface TaskMeta {
    /** What a random test asked, by kind; the last lines of the run have it. */
    asked?: Readonly<Record<string, number>>
  }
}

/** 10,000 in `npm test`, 1,000,000 in `npm run test:long`. */
const queries = Number(process.env["SALLYPORT_TEST_QUERIES"] ?? 10_000)

/** Where random tests begin. A failure prints its seed: `SALLYPORT_TEST_SEED` starts there. */
export const firstSeed = Number(process.env["SALLYPORT_TEST_SEED"] ?? 1)

/** Whether this is `npm run test:long`, which has time for everything. */
export const isLong = process.env["SALLYPORT_TEST_LONG"] !== undefined

/** How many cases a random test has: `per10000` for each 10,000 of `SALLYPORT_TEST_QUERIES`; in `npm test` only this share of them. */
export function scaled(per10000: number, share = 1): number {
  return Math.ceil((queries * per10000 * (isLong ? 1 : share)) / 10_000)
}

/** `all` in `npm run test:long`, `few` in `npm test`: for rounds and sizes that are not random, and for chosen cases. */
export function reduced<Value>(few: Value, all: Value): Value {
  return isLong ? all : few
}

/** All of these in `npm run test:long`; in `npm test` the first ones, where the others take long and differ little. */
export function sampled<Item>(items: readonly Item[], count: number): readonly Item[] {
  return isLong ? items : items.slice(0, count)
}

/** Has the run say what was asked. */
export function tellAsked({ task }: TestContext, asked: Readonly<Record<string, number>>): void {
  task.meta.asked = asked
}
