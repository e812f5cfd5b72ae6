import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { documentModel } from "../authz/harness.ts"
import { Random } from "../naive/random.ts"
import { describePostgres } from "../postgres.ts"
import { openfgaBinary, openfgaMissing } from "../support/openfga.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { type Both, startBoth } from "./peer/both.ts"
import { authzenCalls, type ContractCall, changing, otherCalls, questions } from "./peer/contract-calls.ts"
import { changed, randomCall } from "./peer/contract-changes.ts"
import { contractDifferences, heardOf, namesOf } from "./peer/contract-differences.ts"
import { modelCalls } from "./peer/contract-models.ts"

// The same HTTP calls to OpenFGA and to us, valid and not: status, code, message, headers and form of the answers are the
// same, but for what has a name in compiler/docs/coming-from/openfga.md.

const randomCalls = scaled(300)
const binary = openfgaBinary()
const shown = 5

const tuples = [
  ["user:ann", "viewer", "document:1"],
  ["user:ann", "owner", "document:2"],
  ["team:red#member", "viewer", "document:2"],
  ["user:bob", "member", "team:red"],
  ["folder:a", "parent", "document:3"],
  ["user:*", "viewer", "folder:a"],
].map(([user, relation, object]) => ({ user, relation, object }))

const modelCall = { method: "POST", path: "/stores/{store}/authorization-models", body: documentModel }

async function fill(both: Both): Promise<void> {
  await both.store()
  await both.model(documentModel)
  await both.call("POST", "/stores/{store}/write", { writes: { tuple_keys: tuples } })
}

/** Puts calls to both; answers how many there were and how many differed, by name. Differences without one are a failure. */
async function compare(both: Both, calls: Iterable<ContractCall>): Promise<Record<string, number>> {
  const counts: Record<string, number> = { calls: 0 }
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  const unnamed: string[] = []
  for (const call of calls) {
    const { body } = call
    const sent = await both.send(
      call.method,
      call.path,
      body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    )
    count("calls")
    const names = namesOf({ call, theirs: heardOf(sent.theirs), ours: heardOf(sent.ours) })
    for (const name of new Set(names)) count(name)
    if (names === undefined) unnamed.push(JSON.stringify([call, heardOf(sent.theirs), heardOf(sent.ours)]))
    // One of them has done what the other refused.
    if (sent.theirs.ok !== sent.ours.ok) await fill(both)
  }
  expect([unnamed.length, ...unnamed.slice(0, shown)]).toEqual([0])
  return counts
}

function* several(): Generator<ContractCall> {
  const random = new Random(firstSeed)
  const bases = [...questions, ...changing, modelCall]
  for (let at = 0; at < randomCalls; at += 1) yield randomCall(random, bases)
}

/** Some deletions, then every list page by page, a few pages beyond its end. */
function* pages(): Generator<ContractCall> {
  for (const tuple of tuples.slice(0, 3))
    yield { method: "POST", path: "/stores/{store}/write", body: { deletes: { tuple_keys: [tuple] } } }
  for (let at = 0; at < 3; at += 1) yield modelCall
  const lists = [
    "/stores/{store}/authorization-models?",
    "/stores/{store}/changes?",
    "/stores/{store}/changes?type=document&",
  ]
  for (const list of lists)
    for (const size of [1, 2, 4, 5, 50]) {
      yield { method: "GET", path: `${list}page_size=${size}` }
      for (let at = 0; at < 8; at += 1)
        yield { method: "GET", path: `${list}page_size=${size}&continuation_token={token}` }
    }
  yield { method: "GET", path: "/stores/{store}/changes?type=folder&continuation_token={token}" }
  for (const size of [1, 2, 3, 50])
    for (const filter of [undefined, { object: "document:", user: "user:ann" }, { object: "document:3" }]) {
      const body = { tuple_key: filter, page_size: size }
      yield { method: "POST", path: "/stores/{store}/read", body }
      for (let at = 0; at < 4; at += 1)
        yield {
          method: "POST",
          path: "/stores/{store}/read",
          body: { ...body, continuation_token: "{token}" },
        }
    }
}

const kinds: readonly (readonly [name: string, calls: () => Iterable<ContractCall>])[] = [
  ["each endpoint", () => [...questions, ...changing, ...otherCalls()]],
  ["each change of a question", () => questions.flatMap(changed)],
  ["each change of a write", () => changing.flatMap(changed)],
  ["AuthZEN", () => authzenCalls],
  ["pages", pages],
  ["models", () => modelCalls],
  ["each change of a model", () => changed(modelCall)],
  [`${randomCalls} calls with several changes`, several],
]

describePostgres("the contract beside OpenFGA", () => {
  let both: Both
  beforeAll(async () => {
    if (binary !== undefined) both = await startBoth(binary)
  })
  afterAll(() => both?.close())

  for (const [name, calls] of kinds)
    test(name, async (context) => {
      if (binary === undefined) return context.skip(openfgaMissing)
      await fill(both)
      tellAsked(context, await compare(both, calls()))
    })
})

test("each difference is on the page for users", () => {
  const readme = readFileSync(new URL("../../compiler/docs/coming-from/openfga.md", import.meta.url), "utf8")
  for (const { name } of contractDifferences) expect(readme).toContain(`\n| ${name} `)
})
