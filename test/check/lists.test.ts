import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { ListObjectsRequest, ListUsersRequest } from "../../runtime/check/questions.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

function engineOf(tuples: readonly string[], options: EngineOptions = {}): Engine {
  const source = new MemorySource()
  if (tuples.length > 0) source.write(...tuples.map(tupleOf))
  return new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
}

async function usersOf(
  model: LoadedModel,
  tuples: readonly string[],
  request: Omit<ListUsersRequest, "filter"> & { filter?: ListUsersRequest["filter"] },
  options: EngineOptions = {},
) {
  const engine = engineOf(tuples, options)
  const work = listUsers(model, { filter: { type: "user" }, ...request }, engine.bounds)
  const { users, excluded, next, truncated } = await engine.ask("store", work)
  engine.close()
  const sorted =
    request.pageSize === undefined ? [[...users].sort(), [...excluded].sort()] : [users, excluded]
  return {
    users: sorted[0],
    excluded: sorted[1],
    ...(next === undefined ? {} : { next }),
    ...(truncated === undefined ? {} : { truncated }),
  }
}

async function objectsOf(
  model: LoadedModel,
  tuples: readonly string[],
  request: ListObjectsRequest,
  options: EngineOptions = {},
) {
  const engine = engineOf(tuples, options)
  const { objects, next, truncated } = await engine.ask("store", listObjects(model, request, engine.bounds))
  engine.close()
  return {
    objects,
    ...(next === undefined ? {} : { next }),
    ...(truncated === undefined ? {} : { truncated }),
  }
}

const blocking = modelOf(`
type user
type team
  relations
    define banned: [user]
    define member: [user, user:*] but not banned
type doc
  relations
    define parent: [doc]
    define blocked: [user, team#member]
    define viewer: [user, user:*, team#member] or viewer from parent
    define reader: viewer but not blocked
    define guest: [team#member] but not blocked
    define either: reader or guest
    define inherited: reader or inherited from parent
`)

test("whoever both sides of an exclusion deny is not listed", async () => {
  const tuples = [
    "team:a member user:ann",
    "team:a banned user:ann",
    "doc:1 guest team:a#member",
    "doc:1 blocked team:a#member",
    "doc:1 guest team:b#member",
    "team:b member user:bob",
  ]
  expect((await usersOf(blocking, tuples, { object: "doc:1", relation: "guest" })).users).toEqual([
    "user:bob",
  ])
})

test("whoever one branch or parent grants is listed, though another excludes them", async () => {
  const tuples = [
    "doc:1 viewer user:ann",
    "doc:1 blocked user:ann",
    "doc:1 parent doc:2",
    "doc:2 viewer user:ann",
  ]
  expect((await usersOf(blocking, tuples, { object: "doc:1", relation: "inherited" })).users).toEqual([
    "user:ann",
  ])
  expect((await usersOf(blocking, tuples, { object: "doc:1", relation: "either" })).users).toEqual([])
})

test("a filter of usersets gives usersets, no wildcard of their type", async () => {
  const tuples = ["doc:1 viewer team:a#member", "doc:1 viewer user:*", "team:a member user:*"]
  const request = { object: "doc:1", relation: "viewer", filter: { type: "team", relation: "member" } }
  expect(await usersOf(blocking, tuples, request)).toEqual({ users: ["team:a#member"], excluded: [] })
})

test("the object's own userset is among its usersets", async () => {
  const request = { object: "doc:1", relation: "viewer", filter: { type: "doc", relation: "viewer" } }
  expect((await usersOf(blocking, ["doc:1 parent doc:2"], request)).users).toEqual([
    "doc:1#viewer",
    "doc:2#viewer",
  ])
})

test("beside a wildcard stand those who are named, and apart those it does not cover", async () => {
  const tuples = [
    "doc:1 viewer user:*",
    "doc:1 viewer user:ann",
    "doc:1 viewer user:bob",
    "doc:1 blocked user:bob",
    "doc:1 blocked user:eve",
    "doc:1 blocked team:a#member",
    "team:a member user:zoe",
  ]
  expect(await usersOf(blocking, tuples, { object: "doc:1", relation: "reader" })).toEqual({
    users: ["user:*", "user:ann"],
    excluded: ["user:bob", "user:eve", "user:zoe"],
  })
})

test("named on a branch that is false is not named", async () => {
  const tuples = [
    "doc:1 viewer user:ann",
    "doc:1 blocked user:ann",
    "doc:1 parent doc:2",
    "doc:2 viewer user:*",
    "doc:2 viewer user:bob",
  ]
  // The wildcard covers ann by the parent; her own tuple is excluded.
  expect(await usersOf(blocking, tuples, { object: "doc:1", relation: "inherited" })).toEqual({
    users: ["user:*", "user:bob"],
    excluded: [],
  })
})

test("pages count users and excluded users together, in order of name", async () => {
  const tuples = [
    "doc:1 viewer user:*",
    ...["c", "a", "e"].map((name) => `doc:1 viewer user:${name}`),
    ...["b", "d"].map((name) => `doc:1 blocked user:${name}`),
  ]
  const request = { object: "doc:1", relation: "reader", pageSize: 3 }
  expect(await usersOf(blocking, tuples, request)).toEqual({
    users: ["user:*", "user:a"],
    excluded: ["user:b"],
    next: "user:b",
  })
  expect(await usersOf(blocking, tuples, { ...request, after: "user:b" })).toEqual({
    users: ["user:c", "user:e"],
    excluded: ["user:d"],
  })
})

test("order is that of the names' bytes, suffix included", async () => {
  const names = ["a", "a!", "a-", "ab", "Z", "é", "\u{1F600}", "\uFF5E"]
  const tuples = names.map((name) => `doc:1 viewer team:${name}#member`)
  const filter = { type: "team", relation: "member" }
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await usersOf(blocking, tuples, {
      object: "doc:1",
      relation: "viewer",
      filter,
      pageSize: 1,
      after,
    })
    found.push(...(page.users as string[]))
    after = "next" in page ? (page.next as string) : undefined
  } while (after !== undefined)
  const bytes = (text: string) => Buffer.from(text).toString("hex")
  const expected = names.map((name) => `team:${name}#member`)
  expect(found).toEqual(expected.sort((one, other) => (bytes(one) < bytes(other) ? -1 : 1)))
})

test("a limit says that it cut, and where to go on", async () => {
  const tuples = ["1", "2", "3"].map((at) => `doc:${at} viewer user:ann`)
  const request = { user: "user:ann", type: "doc", relation: "reader", resultsMax: 2 }
  expect(await objectsOf(blocking, tuples, request)).toEqual({
    objects: ["doc:1", "doc:2"],
    next: "doc:2",
    truncated: "limit",
  })
  expect(await objectsOf(blocking, tuples, { ...request, after: "doc:2" })).toEqual({ objects: ["doc:3"] })
})

const deep = modelOf(`
type user
type group
  relations
    define banned: [user]
    define member: [user, group#member] but not banned
type doc
  relations
    define viewer: [group#member]
    define blocked: [user]
    define reader: viewer but not blocked
`)

test("a deadline gives what is decided so far, in order of name, and says where to go on", async () => {
  // Each document has a group of its own, and that a chain below it: nothing is shared.
  const names = Array.from({ length: 600 }, (_, at) => `${1000 + at}`)
  const tuples = names.flatMap((name) => [
    `doc:${name} viewer group:${name}-0#member`,
    ...Array.from({ length: 20 }, (_, at) => `group:${name}-${at} member group:${name}-${at + 1}#member`),
    `group:${name}-20 member user:ann`,
  ])
  let clock = 0
  // Each look at the clock is a millisecond: the time is over after so many looks.
  const engine = engineOf(tuples, { now: () => (clock += 1), walkSteps: 1_000_000 })
  // Work that waits for a load has a real timer, which does not follow this clock.
  await engine.warm("store")
  const request = { user: "user:ann", type: "doc", relation: "reader", deadlineMs: 1_000 }
  const found: string[] = []
  let after: string | undefined
  let cuts = 0
  do {
    const work = listObjects(deep, { ...request, after }, engine.bounds)
    const { objects, next, truncated } = await engine.ask("store", work)
    // Only what is cut is in order.
    found.push(...(next === undefined ? [...objects].sort() : objects))
    after = next
    expect(truncated).toBe(next === undefined ? undefined : "deadline")
    if (truncated !== undefined) cuts++
  } while (after !== undefined)
  engine.close()
  expect(cuts).toBeGreaterThan(0)
  expect(found).toEqual(names.map((name) => `doc:${name}`))
})

test("wherever a deadline cuts, what was found before the list was put in order is named in its place", async () => {
  // Half are found at once, and what they are found among takes long: a chain for each of the others.
  const names = Array.from({ length: 4_000 }, (_, at) => `${10_000 + at}`)
  const tuples = names.flatMap((name, at) =>
    at % 2 === 0
      ? [`doc:${name} viewer group:quick#member`]
      : [
          `doc:${name} viewer group:${name}-0#member`,
          ...Array.from(
            { length: 6 },
            (_, at) => `group:${name}-${at} member group:${name}-${at + 1}#member`,
          ),
          `group:${name}-6 member user:ann`,
        ],
  )
  let clock = 0
  const options = { now: () => (clock += 1), walkSteps: 1_000_000, stepsPerLook: 16 }
  const engine = engineOf([...tuples, "group:quick member user:ann"], options)
  const asked = { user: "user:ann", type: "doc", relation: "reader" }
  // As many looks at the clock as the whole list takes.
  const patient = { ...asked, deadlineMs: 1_000_000 }
  await engine.warm("store")
  clock = 0
  await engine.ask("store", listObjects(deep, patient, engine.bounds))
  const whole = clock
  let cuts = 0
  for (const part of [0.7, 0.75, 0.8, 0.85, 0.9, 0.95]) {
    const found: string[] = []
    for (let after: string | undefined, more = true; more; ) {
      const request = { ...asked, deadlineMs: part * whole, after }
      const { objects, next, truncated } = await engine.ask(
        "store",
        listObjects(deep, request, engine.bounds),
      )
      found.push(...(next === undefined ? [...objects].sort() : objects))
      if (truncated !== undefined) cuts++
      after = next
      more = next !== undefined
    }
    expect(found).toEqual(names.map((name) => `doc:${name}`))
  }
  engine.close()
  expect(cuts).toBeGreaterThan(3)
})

test("a union that repeats a recursive branch ends", async () => {
  const model = modelOf(`
type user
type folder
  relations
    define parent: [folder]
    define viewer: [user] or viewer from parent or (viewer from parent or viewer from parent)
`)
  const tuples = Array.from({ length: 300 }, (_, at) => `folder:${at + 1} parent folder:${at}`)
  const { objects } = await objectsOf(model, ["folder:0 viewer user:ann", ...tuples], {
    user: "user:ann",
    type: "folder",
    relation: "viewer",
  })
  expect(objects).toHaveLength(301)
})

test("contextual tuples bring objects and users, and hide stored ones of the same key", async () => {
  const model = modelOf(`
type user
type doc
  relations
    define blocked: [user]
    define viewer: [user with small, user]
    define reader: viewer but not blocked
condition small(x: int) {
  x < 10
}
`)
  const contextualTuples = ["doc:2 viewer user:ann", 'doc:1 viewer user:ann if small {"x":20}'].map(tupleOf)
  const tuples = ["doc:1 viewer user:ann", "doc:3 viewer user:ann", "doc:3 blocked user:ann"]
  const request = { user: "user:ann", type: "doc", relation: "reader", contextualTuples }
  expect(await objectsOf(model, tuples, request)).toEqual({ objects: ["doc:2"] })
  const own = await usersOf(model, tuples, { object: "doc:2", relation: "reader", contextualTuples })
  expect(own.users).toEqual(["user:ann"])
})

test("an object that can't be decided is never left out", async () => {
  const model = modelOf(`
type user
type doc
  relations
    define viewer: [user with small, user]
condition small(x: int) {
  x < 10
}
`)
  const tuples = ["doc:1 viewer user:ann", "doc:2 viewer user:ann if small"]
  const request = { user: "user:ann", type: "doc", relation: "viewer" }
  await expect(objectsOf(model, tuples, request)).rejects.toThrow(
    "failed to evaluate relationship condition: 'small' - tuple 'doc:2#viewer@user:ann' is missing context parameters '[x]'",
  )
  // A page before it is told.
  expect(await objectsOf(model, tuples, { ...request, pageSize: 1 })).toEqual({
    objects: ["doc:1"],
    next: "doc:1",
  })
  expect((await objectsOf(model, tuples, { ...request, context: { x: 3 } })).objects).toHaveLength(2)
})

/** Steps that a list takes, so that what must not be quadratic is counted and not timed. */
async function stepsOf(tuples: readonly string[], request: ListObjectsRequest): Promise<number> {
  const engine = engineOf(tuples)
  const work = listObjects(blocking, request, engine.bounds)
  let steps = 0
  await engine.ask("store", {
    begin: (view) => work.begin(view),
    run: (isLate) => work.run(isLate),
    answer: (revision) => work.answer(revision),
    release: () => {
      steps = work.steps
      work.release()
    },
    steps: 0,
  })
  engine.close()
  return steps
}

test("neither a huge excluded set nor a huge base costs more than the smaller of both asks for", async () => {
  const many = Array.from({ length: 20_000 }, (_, at) => `doc:x${at} blocked team:all#member`)
  const few = Array.from({ length: 5 }, (_, at) => `doc:${at} viewer user:ann`)
  const member = "team:all member user:ann"
  const request = { user: "user:ann", type: "doc", relation: "reader" }
  expect(await stepsOf([member, ...many, ...few], request)).toBeLessThan(2_500)
  const base = Array.from({ length: 20_000 }, (_, at) => `doc:x${at} viewer user:ann`)
  expect(await stepsOf([member, ...base, "doc:x1 blocked team:all#member"], request)).toBeLessThan(250_000)
})
