import fc from "fast-check"
import { expect, test } from "vitest"
import { IssuedTable } from "../../runtime/process/issued-table.ts"
import type { FeedSubscription } from "../../runtime/store/subscriptions.ts"

const change = fc.record({
  name: fc.constantFrom("a", "b", "c", "d"),
  scope: fc.constantFrom<FeedSubscription["scope"]>(
    { kind: "all" },
    { kind: "product", name: "gold" },
    { kind: "api", name: "gold" },
  ),
  state: fc.constantFrom("active" as const, "suspended" as const, "cancelled" as const),
  owner: fc.constantFrom("", "ann"),
  endsAtMs: fc.constantFrom(null, 500, 5_000),
  keyCount: fc.nat(2),
  deleted: fc.boolean(),
})

test("finds each key of the last state of each subscription, and no other", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const table = new IssuedTable()
      const last = new Map<string, FeedSubscription>()
      const allDigests: string[] = []
      changes.forEach(({ keyCount, ...rest }, at) => {
        const digests = rest.deleted ? [] : [`${at}-1`, `${at}-2`].slice(0, keyCount)
        allDigests.push(...digests)
        const next = { ...rest, digests, revision: at + 1, createdAtMs: at }
        last.set(rest.name, next)
        table.set(next)
      })
      const expected = new Map(
        [...last.values()].flatMap((each) => each.digests.map((digest) => [digest, each])),
      )
      expect(table.keys).toBe(expected.size)
      for (const digest of allDigests) {
        const found = table.find(digest, 1_000)
        const wanted = expected.get(digest)
        expect(found?.subscriber.name).toBe(wanted?.name)
        if (wanted === undefined || found === undefined) continue
        const { scope, state, owner, endsAtMs, createdAtMs } = wanted
        const { subscriber } = found
        expect(found.state).toBe(endsAtMs === 500 && state !== "cancelled" ? "expired" : state)
        expect([subscriber.product, subscriber.api, subscriber.all ?? false]).toEqual([
          scope.kind === "product" ? scope.name : undefined,
          scope.kind === "api" ? scope.name : undefined,
          scope.kind === "all",
        ])
        expect([subscriber.owner ?? "", subscriber.untilMs ?? null, subscriber.sinceMs]).toEqual([
          owner,
          endsAtMs,
          createdAtMs,
        ])
      }
    }),
  )
})
