import { expect, test } from "vitest"
import { batchCheck } from "../../runtime/check/batch-check.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { explanationSummary, explanationText } from "../../runtime/check/explain-text.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { CheckRequest, Explanation } from "../../runtime/check/ports.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"
import { groups } from "./semantic-rows.ts"

async function explained(
  model: LoadedModel,
  tuples: readonly string[],
  question: string,
  rest: Partial<CheckRequest> = {},
): Promise<Explanation> {
  const source = new MemorySource()
  if (tuples.length > 0) source.write(...tuples.map(tupleOf))
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9 })
  const { user, relation, object } = tupleOf(question)
  const answer = await engine.check("store", model, { user, relation, object, explain: true, ...rest })
  engine.close()
  if (answer.explanation === undefined) throw new Error("no explanation")
  expect(answer.explanation).toMatchObject({ version: 1, user, relation, object, allowed: answer.allowed })
  return answer.explanation
}

const lines = (...texts: readonly string[]) => texts.map((text) => `${text}\n`).join("")

const stored = [
  "doc:1 parent doc:0",
  "doc:0 viewer group:team#member",
  "group:team member user:ann",
  "group:team member user:bob",
  "group:team member group:team#member",
  "doc:1 blocked user:bob",
]

test("an allow is a proof: the tuples, and why what is excluded does not hold", async () => {
  const explanation = await explained(modelOf(groups), stored, "doc:1 reader user:ann")
  expect(explanationText(explanation)).toBe(
    lines(
      "allowed: user:ann has reader on doc:1",
      "  doc:1#reader: but not",
      "    doc:1#viewer: tuple doc:0 parent doc:1",
      "      doc:0#viewer: tuple group:team#member viewer doc:0",
      "        group:team#member: tuple user:ann member group:team",
      "    not doc:1#blocked: nothing grants it",
    ),
  )
  expect(explanation).toMatchObject({ allowed: true, revision: 1, complete: true })
  expect(explanation.tuples).toEqual(
    ["doc:1 parent doc:0", "doc:0 viewer group:team#member", "group:team member user:ann"].map(tupleOf),
  )
})

test("a deny names the exclusion and what would undo it", async () => {
  const explanation = await explained(modelOf(groups), stored, "doc:1 reader user:bob")
  expect(explanationText(explanation)).toBe(
    lines(
      "denied: user:bob does not have reader on doc:1",
      "  excluded by",
      "    doc:1#blocked: tuple user:bob blocked doc:1",
      "  it would be allowed after any of",
      "    delete user:bob blocked doc:1",
    ),
  )
  expect(explanationSummary(explanation)).toBe(
    "excluded by user:bob blocked doc:1; nearest: delete user:bob blocked doc:1",
  )
})

test("a deny says which tuples would do: on the object, in its groups, on its parents", async () => {
  const explanation = await explained(modelOf(groups), stored, "doc:1 reader user:cat")
  expect(explanationText(explanation)).toBe(
    lines(
      "denied: user:cat does not have reader on doc:1",
      "  it would be allowed after any of",
      "    write user:cat viewer doc:1",
      "    write user:cat owner doc:1",
      "    write user:cat viewer doc:0",
      "    write user:cat owner doc:0",
      "    write user:cat member group:team",
      "  (there may be more ways)",
    ),
  )
})

test("for a userset, its own object behind from is a way out", async () => {
  const model = modelOf(`
type user
type folder
  relations
    define viewer: [user]
type doc
  relations
    define parent: [folder]
    define viewer: viewer from parent
`)
  const { misses } = await explained(model, ["folder:1 viewer user:ann"], "doc:1 viewer folder:1#viewer")
  expect(misses).toEqual([{ add: [tupleOf("doc:1 parent folder:1")], remove: [] }])
})

test("one tuple that counts in two places is a way out", async () => {
  const model = modelOf(`
type user
type folder
  relations
    define parent: [doc]
    define owner: [user]
    define viewer: owner from parent
type doc
  relations
    define parent: [folder]
    define owner: owner from parent
    define viewer: viewer from parent
`)
  const stored = ["folder:1 owner user:ann", "folder:1 parent doc:1"]
  const { misses } = await explained(model, stored, "doc:1 viewer user:ann")
  expect(misses?.[0]).toEqual({ add: [tupleOf("doc:1 parent folder:1")], remove: [] })
})

/** Groups one in the other, from a document; two chains meet at their far end only. */
const chain = (name: string) => [
  `doc:1 ${name} group:${name}0#member`,
  ...Array.from({ length: 12 }, (_, at) => `group:${name}${at} member group:${name}${at + 1}#member`),
  `group:${name}12 member group:both#member`,
]

test("one tuple that counts in two places is a way out, however many are nearer to each", async () => {
  const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define signed: [group#member]
    define cleared: [group#member]
    define viewer: signed and cleared
`)
  const { misses } = await explained(
    model,
    [...chain("signed"), ...chain("cleared")],
    "doc:1 viewer user:ann",
  )
  expect(misses?.[0]).toEqual({ add: [tupleOf("group:both member user:ann")], remove: [] })
})

test("one tuple whose deletion lifts two exclusions is a way out, however many are nearer to each", async () => {
  const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define owner: [user]
    define banned: [group#member]
    define expired: [group#member]
    define viewer: (owner but not banned) but not expired
`)
  const stored = [
    "doc:1 owner user:ann",
    ...chain("banned"),
    ...chain("expired"),
    "group:both member user:ann",
  ]
  const { misses } = await explained(model, stored, "doc:1 viewer user:ann")
  expect(misses?.[0]).toEqual({ add: [], remove: [tupleOf("group:both member user:ann")] })
})

test("one tuple whose deletion lifts an exclusion is a way out, however many ways lead to it", async () => {
  const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define owner: [user]
    define banned: [group#member]
    define viewer: owner but not banned
`)
  // 2^20 ways, and a cycle, from the document to the one group that has the user.
  const levels = Array.from({ length: 20 }, (_, at) => at)
  const sides = ["left", "right"]
  const ladder = levels.flatMap((at) =>
    sides.flatMap((from) => sides.map((to) => `group:${from}${at} member group:${to}${at + 1}#member`)),
  )
  const stored = [
    "doc:1 owner user:ann",
    ...sides.flatMap((side) => [
      `doc:1 banned group:${side}0#member`,
      `group:${side}20 member group:end#member`,
      `group:end member group:${side}0#member`,
    ]),
    ...ladder,
    "group:end member user:ann",
  ]
  const { misses } = await explained(model, stored, "doc:1 viewer user:ann")
  expect(misses?.[0]).toEqual({ add: [], remove: [tupleOf("group:end member user:ann")] })
})

const conditioned = modelOf(`
type user
type doc
  relations
    define viewer: [user with small, user with office] but not late
    define late: [user with small]
condition small(x: int) { x < 10 }
condition office(ip: string, door: bool) { door || ip == "office" }
`)

test("conditions are shown with what they saw", async () => {
  const tuples = ['doc:1 viewer user:ann if office {"ip":"home"}']
  const allowed = await explained(conditioned, tuples, "doc:1 viewer user:ann", {
    context: { door: true, ip: "never seen", other: 1 },
  })
  expect(allowed.proof?.children?.[0]?.condition).toEqual({
    name: "office",
    outcome: "true",
    values: { door: true, ip: "home" },
  })
  const denied = await explained(conditioned, tuples, "doc:1 viewer user:ann", { context: { door: false } })
  expect(denied.conditions).toEqual([
    {
      tuple: tupleOf(tuples[0] as string),
      condition: { name: "office", outcome: "false", values: { door: false, ip: "home" } },
    },
  ])
})

test("what is missing is named, where it was asked for; else it is an error as ever", async () => {
  const tuples = ["doc:1 viewer user:ann if office", "doc:1 late user:ann if small"]
  const source = new MemorySource()
  source.write(...tuples.map(tupleOf))
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9 })
  const ask = (rest: Partial<CheckRequest>) =>
    engine.check("store", conditioned, { user: "user:ann", relation: "viewer", object: "doc:1", ...rest })
  await expect((async () => ask({ context: { door: true } }))()).rejects.toMatchObject({
    code: "validation_error",
  })
  await expect((async () => ask({ explain: true }))()).rejects.toMatchObject({ code: "validation_error" })
  const missing = async (context: Record<string, unknown>) => {
    const { allowed, missingContext, explanation } = await ask({ ternary: true, context })
    expect(explanation).toBeUndefined()
    return missingContext ?? allowed
  }
  expect(await missing({})).toEqual(["door", "ip", "x"])
  expect(await missing({ x: 20 })).toEqual(["door", "ip"])
  expect(await missing({ x: 5 })).toBe(false)
  expect(await missing({ x: 20, door: true })).toBe(true)
  expect(await missing({ door: false })).toEqual(["ip", "x"])
  const { explanation } = await ask({ ternary: true, explain: true, context: { door: true } })
  expect(explanation).toMatchObject({ allowed: false, missing_context: ["x"] })
  expect(explanation === undefined ? "" : explanationText(explanation)).toBe(
    lines(
      "conditional: whether user:ann has viewer on doc:1 depends on the context",
      "  conditions that are false",
      "    user:ann late doc:1 with small: small needs x",
      "  context that would decide it",
      "    x",
      "  it would be allowed after any of",
      "    delete user:ann late doc:1 with small",
    ),
  )
  engine.close()
})

test("what a cycle through an exclusion leaves open is said to be open", async () => {
  const model = modelOf(`
type user
type node
  relations
    define next: [node]
    define beaten: [user] or winner from next
    define winner: [user] but not beaten
`)
  const explanation = await explained(
    model,
    ["node:1 next node:1", "node:1 winner user:ann"],
    "node:1 winner user:ann",
  )
  expect(explanation).toMatchObject({ allowed: false, undecided: true })
  expect(explanation.misses).toContainEqual({ add: [], remove: [tupleOf("node:1 next node:1")] })
  const tuples = [
    "node:1 next node:2",
    "node:2 next node:1",
    "node:1 winner user:ann",
    "node:1 beaten user:bob",
  ]
  expect(await explained(model, tuples, "node:1 winner user:ann")).toMatchObject({
    allowed: true,
    complete: true,
  })
})

test("a relation nobody of the user's kind can have has no way out", async () => {
  const explanation = await explained(modelOf(groups), stored, "doc:1 parent user:ann")
  expect(explanation).toMatchObject({ allowed: false, misses: [], complete: true })
  expect(explanationSummary(explanation)).toBe("no tuple grants it")
})

test("a batch explains those of its checks that ask for it, at its revision", async () => {
  const source = new MemorySource()
  source.write(...stored.map(tupleOf))
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, paged: true })
  const ask = (user: string, explain: boolean) => ({ user, relation: "reader", object: "doc:1", explain })
  const items = [ask("user:ann", true), ask("user:bob", false), ask("user:cat", true), ask("nobody", true)]
  const { results, revision } = await engine.ask("store", batchCheck(modelOf(groups), items, engine.bounds))
  engine.close()
  expect(revision).toBe(1)
  expect(results).toMatchObject([
    { allowed: true, explanation: { revision: 1, allowed: true, complete: true } },
    { allowed: false },
    {
      allowed: false,
      explanation: { revision: 1, misses: [{ add: [tupleOf("doc:1 viewer user:cat")] }, {}, {}, {}, {}] },
    },
    { code: "validation_error" },
  ])
})
