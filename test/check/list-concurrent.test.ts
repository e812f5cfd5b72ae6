import { expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { listObjects, streamObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { Random } from "../naive/random.ts"
import { reduced } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define blocked: [user]
    define viewer: [user, group#member]
    define reader: viewer but not blocked
`)

const rounds = reduced(60, 150)

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Readers by the feed alone, up to a revision: everybody is in one group at most, and the groups stand on the documents. */
function readers(source: MemorySource, revision: number): Set<string> {
  const rows = new Set<string>()
  for (const change of source.feed) {
    if (change.revision > revision) break
    const key = change.row.slice(0, 4).join(" ")
    if (change.operation === "write") rows.add(key)
    else rows.delete(key)
  }
  const found = new Set<string>()
  for (const row of rows) {
    const [object, relation, subject, own] = row.split(" ")
    if (relation !== "viewer") continue
    const users =
      own === "member"
        ? [...rows]
            .filter((other) => other.startsWith(`${subject} member `))
            .map((other) => other.split(" ")[2])
        : [subject]
    for (const user of users) if (!rows.has(`${object} blocked ${user} `)) found.add(`${user} ${object}`)
  }
  return found
}

function randomTuple(random: Random): TupleKey {
  const [user, doc, group] = [random.below(8), random.below(12), random.below(3)]
  return tupleOf(
    random.pick([
      `doc:${doc} viewer user:${user}`,
      `doc:${doc} blocked user:${user}`,
      `doc:${doc} viewer group:${group}#member`,
      `group:${group} member user:${user}`,
    ]),
  )
}

/** An engine whose every look at the clock ends the turn, so that writes come between all steps. */
async function busy(random: Random) {
  const source = new MemorySource()
  let clock = 0
  const engine = new Engine(source, {
    pollMs: 0,
    stepsPerLook: 4,
    deadlineMs: 1e12,
    now: () => (clock += 10),
  })
  const write = () =>
    engine.applied(
      "store",
      random.chance(60) ? source.write(randomTuple(random)) : source.delete(randomTuple(random)),
    )
  for (let at = 0; at < 60; at++) source.write(randomTuple(random))
  await engine.warm("store")
  const docsAt = (user: string, revision: number) =>
    [...readers(source, revision)]
      .filter((pair) => pair.startsWith(`${user} `))
      .map((pair) => pair.split(" ")[1])
      .sort()
  return { source, engine, write, docsAt }
}

test("a list is true at the one revision it names, whatever is written while it is made and read", async () => {
  const random = new Random(5)
  const { source, engine, write, docsAt } = await busy(random)
  let moved = 0
  for (let round = 0; round < rounds; round++) {
    const user = `user:${random.below(8)}`
    const object = `doc:${random.below(12)}`
    const question = { user, relation: "reader", type: "doc" }
    const asked = Promise.all([
      engine.ask("store", listObjects(model, question, engine.bounds)),
      engine.ask("store", streamObjects(model, question, engine.bounds)),
      engine.ask(
        "store",
        listUsers(model, { object, relation: "reader", filter: { type: "user" } }, engine.bounds),
      ),
    ])
    for (let at = 0; at < 20; at++) {
      write()
      await turn()
    }
    const [list, stream, users] = await asked
    for (let at = 0; at < 20; at++) write()
    expect([...list.objects].sort()).toEqual(docsAt(user, list.revision))
    expect([...stream.batches()].flat().sort()).toEqual(docsAt(user, stream.revision))
    const usersAt = [...readers(source, users.revision)]
      .filter((pair) => pair.endsWith(` ${object}`))
      .map((pair) => pair.split(" ")[0])
    expect([...users.users].sort()).toEqual(usersAt.sort())
    if (users.revision < source.feed.length) moved++
  }
  engine.close()
  expect(moved).toBeGreaterThan(rounds / 2)
})

test("what is kept of lists is true at the revision it is given for, and pages at that of the first", async () => {
  const random = new Random(7)
  const { source, engine, write, docsAt } = await busy(random)
  for (let round = 0; round < rounds; round++) {
    const question = { user: `user:${random.below(8)}`, relation: "reader", type: "doc" }
    // At once again, which comes from what was kept; and after writes, which must not.
    for (const writes of [0, 0, 2]) {
      const list = await engine.ask("store", streamObjects(model, question, engine.bounds))
      expect([...list.batches()].flat().sort()).toEqual(docsAt(question.user, list.revision))
      expect(list.revision).toBe((await source.newest("store")).revision)
      for (let at = 0; at < writes; at++) write()
    }
    const pagesAt = await source.newest("store")
    const found: string[] = []
    let after: string | undefined
    do {
      const work = streamObjects(model, { ...question, pageSize: 2, after }, engine.bounds)
      const page = await engine.ask("store", work, after === undefined ? {} : { exactly: pagesAt })
      expect(page.revision).toBe(pagesAt.revision)
      for (const names of page.batches()) found.push(...names)
      after = page.next
      write()
    } while (after !== undefined)
    expect(found).toEqual(docsAt(question.user, pagesAt.revision))
  }
  expect(engine.keptHits).toBeGreaterThan(2 * rounds)
  engine.close()
})
