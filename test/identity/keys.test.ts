import { describe, expect, it } from "vitest"
import { createKeyTable, type Subscriber } from "../../runtime/identity/keys.ts"

const subscriber = (name: string): Subscriber => ({ name, product: "partner", api: undefined })

describe("subscription keys", () => {
  it("find the subscription of the exact key only", () => {
    const table = createKeyTable([{ subscriber: subscriber("ci"), key: "s3cret" }])
    expect(table.find("s3cret")?.name).toBe("ci")
    for (const wrong of ["", "s3cre", "s3cret ", "S3CRET", "__proto__", "x".repeat(10_000)])
      expect(table.find(wrong)).toBeUndefined()
  })

  it("refuse an empty, an oversize and a doubled key, naming the subscriptions and never the key", () => {
    expect(() => createKeyTable([{ subscriber: subscriber("ci"), key: "" }])).toThrow("`ci` is empty")
    expect(() => createKeyTable([{ subscriber: subscriber("ci"), key: "k".repeat(600) }])).toThrow(
      "longer than 512",
    )
    const both = ["a", "b"].map((name) => ({ subscriber: subscriber(name), key: "s3cret" }))
    expect(() => createKeyTable(both)).toThrow(/^subscriptions `a` and `b` have the same key$/)
  })
})
