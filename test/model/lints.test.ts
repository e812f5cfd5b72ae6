import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Containment } from "../../compiler/model/containment.ts"
import { isWriting } from "../../compiler/model/lint-public-writes.ts"
import { lintModel } from "../../compiler/model/lints.ts"
import { indexModel, nothingBroken } from "../../runtime/model/model-index.ts"
import { validateModel } from "../../runtime/model/validate.ts"
import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"

describe("names that speak of writing", () => {
  test.each([
    "editor",
    "can_edit",
    "canEdit",
    "owner",
    "repo_admin",
    "can_manage_users",
    "may-delete",
    "approver",
    "can_be_shared_by_owner",
  ])("%s does", (name) => expect(isWriting(name)).toBe(true))

  test.each([
    "viewer",
    "can_view_owner",
    "canReadAdmin",
    "member",
    "reader",
    "ownership",
    "list_editors",
    "parent",
    "can",
    "is_",
  ])("%s does not", (name) => expect(isWriting(name)).toBe(false))
})

const names = ["a", "b", "c", "d"]
const users = ["u1", "u2"]
const objects = ["o1", "o2"]

const leaf: fc.Arbitrary<Userset> = fc.oneof(
  fc.constantFrom(...names).map((relation): Userset => ({ computedUserset: { relation } })),
  fc.constantFrom(...names).map(
    (relation): Userset => ({
      tupleToUserset: { tupleset: { relation: "parent" }, computedUserset: { relation } },
    }),
  ),
)

const definition: fc.Arbitrary<Userset> = fc
  .record({
    kind: fc.constantFrom("leaf", "union", "intersection", "difference", "nested"),
    direct: fc.boolean(),
    parts: fc.array(leaf, { minLength: 3, maxLength: 3 }),
  })
  .map(({ kind, direct, parts: [one, two, three] }) => {
    const first: Userset = direct ? { this: {} } : (one as Userset)
    const second = two as Userset
    if (kind === "leaf") return first
    if (kind === "union") return { union: { child: [first, second] } }
    if (kind === "intersection") return { intersection: { child: [first, second] } }
    if (kind === "difference") return { difference: { base: first, subtract: second } }
    return { union: { child: [{ intersection: { child: [first, second] } }, three as Userset] } }
  })

const model = fc.tuple(...names.map(() => definition)).map((bodies): AuthorizationModel => {
  const relations = Object.fromEntries(names.map((name, at) => [name, bodies[at] as Userset]))
  const listed = names.filter((_, at) => JSON.stringify(bodies[at]).includes('"this"'))
  const metadata = Object.fromEntries([
    ...listed.map((name) => [name, { directly_related_user_types: [{ type: "user" }] }]),
    ["parent", { directly_related_user_types: [{ type: "doc" }] }],
  ])
  return {
    schema_version: "1.1",
    type_definitions: [
      { type: "user" },
      { type: "doc", relations: { ...relations, parent: { this: {} } }, metadata: { relations: metadata } },
    ],
  }
})

const tuples = fc.subarray([
  ...objects.flatMap((object) => names.flatMap((name) => users.map((user) => `${object} ${name} ${user}`))),
  ...objects.flatMap((object) => objects.map((parent) => `${object} parent ${parent}`)),
])

/**
 * Who has what, by trying the definitions until nothing changes: what an exclusion takes away is what certainly has the relation when it is computed from
 * below; undefined where that does not settle (a relation that depends on not having itself).
 */
function solve({ type_definitions }: AuthorizationModel, given: readonly string[]): Set<string> | undefined {
  const relations = Object.entries(type_definitions[1]?.relations ?? {})
  const direct = new Set(given)
  const held = (assumed: ReadonlySet<string>): Set<string> => {
    const found = new Set<string>()
    const has = (rewrite: Userset, object: string, name: string, user: string): boolean => {
      if ("this" in rewrite) return direct.has(`${object} ${name} ${user}`)
      if ("computedUserset" in rewrite)
        return found.has(`${object} ${rewrite.computedUserset.relation} ${user}`)
      if ("union" in rewrite) return rewrite.union.child.some((each) => has(each, object, name, user))
      if ("intersection" in rewrite)
        return rewrite.intersection.child.every((each) => has(each, object, name, user))
      if ("tupleToUserset" in rewrite) {
        const { relation } = rewrite.tupleToUserset.computedUserset
        return objects.some(
          (each) => direct.has(`${object} parent ${each}`) && found.has(`${each} ${relation} ${user}`),
        )
      }
      const { base, subtract } = rewrite.difference
      return has(base, object, name, user) && !lacks(subtract, object, name, user)
    }
    // What is taken away is judged by what was assumed, so that each round is monotone.
    const lacks = (rewrite: Userset, object: string, name: string, user: string): boolean => {
      if ("this" in rewrite) return direct.has(`${object} ${name} ${user}`)
      if ("computedUserset" in rewrite)
        return assumed.has(`${object} ${rewrite.computedUserset.relation} ${user}`)
      if (!("tupleToUserset" in rewrite)) throw new Error("only leaves are subtracted here")
      const { relation } = rewrite.tupleToUserset.computedUserset
      return objects.some(
        (each) => direct.has(`${object} parent ${each}`) && assumed.has(`${each} ${relation} ${user}`),
      )
    }
    for (let size = -1; size !== found.size; ) {
      size = found.size
      for (const [name, rewrite] of relations)
        for (const object of objects)
          for (const user of users)
            if (has(rewrite, object, name, user)) found.add(`${object} ${name} ${user}`)
    }
    return found
  }
  let low = new Set<string>()
  for (;;) {
    const high = held(low)
    const next = held(high)
    if (next.size === high.size) return high
    if (next.size === low.size) return undefined
    low = next
  }
}

describe("what lints rest on", () => {
  test("a containment that is shown holds for all tuples", () => {
    fc.assert(
      fc.property(model, fc.array(tuples, { minLength: 5, maxLength: 5 }), (random, worlds) => {
        const index = indexModel(random, nothingBroken)
        const containment = new Containment(index)
        const relations = index.relations.filter(({ name }) => name !== "parent" && name !== undefined)
        const shown = relations.flatMap((inner) =>
          relations
            .filter(
              (outer) =>
                outer !== inner &&
                containment.holds(
                  { rewrite: inner.rewrite, relation: inner },
                  { rewrite: outer.rewrite, relation: outer },
                ),
            )
            .map((outer) => [inner.name, outer.name] as const),
        )
        for (const given of worlds) {
          const solved = solve(random, given)
          if (solved === undefined) continue
          for (const [inner, outer] of shown)
            for (const object of objects)
              for (const user of users)
                if (solved.has(`${object} ${inner} ${user}`))
                  expect(solved.has(`${object} ${outer} ${user}`)).toBe(true)
        }
      }),
      { numRuns: 1500 },
    )
  })

  test("nobody has a relation that is said to be empty, and a needless operand changes nothing", () => {
    fc.assert(
      fc.property(model, fc.array(tuples, { minLength: 4, maxLength: 4 }), (random, worlds) => {
        if (validateModel(random).length > 0) return
        for (const { code, path } of lintModel(random)) {
          if (code !== "SP4043" && code !== "SP4044" && code !== "SP4046") continue
          const name = String(path[3])
          for (const given of worlds) {
            const solved = solve(random, given)
            if (solved === undefined) continue
            if (code === "SP4043" || path.length === 4)
              expect([...solved].filter((each) => each.split(" ")[1] === name)).toEqual([])
            if (code !== "SP4044") continue
            const other = solve(without(random, path), given)
            if (other !== undefined) expect([...other].sort()).toEqual([...solved].sort())
          }
        }
      }),
      { numRuns: 1500 },
    )
  })
})

/** The model without the operand a path leads to. */
function without(random: AuthorizationModel, path: readonly (string | number)[]): AuthorizationModel {
  const copy = structuredClone(random)
  let parent: Record<string | number, unknown> = copy as never
  for (const step of path.slice(0, -3)) parent = parent[step] as never
  const [operator, , at] = path.slice(-3) as [string, string, number]
  const { child } = parent[operator] as { child: Userset[] }
  const rest = child.toSpliced(at, 1)
  const [only] = rest
  for (const key of Object.keys(parent)) delete parent[key]
  Object.assign(parent, rest.length === 1 && only !== undefined ? only : { [operator]: { child: rest } })
  return copy
}

test("a model too large for all comparisons is linted all the same", () => {
  const count = 1500
  const relations = Object.fromEntries(
    Array.from({ length: count }, (_, at): [string, Userset] => [
      `r${at}`,
      at === count - 1
        ? { this: {} }
        : {
            union: {
              child: Array.from({ length: 4 }, (_each, step) => ({
                computedUserset: { relation: `r${Math.min(count - 1, at + 1 + step * 7)}` },
              })),
            },
          },
    ]),
  )
  const metadata = { relations: { [`r${count - 1}`]: { directly_related_user_types: [{ type: "user" }] } } }
  const large: AuthorizationModel = {
    schema_version: "1.1",
    type_definitions: [{ type: "user" }, { type: "doc", relations, metadata }],
  }
  expect(lintModel(large).every(({ code }) => code === "SP4044")).toBe(true)
})
