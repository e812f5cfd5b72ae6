import { expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import type { Paging } from "../../runtime/check/questions.ts"
import { scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"
import { compareUsersWithChecks } from "./users-and-checks.ts"

const layered = modelOf(`
type user
type team
  relations
    define member: [user, user:*]
type doc
  relations
    define parent: [doc]
    define a: [user, user:*, team#member]
    define b: [user, user:*]
    define c: [user, user:*]
    define d: b but not c
    define view: a but not d
    define both: a and c
    define deep: both but not (d but not view)
    define up: view or up from parent
    define beside: up and a
`)

test.each<readonly [relation: string, tuples: readonly string[], users: readonly string[]]>([
  ["view", ["a user:*", "b user:*", "c user:sarah"], ["user:sarah"]],
  ["view", ["a team:x#member", "b user:*", "c user:sarah"], ["user:sarah"]],
  ["view", ["a user:*", "a user:ann", "b user:*", "c user:sarah", "c user:ann"], ["user:ann", "user:sarah"]],
  ["both", ["a user:*", "c user:sarah"], ["user:sarah"]],
  ["deep", ["a user:*", "b user:*", "c user:sarah"], ["user:sarah"]],
  ["up", ["a user:*", "b user:*", "parent doc:2"], ["user:zoe"]],
  ["beside", ["a user:*", "b user:*", "parent doc:2"], ["user:zoe"]],
])(
  "of a wildcard that is not on the list, those whom it lets in by %s are, with %j",
  async (relation, own, users) => {
    const tuples = [
      ...own.map((tuple) => `doc:1 ${tuple}`),
      "team:x member user:*",
      "doc:2 a user:*",
      "doc:2 b user:*",
      "doc:2 c user:zoe",
    ]
    for (const options of [{}, { walkSteps: 0 }, { paged: true }]) {
      const source = new MemorySource()
      source.write(...tuples.map(tupleOf))
      const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
      const ask = async (paging: Paging) => {
        const request = { object: "doc:1", relation, filter: { type: "user" }, ...paging }
        return await engine.ask("store", listUsers(layered, request, engine.bounds))
      }
      const whole = await ask({})
      expect({ ...whole, users: [...whole.users].sort() }).toMatchObject({ users, excluded: [] })
      expect(await ask({ pageSize: 1 })).toMatchObject({ users: users.slice(0, 1), excluded: [] })
      engine.close()
    }
  },
)

const lists = scaled(1_000, 0.5)

test(`${lists} random lists of users cover exactly whom the check allows`, async (context) =>
  tellAsked(context, await compareUsersWithChecks(lists)))
