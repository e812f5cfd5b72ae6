import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { canReach } from "../../runtime/model/reach.ts"
import { modelPlan } from "../../runtime/plan/authorization-model.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"

function lowered(text: string) {
  const report = new Report()
  const compiled = compileModel(new SourceFile("model.fga", `model\n  schema 1.1\n${text}`), report)
  if (compiled === undefined) throw new Error(JSON.stringify(report.sorted()))
  return lowerModel(compiled.model)
}

const documents = lowered(`
type user
type employee
type group
  relations
    define member: [user, user:*, group#member, employee with office]
type folder
  relations
    define parent: [folder]
    define viewer: [group#member] or viewer from parent
type doc
  relations
    define parent: [folder, doc with office]
    define owner: [user]
    define editor: [employee] or owner
    define viewer: editor or viewer from parent
    define staff: [employee] and editor
    define guest: [user] but not staff
    define nobody: owner and parent
condition office(ip: ipaddress) {
  ip.in_cidr("10.0.0.0/8")
}
`)

/** A relation's plan with names instead of indexes. */
function planOf(type: string, relation: string): unknown {
  const { relations, slots, subjects, conditions } = documents.relations
  const nameOf = (at: number) => `${relations[at]?.type}#${relations[at]?.relation}`
  const slotOf = (at: number) => {
    const [owner = -1, subject = -1, condition = -1] = slots[at] ?? []
    return `${nameOf(owner)}@${subjects[subject]}${condition < 0 ? "" : ` with ${conditions[condition]}`}`
  }
  const row = relations.find((candidate) => candidate.type === type && candidate.relation === relation)
  return JSON.parse(
    JSON.stringify(row?.plan, (key, value) => {
      if (key === "same" || key === "refs") return value.map(nameOf)
      if (key === "direct") return value.map(slotOf)
      if (key === "from")
        return value.map(([slot, target]: [number, number]) => `${nameOf(target)} on ${slotOf(slot)}`)
      return value
    }),
  )
}

describe("relation plans", () => {
  test("inline computed unions and put single subjects first, then wildcards, conditions, usersets", () => {
    expect(planOf("doc", "viewer")).toEqual({
      any: {
        same: ["doc#editor", "doc#owner"],
        direct: ["doc#editor@employee", "doc#owner@user"],
        from: ["folder#viewer on doc#parent@folder", "doc#viewer on doc#parent@doc with office"],
      },
    })
    expect(planOf("group", "member")).toEqual({
      any: {
        direct: [
          "group#member@user",
          "group#member@user:*",
          "group#member@employee with office",
          "group#member@group#member",
        ],
      },
    })
  })

  test("keep operators, with computed operands inlined into them", () => {
    expect(planOf("doc", "guest")).toEqual({
      but: [{ any: { direct: ["doc#guest@user"] } }, { any: { refs: ["doc#staff"] } }],
    })
    expect(planOf("doc", "staff")).toEqual({
      all: [
        { any: { direct: ["doc#staff@employee"] } },
        { any: { same: ["doc#editor", "doc#owner"], direct: ["doc#editor@employee", "doc#owner@user"] } },
      ],
    })
  })

  test("are of the plan's format and do not depend on the order of definitions", () => {
    expect(modelPlan.parse(JSON.parse(canonicalJson(documents)))).toEqual(documents)
    const turned = {
      ...documents.model,
      type_definitions: [...documents.model.type_definitions].reverse().map((definition) => ({
        ...definition,
        ...(definition.relations === undefined
          ? {}
          : { relations: Object.fromEntries(Object.entries(definition.relations).reverse()) }),
      })),
    }
    expect(canonicalJson(lowerModel(turned).relations)).toBe(canonicalJson(documents.relations))
  })

  test("grow with the model, not with the ways through it", () => {
    const relations = Array.from(
      { length: 200 },
      (_, at) =>
        `    define r${at}: [user] or (a${at} and b${at})\n    define a${at}: ${at === 0 ? "[user]" : `r${at - 1}`}\n    define b${at}: ${at === 0 ? "[user]" : `r${at - 1}`}`,
    )
    const plan = lowered(`type user\ntype doc\n  relations\n${relations.join("\n")}\n`)
    expect(canonicalJson(plan.relations).length).toBeLessThan(100_000)
  })

  test("an index out of range is refused", () => {
    const broken = structuredClone(documents)
    const [slot] = broken.relations.slots
    if (slot !== undefined) slot[1] = 99
    broken.relations.relations[0]?.reach.push(77)
    const result = modelPlan.safeParse(broken)
    expect(result.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual([
      "relations.slots.0: there is no subject 99",
      "relations.relations.0.reach: there is no subject 77",
    ])
    expect(modelPlan.safeParse({ ...documents, more: 1 }).success).toBe(false)
  })
})

describe("reach", () => {
  for (const [question, expected] of [
    ["doc viewer user", true],
    ["doc viewer employee", true],
    ["doc viewer group#member", true],
    ["doc viewer user:*", true],
    ["doc viewer folder#viewer", true],
    ["doc viewer folder#parent", false],
    ["doc viewer doc#owner", true],
    ["doc owner doc#viewer", false],
    ["doc owner employee", false],
    ["doc owner user:*", false],
    ["doc parent user", false],
    ["doc staff user", false],
    ["doc staff employee", true],
    ["doc guest user", true],
    ["doc guest employee", false],
    ["doc nobody user", false],
    ["folder viewer user", true],
    ["doc viewer robot", false],
    ["doc writer user", false],
    ["file viewer user", false],
  ] as const) {
    test(`${question}: ${expected}`, () => {
      const [type = "", relation = "", subject = ""] = question.split(" ")
      const [subjectType = "", userset] = subject.split(/#|:/)
      expect(canReach(documents, type, relation, subjectType, userset)).toBe(expected)
    })
  }
})
