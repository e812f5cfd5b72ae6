import type { ContractCall } from "./contract-calls.ts"

// Models that are wrong in one way each, and some at the border that are right.

const own = { this: {} }
const computed = (relation: string) => ({ computedUserset: { relation } })
const from = (tupleset: string, relation: string) => ({
  tupleToUserset: { tupleset: { relation: tupleset }, computedUserset: { relation } },
})
const union = (...child: unknown[]) => ({ union: { child } })
const both = (...child: unknown[]) => ({ intersection: { child } })
const without = (base: unknown, subtract: unknown) => ({ difference: { base, subtract } })
const user = { type: "user" }
const group = { type: "group" }
const members = { type: "group", relation: "member" }
const everybody = { type: "user", wildcard: {} }

type Relations = Readonly<Record<string, readonly [rewrite: unknown, ...restrictions: unknown[]]>>

/** Users, groups with members, and documents with these relations. */
function model(relations: Relations, more: object = {}): object {
  return {
    schema_version: "1.1",
    type_definitions: [
      { type: "user" },
      typed("group", { member: [own, user, members] }),
      typed("doc", relations),
    ],
    ...more,
  }
}

function typed(type: string, relations: Relations): object {
  const of = (pick: (one: Relations[string]) => unknown) =>
    Object.fromEntries(Object.entries(relations).map(([name, one]) => [name, pick(one)]))
  return {
    type,
    relations: of(([rewrite]) => rewrite),
    metadata: { relations: of(([, ...restrictions]) => ({ directly_related_user_types: restrictions })) },
  }
}

const viewer: Relations = { viewer: [own, user] }
const guest: Relations = { viewer: [own, { ...user, condition: "open" }] }
const condition = (expression: string, parameters: object, name = "open") => ({
  conditions: { open: { name, expression, parameters } },
})
const int = { type_name: "TYPE_NAME_INT" }
const nested = (depth: number): unknown => (depth === 0 ? own : union(nested(depth - 1), computed("other")))

const models: readonly object[] = [
  model(viewer),
  model({}),
  model({ viewer: [own] }),
  model({ viewer: [computed("viewer")] }),
  model({ a: [computed("b")], b: [computed("a")] }),
  model({ a: [computed("b")], b: [computed("c")], c: [computed("a")] }),
  model({ a: [union(own, computed("b")), user], b: [computed("a")] }),
  model({ a: [union(own, computed("b")), user], b: [union(own, computed("a")), user] }),
  model({ a: [both(own, computed("b")), user], b: [both(own, computed("a")), user] }),
  model({ a: [without(own, computed("b")), user], b: [without(own, computed("a")), user] }),
  model({ viewer: [own, { type: "doc", relation: "viewer" }] }),
  model({ viewer: [own, user, { type: "doc", relation: "viewer" }] }),
  model({ viewer: [own, { type: "nothing" }] }),
  model({ viewer: [own, { type: "group", relation: "nothing" }] }),
  model({ viewer: [own, { ...members, wildcard: {} }] }),
  model({ viewer: [own, everybody, user, members] }),
  model({ viewer: [own, user, user] }),
  model({ viewer: [computed("nothing")] }),
  model({ viewer: [computed("other"), user], other: [own, user] }),
  model({ parent: [own, group], viewer: [from("parent", "member")] }),
  model({ parent: [own, group], viewer: [from("parent", "nothing")] }),
  model({ parent: [own, group, user], viewer: [from("parent", "member")] }),
  model({ parent: [own, members], viewer: [from("parent", "member")] }),
  model({ parent: [own, { ...group, wildcard: {} }], viewer: [from("parent", "member")] }),
  model({ other: [own, group], parent: [computed("other")], viewer: [from("parent", "member")] }),
  model({
    parent: [union(own, computed("other")), group],
    other: [own, group],
    viewer: [from("parent", "member")],
  }),
  model({ viewer: [from("nothing", "member")] }),
  model({ parent: [own, { type: "doc" }], viewer: [from("parent", "viewer")] }),
  model({ parent: [own, { type: "doc" }], viewer: [union(own, from("parent", "viewer")), user] }),
  model({ parent: [own, { type: "doc" }], viewer: [both(own, from("parent", "viewer")), user] }),
  model({ viewer: [union(own), user] }),
  model({ viewer: [union(), user] }),
  model({ viewer: [both(own), user] }),
  model({ viewer: [both(own, own), user] }),
  model({ viewer: [without(own, own), user] }),
  model({ viewer: [without(own, undefined), user] }),
  model({ viewer: [without(undefined, own), user] }),
  model({ viewer: [{}, user] }),
  model({ viewer: [{ ...own, ...computed("other") }, user], other: [own, user] }),
  model({ self: [own, user] }),
  model({ this: [own, user] }),
  model({ ["x".repeat(50)]: [own, user] }),
  model({ ["x".repeat(51)]: [own, user] }),
  model({ "a b": [own, user] }),
  model({ "a:b": [own, user] }),
  model({ "a*": [own, user] }),
  model({ "": [own, user] }),
  model({ viewer: [nested(5), user], other: [own, user] }),
  model({ viewer: [nested(24), user], other: [own, user] }),
  model(guest),
  model(guest, condition("x < 10", { x: int })),
  model(viewer, condition("x < 10", { x: int })),
  model(guest, condition("x < 10", { x: int }, "other")),
  model(guest, condition("x <", { x: int })),
  model(guest, condition("x + 1", { x: int })),
  model(guest, condition("y < 10", { x: int })),
  model(guest, condition("x < 'a'", { x: int })),
  model(guest, condition("true", {})),
  model(guest, condition("", { x: int })),
  model(guest, condition("x == x", { x: { type_name: "TYPE_NAME_LIST" } })),
  model(guest, condition("x == x", { x: { type_name: "TYPE_NAME_LIST", generic_types: [int] } })),
  model(guest, condition("x == x", { x: { type_name: "TYPE_NAME_LIST", generic_types: [int, int] } })),
  model(guest, condition("x == x", { x: { type_name: "TYPE_NAME_MAP", generic_types: [int] } })),
  model(guest, condition("x == x", { x: { ...int, generic_types: [int] } })),
  model(guest, condition("x == x", { x: { type_name: "TYPE_NAME_ANY" } })),
  model(guest, condition("x == x", { x: { type_name: "TYPE_NAME_NOTHING" } })),
  model(guest, condition("x == x", { x: { type_name: 4 } })),
  model(guest, condition(`x == ${"1".repeat(510)}`, { x: int })),
  model(guest, condition(`x < 10 || ${"x == 1 || ".repeat(40)} false`, { x: int })),
  model(guest, condition(`x < 10 || ${"x == 1 || ".repeat(60)} false`, { x: int })),
  model(
    guest,
    condition(
      "x < 10",
      Object.fromEntries(Array.from({ length: 25 }, (_, at) => [at === 0 ? "x" : `x${at}`, int])),
    ),
  ),
  model(
    guest,
    condition(
      "x < 10",
      Object.fromEntries(Array.from({ length: 26 }, (_, at) => [at === 0 ? "x" : `x${at}`, int])),
    ),
  ),
  model(viewer, { schema_version: "1.0" }),
  model(viewer, { schema_version: "1.2" }),
  model(viewer, { schema_version: "2.0" }),
  model(viewer, { schema_version: "" }),
  { schema_version: "1.1", type_definitions: [] },
  { schema_version: "1.1", type_definitions: [{ type: "user" }, { type: "user" }] },
  { schema_version: "1.1", type_definitions: [{ type: "self" }] },
  { schema_version: "1.1", type_definitions: [{ type: "this" }] },
  { schema_version: "1.1", type_definitions: [{ type: "x".repeat(254) }] },
  { schema_version: "1.1", type_definitions: [{ type: "x".repeat(255) }] },
  { schema_version: "1.1", type_definitions: [{ type: "a#b" }] },
  { schema_version: "1.1", type_definitions: many(100) },
  { schema_version: "1.1", type_definitions: many(101) },
  { schema_version: "1.1", type_definitions: [{ type: "doc", relations: { viewer: own } }] },
  {
    schema_version: "1.1",
    type_definitions: [
      { type: "doc", metadata: { relations: { viewer: { directly_related_user_types: [user] } } } },
    ],
  },
]

function many(count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({ type: `t${at}` }))
}

/** Each model, written. */
export const modelCalls: readonly ContractCall[] = models.map((body) => ({
  method: "POST",
  path: "/stores/{store}/authorization-models",
  body,
}))
