import type { Money } from "../api.ts"

/** An amount as the reader writes money. A currency that the browser does not know stays a code. */
export function moneyText({ amount, currency }: Money): string {
  try {
    const digits = Math.max(2, amount.split(".")[1]?.length ?? 0)
    return new Intl.NumberFormat(undefined, {
      ...{ style: "currency", currency, maximumFractionDigits: Math.min(20, digits) },
    }).format(Number(amount))
  } catch {
    return `${amount} ${currency}`
  }
}
