import type { TestContext } from "vitest"

declare module "vitest" {
  interface TaskMeta {
    /** What a random test asked, by kind; the last lines of the run have it. */
    asked?: Readonly<Record<string, number>>
  }
}

const queries = Number(process.env["SALLYPORT_TEST_QUERIES"] ?? 100_000)

/** Where random tests begin. A failure prints its seed: `SALLYPORT_TEST_SEED` starts there. */
export const firstSeed = Number(process.env["SALLYPORT_TEST_SEED"] ?? 1)

/** How much a random test asks: so many for each 100,000 of `SALLYPORT_TEST_QUERIES`, which is the default of `npm test`. */
export function scaled(per100000: number): number {
  return Math.ceil((queries * per100000) / 100_000)
}

/** Has the run say what was asked. */
export function tellAsked({ task }: TestContext, asked: Readonly<Record<string, number>>): void {
  task.meta.asked = asked
}
