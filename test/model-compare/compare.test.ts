import { expect, test } from "vitest"
import { compareRelations, type RelationMeaning } from "../../compiler/model-compare/compare-relations.ts"
import { compareModels } from "../../compiler/model-compare/comparison.ts"
import { Confirmation } from "../../compiler/model-compare/confirm.ts"
import { modelOf } from "../check/model.ts"

const base = `
type user
type robot
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define parent: [folder]
    define owner: [user, group#member]
    define editor: [user, robot] or owner
    define viewer: [user, user:*] or owner or viewer from parent
type doc
  relations
    define parent: [folder]
    define blocked: [user]
    define owner: [user]
    define viewer: viewer from parent or owner
    define can_read: viewer but not blocked
    define can_sign: owner and viewer
    define timed: [user with early]
condition early(hour: int) {
  hour < 12
}
`

/** The meaning of a model with some lines replaced. */
async function meaning(...edits: readonly [from: string, to: string][]): Promise<RelationMeaning[]> {
  let text = base
  for (const [from, to] of edits) {
    expect(text).toContain(from)
    text = text.replace(from, to)
  }
  const [before, after] = [modelOf(base).plan, modelOf(text).plan]
  const confirmation = new Confirmation(before, after)
  return Promise.all(compareRelations(before, after).map((each) => confirmation.meaning(each)))
}

const short = (all: readonly RelationMeaning[]) =>
  all.map(({ relation, verdict, shown, gain, loss }) => {
    const tuples = [gain, loss].map((each) =>
      each?.tuples.map((tuple) => `${tuple.object} ${tuple.relation} ${tuple.user}`).sort(),
    )
    return [relation, verdict, shown, ...tuples]
  })

test("an equal model has nothing to compare, whatever the order", async () => {
  expect(await meaning(["viewer from parent or owner", "owner or viewer from parent"])).toEqual([])
})

test("a part that adds nobody is the same, proved", async () => {
  const found = await meaning([
    "viewer from parent or owner",
    "viewer from parent or owner or (owner but not blocked)",
  ])
  expect(short(found)).toEqual([
    ["doc#can_read", "same", "proved", undefined, undefined],
    ["doc#can_sign", "same", "proved", undefined, undefined],
    ["doc#viewer", "same", "proved", undefined, undefined],
  ])
})

test("who gains is shown by the fewest tuples, also far below", async () => {
  const found = await meaning(["[user, user:*] or owner or", "[user, user:*] or editor or"])
  const tuples = ["doc:1 parent folder:1", "folder:1 editor robot:ann"]
  expect(short(found)).toEqual([
    ["doc#can_read", "wider", "proved", tuples, undefined],
    ["doc#can_sign", "same", "proved", undefined, undefined],
    ["doc#viewer", "wider", "proved", tuples, undefined],
    ["folder#viewer", "wider", "proved", ["folder:1 editor robot:ann"], undefined],
  ])
})

test("an exclusion takes away, and its absence gives", async () => {
  const [found] = await meaning(["viewer but not blocked", "viewer"])
  expect(short(found === undefined ? [] : [found])).toEqual([
    ["doc#can_read", "wider", "proved", ["doc:1 blocked user:ann", "doc:1 owner user:ann"], undefined],
  ])
  const narrower = await meaning(["owner and viewer", "(owner and viewer) but not blocked"])
  expect(short(narrower)).toEqual([
    ["doc#can_sign", "narrower", "proved", undefined, ["doc:1 blocked user:ann", "doc:1 owner user:ann"]],
  ])
})

test("another part gives to some and takes from others", async () => {
  const [found] = await meaning(["define editor: [user, robot] or owner", "define editor: [user] or viewer"])
  expect(found).toMatchObject({
    verdict: "incomparable",
    gain: { user: "user:ann" },
    loss: { user: "robot:ann" },
  })
})

test("a condition that is defined otherwise may be true in one model only", async () => {
  const [found] = await meaning(["hour < 12", "hour < 13"])
  expect(found).toMatchObject({
    ...{ relation: "doc#timed", verdict: "wider", shown: "proved" },
    gain: { tuples: [{ condition: "early", context: { hour: 12 }, onlyIn: "new" }] },
  })
  expect(await meaning(["hour < 12", "hour <= 11"])).toEqual([])
  expect(await meaning(["hour < 12", "(hour) < 12"])).toEqual([])
})

test("a condition that only became stricter takes away, and never gives", async () => {
  const [found] = await meaning(["hour < 12", "hour < 12 && hour > 6"])
  expect(found).toMatchObject({
    ...{ relation: "doc#timed", verdict: "narrower", shown: "proved" },
    loss: { tuples: [{ condition: "early", context: { hour: 6 }, onlyIn: "old" }] },
  })
  const [laxer] = await meaning(["hour < 12", "hour < 12 || hour > 20"])
  expect(laxer).toMatchObject({ verdict: "wider", gain: { tuples: [{ context: { hour: 21 } }] } })
})

/** What a new `user with early` means, for a condition. */
async function meaningOf(parameters: string, expression: string): Promise<RelationMeaning | undefined> {
  const plan = (timed: string) =>
    modelOf(
      base
        .replace("condition early(hour: int)", `condition early(${parameters})`)
        .replace("hour < 12", expression)
        .replace("define timed: [user with early]", `define timed: ${timed}`),
    ).plan
  const plans = [plan("[robot with early]"), plan("[robot with early, user with early]")] as const
  const [found] = compareRelations(...plans)
  return found && new Confirmation(...plans).meaning(found)
}

const conditions: readonly (readonly [parameters: string, expression: string])[] = [
  ["at: timestamp, from: timestamp, for_long: duration", "at > from && at < from + for_long"],
  ["at: timestamp", 'at < timestamp("2025-03-01T00:00:00Z") && at >= timestamp("2025-02-28T23:59:59Z")'],
  ["ip: ipaddress", 'ip.in_cidr("10.20.0.0/16")'],
  ["roles: list<string>", '"admin" in roles && !("guest" in roles)'],
  ["facts: map<string>", 'facts.country == "DE"'],
  ["facts: map<int>", 'facts["level"] > 17'],
  ["amount: double, limit: double", "amount > 99.5 && amount <= limit"],
  ["a: string, b: bool, c: int, d: uint", 'a == "x" && !b && c == -3 && d == 4u'],
]

test.each(conditions)("a context for %s: %s", async (parameters, expression) => {
  // With it, the engine confirmed the example.
  expect((await meaningOf(parameters, expression))?.gain?.tuples).toMatchObject([
    { condition: "early", context: expect.any(Object) },
  ])
})

test("an example whose condition is never true has no context", async () => {
  const [tuple] = (await meaningOf("hour: int", "hour < 12 && hour > 12"))?.gain?.tuples ?? []
  expect(tuple).toMatchObject({ condition: "early" })
  expect(tuple).not.toHaveProperty("context")
})

test("the search of a relation ends at its bound, and says how far it came", () => {
  const after = modelOf(base.replace("owner and viewer", "owner and viewer and (viewer or owner)"))
  const [found] = compareRelations(modelOf(base).plan, after.plan, { stepsMax: 3 })
  expect(found).toMatchObject({ verdict: "same", shown: { fewerThan: expect.any(Number) } })
})

test("a set as the user is the example where that is smaller, or the only one", async () => {
  const compared = async (...edits: readonly [from: string, to: string][]) => {
    const old = modelOf(
      base.replace(
        "define owner: [user]\n    define viewer: viewer from",
        "define owner: [user, group#member]\n    define viewer: viewer from",
      ),
    )
    const text = edits.reduce((sum, [from, to]) => sum.replace(from, to), base)
    const { relations } = await compareModels(old.plan.model, modelOf(text).plan.model)
    return relations.find(({ relation }) => relation === "doc#owner")
  }
  expect(await compared()).toMatchObject({
    verdict: "narrower",
    loss: {
      user: "group:a#member",
      tuples: [{ user: "group:a#member", relation: "owner", object: "doc:1" }],
    },
  })
  // A plain user needs no more tuples.
  const [viewer] = await meaning(["[user, user:*] or owner or", "[user, user:*] or editor or"])
  expect(viewer?.gain?.user).toBe("robot:ann")
  // No user has `none`, so only the set itself gains what it is given.
  const sets = (viewer: string) =>
    modelOf(
      `type user\ntype group\n  relations\n    define member: [user]\n    define present: member\n    define none: member but not present\ntype doc\n  relations\n    define viewer: ${viewer}\n    define reader: [user] or viewer\n`,
    ).plan.model
  const { relations } = await compareModels(sets("[user]"), sets("[user, group#none]"))
  expect(relations.map(({ relation, verdict, gain }) => [relation, verdict, gain?.user])).toEqual([
    ["doc#reader", "wider", "group:a#none"],
    ["doc#viewer", "wider", "group:a#none"],
  ])
})
