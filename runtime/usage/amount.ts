/** An amount of money as text, exact, with its currency. */
export interface MoneyAmount {
  readonly amount: string
  readonly currency: string
}

/** What calls cost together, by currency: each price (`0.002 EUR`) times the calls that were billed at it. No price, no amount. */
export function amountsOf(billed: ReadonlyMap<string, number>): readonly MoneyAmount[] {
  const sums = new Map<string, bigint>()
  for (const [price, calls] of billed) {
    const [value = "", currency] = price.split(" ")
    if (currency === undefined) continue
    sums.set(currency, (sums.get(currency) ?? 0n) + scaled(value) * BigInt(calls))
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, sum]) => ({ amount: text(sum), currency }))
}

/** Twelve digits after the point: as many as a plan's price may have. */
const digits = 12

function scaled(value: string): bigint {
  const [whole = "0", fraction = ""] = value.split(".")
  return BigInt(whole + fraction.padEnd(digits, "0"))
}

function text(sum: bigint): string {
  const padded = String(sum).padStart(digits + 1, "0")
  const fraction = padded.slice(-digits).replace(/0+$/, "")
  return `${padded.slice(0, -digits)}${fraction === "" ? "" : `.${fraction}`}`
}
