import { expect, test } from "vitest"
import { batchCheck } from "../../runtime/check/batch-check.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { expand } from "../../runtime/check/expand.ts"
import { explain } from "../../runtime/check/explain.ts"
import { listObjects, streamObjects } from "../../runtime/check/list-objects.ts"
import { listRelations } from "../../runtime/check/list-relations.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { matrix, matrixCellsMax } from "../../runtime/check/matrix.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import type { EngineWork } from "../../runtime/check/work.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define viewer: [user, user:*]
type doc
  relations
    define parent: [folder]
    define owner: [user]
    define blocked: [user]
    define early: [user with small]
    define viewer: [user, group#member] or owner or viewer from parent
    define reader: viewer but not blocked
    define both: viewer and owner
condition small(x: int) {
  x < 10
}
`)

function ask<Answer>(
  tuples: readonly (string | TupleKey)[],
  work: (bounds: Engine["bounds"]) => EngineWork<Answer>,
  options: ConstructorParameters<typeof Engine>[1] = {},
): Promise<Answer> {
  const source = new MemorySource()
  if (tuples.length > 0)
    source.write(...tuples.map((tuple) => (typeof tuple === "string" ? tupleOf(tuple) : tuple)))
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
  return Promise.resolve(engine.ask("store", work(engine.bounds))).finally(() => engine.close())
}

const tuples = [
  "doc:1 owner user:ann",
  "doc:1 viewer group:a#member",
  "group:a member user:bob",
  "doc:1 blocked user:bob",
  "doc:1 parent folder:1",
  "folder:1 viewer user:eve",
  "doc:1 early user:ann if small",
]

test("all relations of a user on an object, an undecided one being its own error", async () => {
  const { relations, errors, revision } = await ask(tuples, (bounds) =>
    listRelations(model, { user: "user:ann", object: "doc:1" }, bounds),
  )
  expect([...relations].sort()).toEqual(["both", "owner", "reader", "viewer"])
  expect(errors.map(({ relation, error }) => `${relation}: ${error.message}`)).toEqual([
    "early: failed to evaluate relationship condition: 'small' - tuple 'doc:1#early@user:ann' is missing context parameters '[x]'",
  ])
  expect(revision).toBe(1)
})

test("only the relations asked for, in their order, and what the type lacks is said", async () => {
  const request = { user: "user:bob", object: "doc:1", relations: ["viewer", "reader", "nothing"] }
  const { relations, errors } = await ask(tuples, (bounds) => listRelations(model, request, bounds))
  expect(relations).toEqual(["viewer"])
  expect(errors.map(({ relation, error }) => [relation, error.code])).toEqual([
    ["nothing", "relation_not_found"],
  ])
})

test("each check of a batch under its own circumstances, with its own error", async () => {
  const check = (user: string, relation: string, more: object = {}) => ({
    user,
    relation,
    object: "doc:1",
    ...more,
  })
  const items = [
    check("user:ann", "reader"),
    check("user:bob", "reader"),
    check("user:bob", "viewer"),
    check("user:ann", "early"),
    check("user:ann", "early", { context: { x: 3 } }),
    check("user:ann", "early", { context: { x: 30 } }),
    check("user:zoe", "viewer", { contextualTuples: [tupleOf("group:a member user:zoe")] }),
    check("user:zoe", "viewer"),
    check("user:zoe", "nothing"),
    check("user:zoe", "viewer", { contextualTuples: [tupleOf("doc:1 parent user:zoe")] }),
  ]
  const { results } = await ask(tuples, (bounds) => batchCheck(model, items, bounds))
  expect(results.map((result) => (result instanceof CheckError ? result.code : result.allowed))).toEqual([
    true,
    false,
    true,
    "validation_error",
    true,
    false,
    true,
    false,
    "validation_error",
    "invalid_tuple",
  ])
})

test("a matrix of users, relations and objects", async () => {
  const request = {
    users: ["user:ann", "user:bob"],
    relations: ["viewer", "reader", "member"],
    objects: ["doc:1", "group:a"],
  }
  const { cells } = await ask(tuples, (bounds) => matrix(model, request, bounds))
  expect(cells).toEqual([
    [
      [true, false],
      [true, false],
      [false, false],
    ],
    [
      [true, false],
      [false, false],
      [false, true],
    ],
  ])
})

test("a matrix of too many cells is refused", async () => {
  const users = Array.from({ length: 101 }, (_, at) => `user:${at}`)
  const objects = Array.from({ length: 100 }, (_, at) => `doc:${at}`)
  expect(users.length * objects.length).toBeGreaterThan(matrixCellsMax)
  const asked = ask(tuples, (bounds) => matrix(model, { users, relations: ["viewer"], objects }, bounds))
  await expect(asked).rejects.toThrow("are 10100 cells; the maximum is 10000")
})

test("one level of a relation, without tuples the model forbids, with contextual ones", async () => {
  const forbidden = { object: "doc:1", relation: "viewer", user: "user:*" }
  const request = {
    object: "doc:1",
    relation: "viewer",
    contextualTuples: [tupleOf("doc:1 parent folder:2"), tupleOf("doc:1 viewer user:zoe")],
  }
  const name = "doc:1#viewer"
  const { root } = await ask([...tuples, forbidden], (bounds) => expand(model, request, bounds))
  expect(root).toEqual({
    name,
    union: {
      nodes: [
        { name, leaf: { users: { users: ["group:a#member", "user:zoe"] } } },
        { name, leaf: { computed: { userset: "doc:1#owner" } } },
        {
          name,
          leaf: {
            tupleToUserset: {
              tupleset: "doc:1#parent",
              computed: [{ userset: "folder:1#viewer" }, { userset: "folder:2#viewer" }],
            },
          },
        },
      ],
    },
  })
  const difference = await ask(tuples, (bounds) =>
    expand(model, { object: "doc:1", relation: "reader" }, bounds),
  )
  expect(difference.root).toEqual({
    name: "doc:1#reader",
    difference: {
      base: { name: "doc:1#reader", leaf: { computed: { userset: "doc:1#viewer" } } },
      subtract: { name: "doc:1#reader", leaf: { computed: { userset: "doc:1#blocked" } } },
    },
  })
})

test("a stream gives each object once, in batches", async () => {
  const many = Array.from({ length: 12_000 }, (_, at) => `doc:${at} owner user:ann`)
  const { batches, revision } = await ask(many, (bounds) =>
    streamObjects(model, { user: "user:ann", relation: "reader", type: "doc" }, bounds),
  )
  const found = [...batches()]
  expect(found.length).toBeGreaterThan(1)
  expect(new Set(found.flat())).toEqual(new Set(many.map((tuple) => tuple.split(" ")[0])))
  expect(found.flat()).toHaveLength(many.length)
  expect(revision).toBe(1)
})

test("a contextual tuple may come twice in any question, but not with another condition", async () => {
  const tuple = { user: "user:ann", relation: "early", object: "doc:1" }
  const { user, relation, object } = tuple
  const early = (x: number) => ({ ...tuple, condition: { name: "small", context: { x } } })
  const codes = async (contextualTuples: TupleKey[]) => {
    const given = { contextualTuples, context: {} }
    const filter = { type: "user" }
    const works: ((bounds: Engine["bounds"]) => EngineWork<unknown>)[] = [
      (bounds) => listObjects(model, { user, relation, type: "doc", ...given }, bounds),
      (bounds) => listUsers(model, { object, relation, filter, ...given }, bounds),
      (bounds) => listRelations(model, { user, object, relations: [relation], ...given }, bounds),
      (bounds) =>
        matrix(model, { users: [user], relations: [relation], objects: [object], ...given }, bounds),
      (bounds) => expand(model, { relation, object, ...given }, bounds),
      (bounds) => explain(model, { ...tuple, ...given, explain: true }, bounds),
    ]
    const codeOf = (work: (typeof works)[number]) =>
      ask([], work).then(
        () => "answered",
        (error) => (error as CheckError).code,
      )
    return [...new Set(await Promise.all(works.map(codeOf)))]
  }
  expect(await codes([early(3), early(3)])).toEqual(["answered"])
  expect(await codes([early(3), early(4)])).toEqual(["duplicate_contextual_tuple"])
})
