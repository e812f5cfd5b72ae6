import { counting } from "../../check/random-engine.ts"
import { NaiveEvaluator } from "../../naive/evaluator.ts"
import { type NaiveWorld, naiveObjects, naiveTree, naiveUsers } from "../../naive/lists.ts"
import type { Random } from "../../naive/random.ts"
import { judgeWith } from "../../naive/worlds.ts"
import { noAnswer, type Said } from "./both.ts"
import type { AskedCheck } from "./check-differences.ts"

/** A list question, its right answer by the independent evaluator, and how to read an answer in the same form. */
export interface AskedList {
  readonly kind: "objects" | "users" | "tree"
  readonly path: string
  readonly body: object
  readonly asked: AskedCheck
  /** Names in order, a tree, or the code of the error. */
  readonly right: unknown
  outcomeOf(said: Said): unknown
}

const hosts = ["group", "folder", "doc"]

function worldOf({ model, tuples, objects, context, contextual }: AskedCheck): NaiveWorld {
  return { model, tuples: counting(tuples, contextual), objects, judge: judgeWith(context, false) }
}

/** `list-objects` of the check's user and relation. */
export function askObjects(random: Random, asked: AskedCheck): AskedList {
  const { user, relation } = asked.key
  const type = random.pick(hosts)
  const { model, tuples, objects, judge } = worldOf(asked)
  const values = new NaiveEvaluator(model, tuples, objects, user, judge).solve()
  return {
    kind: "objects",
    path: "/stores/{store}/list-objects",
    body: {
      user,
      relation,
      type,
      context: asked.context,
      contextual_tuples: { tuple_keys: asked.contextual },
    },
    asked,
    right: naiveObjects(values, type, relation) ?? "validation_error",
    outcomeOf: ({ status, json }) => (status === 200 ? [...json.objects].sort() : json.code),
  }
}

interface UserJson {
  readonly object?: { readonly type: string; readonly id: string }
  readonly userset?: { readonly type: string; readonly id: string; readonly relation: string }
  readonly wildcard?: { readonly type: string }
}

function userText({ object, userset, wildcard }: UserJson): string {
  if (object) return `${object.type}:${object.id}`
  return userset ? `${userset.type}:${userset.id}#${userset.relation}` : `${wildcard?.type}:*`
}

/** `list-users` of the check's object and relation. */
export function askUsers(random: Random, asked: AskedCheck): AskedList {
  const { object, relation } = asked.key
  const [type = "", id = ""] = object.split(":")
  const filter = random.pick([
    { type: "user" },
    { type: "user" },
    { type: "robot" },
    { type: random.pick(hosts), relation: random.pick(["a", "b", "c", "d"]) },
  ])
  const own = "relation" in filter ? filter.relation : undefined
  const right = naiveUsers(worldOf(asked), object, relation, filter.type, own)
  return {
    kind: "users",
    path: "/stores/{store}/list-users",
    body: {
      object: { type, id },
      relation,
      user_filters: [filter],
      context: asked.context,
      contextual_tuples: asked.contextual,
    },
    asked,
    right: right?.users ?? "validation_error",
    outcomeOf: ({ status, json }) => (status === 200 ? json.users.map(userText).sort() : json.code),
  }
}

/** `expand` of the check's object and relation. */
export function askTree(_random: Random, asked: AskedCheck): AskedList {
  const { object, relation } = asked.key
  return {
    kind: "tree",
    path: "/stores/{store}/expand",
    body: { tuple_key: { object, relation }, contextual_tuples: { tuple_keys: asked.contextual } },
    asked,
    right: inOrder(naiveTree(worldOf(asked), object, relation)),
    outcomeOf: ({ status, json }) => (status === 200 ? inOrder(json.tree.root) : json.code),
  }
}

/** Absent and empty fields are the same, and lists of names have no order. */
function inOrder(node: unknown): unknown {
  if (Array.isArray(node)) {
    const items = node.map(inOrder)
    return items.every(
      (item) => typeof item === "string" || (item !== null && typeof item === "object" && "userset" in item),
    )
      ? items.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
      : items
  }
  if (node === null || typeof node !== "object") return node
  const fields = Object.entries(node).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(
    fields.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, value]) => [name, inOrder(value)]),
  )
}

/** Why OpenFGA's list is another than the semantics say; undefined when we know of no reason. The names stand in compiler/docs/coming-from/openfga.md. */
export function nameOfListDifference({ kind, asked, right }: AskedList, theirs: unknown): string | undefined {
  const text = JSON.stringify(asked.model)
  if (typeof theirs === "string") {
    if (theirs === "authorization_model_resolution_too_complex")
      return `${kind}: depth or cycle reported as an error`
    if (theirs === noAnswer) return `${kind}: no answer in time`
    // A busy machine lets its own time run out; that says nothing about what it would have found.
    if (theirs === "deadline_exceeded") return `${kind}: deadline passed`
    return typeof right === "string" ? undefined : `${kind}: error though the outcome is certain`
  }
  if (typeof right === "string") return `${kind}: silently leaves out what cannot be decided`
  if (kind === "tree") return undefined
  const keys = new Set(asked.tuples.map(({ object, relation, user }) => `${object}#${relation}@${user}`))
  if (asked.contextual.some(({ object, relation, user }) => keys.has(`${object}#${relation}@${user}`)))
    return `${kind}: contextual tuple beside the stored one of its key`
  if (text.includes('"difference"') || text.includes('"intersection"'))
    return `${kind}: exclusion or intersection`
  if (text.includes('"condition"') && text.includes('"wildcard"')) return `${kind}: conditioned wildcard`
  return undefined
}
