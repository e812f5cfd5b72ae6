import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import type { Need } from "../../compiler/model/explain.ts"
import { explainRelation } from "../../compiler/model/explain.ts"
import { Subjects } from "../../compiler/model/subjects.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { indexModel, nothingBroken } from "../../runtime/model/model-index.ts"
import { canReach } from "../../runtime/model/reach.ts"
import { validateModel } from "../../runtime/model/validate.ts"
import type {
  AuthorizationModel,
  RelationReference,
  Userset,
} from "../../runtime/plan/authorization-model.ts"

function explained(text: string, name: string) {
  const report = new Report()
  const compiled = compileModel(new SourceFile("m.fga", `model\n  schema 1.1\n${text}`), report)
  if (compiled === undefined) throw new Error(JSON.stringify(report.sorted()))
  const [type = "", relation = ""] = name.split("#")
  const found = explainRelation(compiled, type, relation)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

const text = `
type user
type robot
type team
  relations
    define member: [user, team#member]
type folder
  relations
    define parent: [folder]
    define viewer: [team#member, user:* with office] or viewer from parent
type doc
  relations
    define parent: [folder]
    define staff: [user, robot]
    define blocked: [user]
    define viewer: (staff and viewer from parent) but not (blocked or staff from parent)
    define reader: viewer
type other
  relations
    define viewer: [user]
condition office(ip: ipaddress) {
  ip.in_cidr("10.0.0.0/8")
}
`.replace(" or staff from parent", "")

describe("a relation", () => {
  test("is spelled out once, with its conditions and places", () => {
    const { definition, place, dependsOn, conditions } = explained(text, "doc#viewer")
    expect({ definition, place }).toEqual({
      definition: "(staff and viewer from parent) but not blocked",
      place: "m.fga:18:12",
    })
    const seen: string[] = []
    const walk = (need: Need): void => {
      if (need.kind === "relation") {
        if (need.by !== undefined) seen.push(need.relation)
        if (need.by !== undefined) walk(need.by)
      } else if (need.kind === "tuples") need.members.forEach(walk)
      else if (need.kind === "from") need.relations.forEach(walk)
      else need.operands.forEach(walk)
    }
    walk(dependsOn)
    expect(seen).toEqual(["doc#viewer", "doc#staff", "folder#viewer", "team#member", "doc#blocked"])
    expect(conditions).toEqual([
      { name: "office", parameters: ["ip"], expression: 'ip.in_cidr("10.0.0.0/8")' },
    ])
  })

  test("knows what reads it, as a relation, a user set or a tupleset", () => {
    const of = (name: string) =>
      explained(text, name).dependents.map(({ relation, direct }) => `${relation} ${direct}`)
    expect(of("doc#parent")).toEqual(["doc#viewer true", "doc#reader false"])
    expect(of("team#member")).toEqual(
      ["team#member true", "folder#viewer true", "doc#viewer false", "doc#reader false"].slice(1),
    )
    expect(of("other#viewer")).toEqual([])
  })

  test("knows who could have it, how, and under which limits", () => {
    expect(explained(text, "doc#reader").subjects).toEqual([
      {
        subject: "user",
        paths: [
          {
            relations: ["doc#reader", "doc#viewer", "doc#staff"],
            tuples: ["user"],
            only: ["doc#viewer but not blocked", "doc#viewer and viewer from parent"],
          },
          {
            relations: ["doc#reader", "doc#viewer", "folder#viewer"],
            tuples: ["user:* with office"],
            only: ["doc#viewer but not blocked", "doc#viewer and staff"],
          },
          {
            relations: ["doc#reader", "doc#viewer", "folder#viewer", "team#member"],
            tuples: ["user"],
            only: ["doc#viewer but not blocked", "doc#viewer and staff"],
          },
        ],
      },
    ])
    expect(
      explained(
        "type user\ntype a\n  relations\n    define x: [user]\n    define y: x but not x2\n    define x2: [user] or x\n",
        "a#y",
      ).subjects,
    ).toEqual([])
  })

  test("that is not there, and a chain that is deep", () => {
    const relations = Array.from({ length: 3000 }, (_, at) => `    define r${at + 1}: r${at}`)
    const deep = explained(
      `type user\ntype doc\n  relations\n    define r0: [user]\n${relations.join("\n")}\n`,
      "doc#r3000",
    )
    expect(JSON.stringify(deep).length).toBeGreaterThan(1000)
    expect(deep.subjects[0]?.paths[0]?.relations.length).toBe(3001)
  })
})

const names = ["a", "b", "c"]
const references: RelationReference[] = [
  { type: "user" },
  { type: "user", wildcard: {} },
  { type: "robot" },
  { type: "robot", wildcard: {}, condition: "c" },
  { type: "team", relation: "a" },
  { type: "doc", relation: "b" },
]

const leaf = fc.oneof(
  fc.constantFrom(...names).map((relation): Userset => ({ computedUserset: { relation } })),
  fc.constantFrom(...names).map(
    (relation): Userset => ({
      tupleToUserset: { tupleset: { relation: "parent" }, computedUserset: { relation } },
    }),
  ),
)
const body = fc
  .tuple(fc.constantFrom("this", "union", "intersection", "difference"), leaf, fc.boolean(), leaf)
  .map(([kind, one, direct, two]): Userset => {
    const first: Userset = direct ? { this: {} } : one
    if (kind === "this") return { this: {} }
    if (kind === "union") return { union: { child: [first, two] } }
    return kind === "intersection"
      ? { intersection: { child: [first, two] } }
      : { difference: { base: first, subtract: two } }
  })
const relationsOf = fc
  .tuple(...names.map(() => fc.tuple(body, fc.subarray(references, { minLength: 1 }))))
  .map((bodies) => {
    const relations = Object.fromEntries(names.map((name, at) => [name, bodies[at]?.[0] as Userset]))
    const listed = names.filter((name) => JSON.stringify(relations[name]).includes('"this"'))
    return {
      relations: { ...relations, parent: { this: {} } as Userset },
      metadata: {
        relations: {
          ...Object.fromEntries(
            listed.map((name) => [
              name,
              { directly_related_user_types: bodies[names.indexOf(name)]?.[1] ?? [] },
            ]),
          ),
          parent: { directly_related_user_types: [{ type: "doc" }, { type: "team" }] },
        },
      },
    }
  })
const model = fc.tuple(relationsOf, relationsOf).map(
  ([team, doc]): AuthorizationModel => ({
    schema_version: "1.1",
    type_definitions: [
      { type: "user" },
      { type: "robot" },
      { type: "team", ...team },
      { type: "doc", ...doc },
    ],
    conditions: { c: { name: "c", expression: "x > 1", parameters: { x: { type_name: "TYPE_NAME_INT" } } } },
  }),
)

test("who could have a relation is what the engine's plans say, and each has a way", () => {
  let judged = 0
  fc.assert(
    fc.property(model, (random) => {
      if (validateModel(random).length > 0) return
      const index = indexModel(random, nothingBroken)
      const subjects = new Subjects(index, { all: true })
      const plan = lowerModel(random)
      const compiled = {
        file: new SourceFile("m", ""),
        model: random,
        types: new Map(),
        conditions: new Map(),
        placeOf: undefined,
      }
      for (const relation of index.relations) {
        const { type, name } = relation
        const wanted = [["user"], ["user", "*"], ["robot"], ["robot", "*"]]
          .filter(([subject = "", wildcard]) => canReach(plan, type, name, subject, wildcard))
          .map((parts) => parts.join(":"))
        expect([...subjects.of(relation)].filter((kind) => /user|robot/.test(kind)).sort()).toEqual(
          wanted.sort(),
        )
        for (const { paths } of explainRelation(compiled, type, name)?.subjects ?? [])
          expect(paths.length).toBeGreaterThan(0)
        judged++
      }
    }),
    { numRuns: 600 },
  )
  expect(judged).toBeGreaterThan(100)
})
