import { describe, expect, it } from "vitest"
import { describeKey, looksIssued, newSubscriptionKey } from "../../runtime/control/subscription-key.ts"
import { createKeyTable, type IssuedKeys, type Subscriber } from "../../runtime/identity/keys.ts"

const subscriber = (name: string): Subscriber => ({ name, product: "partner", api: undefined })

describe("subscription keys", () => {
  it("find the subscription of the exact key only", () => {
    const table = createKeyTable([{ subscriber: subscriber("ci"), key: "s3cret" }])
    expect(table.find("s3cret")).toEqual(subscriber("ci"))
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

  it("of the text go before issued ones; an issued one that does not count says why", () => {
    const owners = new Map<string, Subscriber | string>([
      [describeKey("of-the-text").digest, subscriber("other")],
      [describeKey("issued").digest, subscriber("ann")],
      [describeKey("asleep").digest, "the subscription `bob` is suspended"],
    ])
    const issued: IssuedKeys = {
      complete: false,
      find: (latin1) => owners.get(Buffer.from(latin1, "latin1").toString("hex")),
    }
    const entries = ["of-the-text", "second"].map((key) => ({ subscriber: subscriber("ci"), key }))
    const table = createKeyTable(entries, issued)
    expect(table.complete).toBe(false)
    expect(table.find("of-the-text")).toEqual(subscriber("ci"))
    expect(table.find("second")).toEqual(subscriber("ci"))
    expect(table.find("issued")).toEqual(subscriber("ann"))
    expect(table.find("asleep")).toBe("the subscription `bob` is suspended")
    expect(table.find("unheard-of")).toBeUndefined()
  })
})

describe("a key that is issued", () => {
  it("has 256 bits, a mark and a check; its prefix is its beginning, its digest not the key", () => {
    const made = Array.from({ length: 50 }, newSubscriptionKey)
    expect(new Set(made.map(({ key }) => key)).size).toBe(50)
    for (const { key, prefix, digest } of made) {
      expect(key).toMatch(/^sp_[0-9A-Za-z]{49}$/)
      expect(key.startsWith(prefix)).toBe(true)
      expect(prefix).toHaveLength(11)
      expect(digest).toMatch(/^[0-9a-f]{64}$/)
      expect(looksIssued(key)).toBe(true)
    }
  })

  it("is told from a mistyped and a cut one, and from one made elsewhere", () => {
    const { key } = newSubscriptionKey()
    const at = 20
    const other = key[at] === "A" ? "B" : "A"
    expect(looksIssued(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
    expect(looksIssued(key.slice(0, -1))).toBe(false)
    expect(looksIssued("0123456789abcdef0123456789abcdef")).toBe(false)
    expect(describeKey("0123456789abcdef0123456789abcdef").prefix).toBe("0123")
  })
})
