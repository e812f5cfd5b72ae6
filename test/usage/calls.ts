import type { MeteredCall } from "../../runtime/usage/tally.ts"

/** A call of an ordinary kind. */
export function callOf(more: Partial<MeteredCall> = {}): MeteredCall {
  return {
    endedAtMs: Date.parse("2026-03-04T05:06:07Z"),
    durationMs: 12,
    subscription: "ann",
    user: "",
    product: "partner",
    api: "orders",
    version: "v1",
    operation: "GET /{id}",
    status: 200,
    billed: true,
    price: "0.002 EUR",
    bytesIn: 10,
    bytesOut: 100,
    ...more,
  }
}
