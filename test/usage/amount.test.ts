import { expect, test } from "vitest"
import { amountsOf } from "../../runtime/control/usage-desk.ts"

test("amounts are exact, by currency, without what costs nothing", () => {
  const billed = new Map([
    ["0.1 EUR", 3],
    ["0.000000000001 EUR", 1],
    ["", 1_000],
    ["7 USD", 9_007_199_254_740_991],
    ["0.50 CHF", 0],
  ])
  expect(amountsOf(billed)).toEqual([
    { amount: "0", currency: "CHF" },
    { amount: "0.300000000001", currency: "EUR" },
    { amount: "63050394783186937", currency: "USD" },
  ])
  expect(amountsOf(new Map())).toEqual([])
})
