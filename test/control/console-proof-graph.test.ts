import { expect, it } from "vitest"
import type { Explanation, ProofNode } from "../../runtime/check/ports.ts"
import { proofGraphOf } from "../../runtime/control/console/page/parts/proof-graph.ts"

const member: ProofNode = {
  ...{ object: "group:eng", relation: "member", holds: true, by: "tuple" },
  tuple: { user: "user:ann", relation: "member", object: "group:eng" },
}
const viewer: ProofNode = {
  ...{ object: "doc:1", relation: "viewer", holds: true, by: "userset", children: [member] },
  tuple: { user: "group:eng#member", relation: "viewer", object: "doc:1" },
}
const asked = {
  version: 1,
  user: "user:ann",
  relation: "viewer",
  object: "doc:1",
  revision: 3,
  complete: true,
} as const

it("draws a proof from the user to the object, and closes nodes", () => {
  const explanation: Explanation = { ...asked, allowed: true, proof: viewer }
  const open = proofGraphOf(explanation, new Set())
  expect(open.nodes.map(({ title, tone }) => `${title} ${tone}`)).toEqual([
    ...["doc:1#viewer good", "group:eng#member good", "user:ann undefined"],
  ])
  expect(open.edges.map(({ from, to, label }) => `${from} ${label} ${to}`)).toEqual([
    "user user:ann member 0.0",
    "0.0 viewer 0",
  ])
  expect([...open.movable]).toEqual(["0"])
  expect(proofGraphOf(explanation, new Set(["0"])).nodes.map(({ title }) => title)).toEqual(["doc:1#viewer"])
})

it("draws what excludes the user, and with dashes what would allow it", () => {
  const blocked: ProofNode = {
    ...{ object: "doc:1", relation: "blocked", holds: true, by: "tuple" },
    tuple: { user: "user:ann", relation: "blocked", object: "doc:1" },
  }
  const misses = [
    {
      add: [{ user: "user:ann", relation: "member", object: "group:eng" }],
      remove: [blocked.tuple as never],
    },
  ]
  const { nodes, edges } = proofGraphOf(
    { ...asked, allowed: false, blocked_by: [blocked], misses },
    new Set(),
  )
  expect(nodes.map(({ title }) => title)).toEqual([
    ...["doc:1#viewer", "user:ann", "doc:1#blocked", "group:eng#member"],
  ])
  expect(edges.map(({ from, to, label, dashed = false }) => `${from} ${label} ${to} ${dashed}`)).toEqual([
    "user user:ann blocked 0.0 false",
    "0.0 excludes 0 false",
    "miss group:eng#member undefined 0 true",
    "user user:ann add miss group:eng#member true",
  ])
})

it("cuts a drawing that could not be read", () => {
  const children = Array.from({ length: 300 }, (_, at) => ({ ...member, object: `group:${at}` }))
  const proof: ProofNode = { ...viewer, by: "intersection", children }
  const found = proofGraphOf({ ...asked, allowed: true, proof }, new Set())
  expect(found.isCut).toBe(true)
  expect(found.nodes.length).toBeLessThanOrEqual(202)
})
