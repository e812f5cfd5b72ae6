import { describe, expect, it } from "vitest"
import { firstCommit } from "../../runtime/check/ports.ts"
import { newSubscriptionKey } from "../../runtime/control/subscription-key.ts"
import type { Database } from "../../runtime/store/database.ts"
import {
  changeSubscription,
  deleteSubscription,
  findSubscription,
  insertSubscription,
  keysUsed,
  listSubscriptions,
  type NewSubscription,
  replaceKey,
  stateOf,
  subscriptionsSince,
} from "../../runtime/store/subscriptions.ts"
import { describeDatabase } from "./databases.ts"

function entry(name: string, more: Partial<NewSubscription> = {}): NewSubscription {
  return {
    name,
    scope: { kind: "product", name: "partner" },
    state: "active",
    owner: "",
    note: "",
    expiresAt: null,
    keys: { primary: newSubscriptionKey(), secondary: newSubscriptionKey() },
    perOwnerMax: null,
    ...more,
  }
}

const all = { after: "", limit: 100 }

async function names(database: Database, filter: object): Promise<string[]> {
  return (await listSubscriptions(database, { ...all, ...filter })).map(({ name }) => name)
}

describeDatabase("subscriptions", (database) => {
  it("are stored with digests only, found, and refused under a name or with a key that is taken", async () => {
    const keys = { primary: newSubscriptionKey(), secondary: newSubscriptionKey() }
    const made = await insertSubscription(database(), entry("a1", { owner: "ann", keys }))
    expect(made).toMatchObject({
      name: "a1",
      state: "active",
      keys: { primary: { digest: keys.primary.digest } },
    })
    expect(JSON.stringify(made)).not.toContain(keys.primary.key)
    expect(await insertSubscription(database(), entry("a1"))).toBe("exists")
    const same = { primary: newSubscriptionKey(), secondary: keys.primary }
    expect(await insertSubscription(database(), entry("a2", { keys: same }))).toBe("same-key")
    expect(await findSubscription(database(), "a2")).toBeUndefined()
  })

  it("of one owner are bounded exactly, also when they come at once", async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        insertSubscription(
          database(),
          entry(`bound${index}`, { owner: "bob", scope: { kind: "product", name: "few" }, perOwnerMax: 3 }),
        ),
      ),
    )
    expect(made.filter((each) => typeof each !== "string")).toHaveLength(3)
    expect(made.filter((each) => each === "full")).toHaveLength(5)
  })

  it("change as it is decided of what is stored, and the feed tells each change once, in order", async () => {
    const { at: from } = await subscriptionsSince(database(), firstCommit, 10_000)
    await insertSubscription(database(), entry("c1"))
    expect(await changeSubscription(database(), "c1", () => "not this")).toBe("not this")
    const changed = await changeSubscription(database(), "c1", ({ state, expiresAt }) => ({
      state: state === "active" ? "suspended" : "cancelled",
      expiresAt,
    }))
    expect(changed).toMatchObject({ state: "suspended" })
    expect(await changeSubscription(database(), "nobody", () => "x")).toBeUndefined()
    const key = newSubscriptionKey()
    expect(await replaceKey(database(), "c1", "secondary", key, () => undefined)).toMatchObject({
      keys: { secondary: { prefix: key.prefix } },
    })
    expect(await replaceKey(database(), "c1", "primary", key, () => "no")).toBe("no")
    await insertSubscription(database(), entry("c2"))
    const feed = await subscriptionsSince(database(), from, 10)
    expect(feed.records.map(({ name }) => name)).toEqual(["c1", "c2"])
    const half = await subscriptionsSince(database(), from, 1)
    expect([half.records.length, half.at.revision]).toEqual([1, feed.records[0]?.revision])
    expect((await subscriptionsSince(database(), half.at, 10)).records).toHaveLength(1)
    expect(await subscriptionsSince(database(), feed.at, 10)).toEqual({
      records: [],
      at: feed.at,
      lost: false,
    })
    // Of another history, or of a later commit than there is.
    for (const held of [
      { ...half.at, stamp: feed.at.stamp },
      { revision: feed.at.revision + 1, stamp: "lost" },
    ])
      expect(await subscriptionsSince(database(), held, 10)).toEqual({ records: [], at: feed.at, lost: true })
  })

  it("that are deleted are told as such, without keys, and leave their name", async () => {
    await insertSubscription(database(), entry("d1"))
    expect(await deleteSubscription(database(), "d1")).toBe(true)
    expect(await deleteSubscription(database(), "d1")).toBe(false)
    expect(await findSubscription(database(), "d1")).toBeUndefined()
    const told = (await subscriptionsSince(database(), firstCommit, 10_000)).records.find(
      ({ name }) => name === "d1",
    )
    expect(told).toMatchObject({ deleted: true, digests: [] })
    expect(await insertSubscription(database(), entry("d1", { owner: "new" }))).toMatchObject({
      owner: "new",
    })
  })

  it("are listed by all filters, page by page", async () => {
    const key = newSubscriptionKey()
    const keys = { primary: newSubscriptionKey(), secondary: key }
    const past = new Date(Date.now() - 60_000)
    await insertSubscription(database(), entry("l1", { owner: "lea", scope: { kind: "all" }, keys }))
    await insertSubscription(database(), entry("l2", { owner: "lea", expiresAt: past, note: "50% Off" }))
    await insertSubscription(
      database(),
      entry("l3", { owner: "leo", scope: { kind: "api", name: "orders" } }),
    )
    expect(await names(database(), { owner: "lea" })).toEqual(["l1", "l2"])
    expect(await names(database(), { owner: "lea", limit: 1 })).toEqual(["l1"])
    expect(await names(database(), { owner: "lea", after: "l1" })).toEqual(["l2"])
    expect(await names(database(), { api: "orders" })).toEqual(["l3"])
    expect(await names(database(), { owner: "lea", product: "partner" })).toEqual(["l2"])
    expect(await names(database(), { state: "expired" })).toEqual(["l2"])
    expect(await names(database(), { owner: "lea", state: "active" })).toEqual(["l1"])
    expect(await names(database(), { prefix: key.prefix })).toEqual(["l1"])
    expect(await names(database(), { prefix: "sp_%" })).toEqual([])
    expect(await names(database(), { text: "50% o" })).toEqual(["l2"])
    expect(await names(database(), { text: "_ea" })).toEqual([])
  })

  it("remember the last use of a key, never an earlier one", async () => {
    const keys = { primary: newSubscriptionKey(), secondary: newSubscriptionKey() }
    await insertSubscription(database(), entry("u1", { keys }))
    const [early, late] = [new Date("2026-01-01T00:00:00Z"), new Date("2026-02-01T00:00:00Z")]
    await keysUsed(database(), new Map([[keys.primary.digest, late]]))
    await keysUsed(database(), new Map([[keys.primary.digest, early]]))
    const found = await findSubscription(database(), "u1")
    expect(found?.keys.primary?.lastUsedAt).toEqual(late)
    expect(found?.keys.secondary?.lastUsedAt).toBeNull()
  })
})

describe("the state of a subscription", () => {
  it("is expired from the end on where it could come back, and only there", () => {
    const expiresAt = new Date(1_000)
    expect(stateOf({ state: "active", expiresAt }, 999)).toBe("active")
    expect(stateOf({ state: "active", expiresAt }, 1_000)).toBe("expired")
    expect(stateOf({ state: "suspended", expiresAt }, 1_000)).toBe("expired")
    expect(stateOf({ state: "cancelled", expiresAt }, 1_000)).toBe("cancelled")
    expect(stateOf({ state: "active", expiresAt: null }, 1_000)).toBe("active")
  })
})
