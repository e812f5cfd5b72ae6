import type { TupleKey } from "../../runtime/check/ports.ts"
import type { TriedObject } from "./search.ts"
import { nameOf } from "./spaces.ts"

/** A tuple of an example. */
export interface ExampleTuple {
  readonly user: string
  readonly relation: string
  readonly object: string
  /** Its condition, which has to be true. */
  readonly condition?: string
  /** Values under which the condition is so; absent: none are known. */
  readonly context?: Readonly<Record<string, unknown>>
  /** A condition that the models define differently has to be true in only one of them. */
  readonly onlyIn?: "old" | "new"
}

/** The tuple as a store has it. */
export function tupleOf({ user, relation, object, condition, context }: ExampleTuple): TupleKey {
  if (condition === undefined) return { user, relation, object }
  return {
    user,
    relation,
    object,
    condition: { name: condition, ...(context === undefined ? {} : { context }) },
  }
}

/** Tuples with which `user` has `relation` on `object` in one of two models only. */
export interface AccessExample {
  readonly tuples: readonly ExampleTuple[]
  readonly user: string
  readonly relation: string
  readonly object: string
}

/** Names the objects of a shape: `folder:1`, `folder:2`, … The asked relation is one of its type. `userType` is a type, or a set (`group#member`). */
export function exampleOf(root: TriedObject, relation: string, userType: string): AccessExample {
  const counts = new Map<string, number>()
  const [type = "", set] = userType.split("#")
  const user = set === undefined ? `${type}:ann` : `${type}:a#${set}`
  const tuples: ExampleTuple[] = []
  const named = (shape: TriedObject): string => {
    const { type, own } = shape.space
    if ((shape.inputs & own) !== 0n) return `${type}:a`
    const number = (counts.get(type) ?? 0) + 1
    counts.set(type, number)
    return `${type}:${number}`
  }
  const object = named(root)
  const waiting: { shape: TriedObject; name: string }[] = [{ shape: root, name: object }]
  for (const { shape, name } of waiting) {
    for (let at = shape; at.last !== undefined; at = at.last.before) {
      const { letter, to } = at.last.added
      const { subject, condition, counts: models } = letter
      let who = subject === userType ? user : subject
      if (to !== undefined) {
        const next = named(to)
        who = subject.includes("#") ? `${next}${subject.slice(subject.indexOf("#"))}` : next
        waiting.push({ shape: to, name: next })
      }
      tuples.push({
        ...{ user: who, relation: letter.relation, object: name },
        ...(condition === undefined ? {} : { condition }),
        ...(models.length === 2 ? {} : { onlyIn: models[0] === 0 ? "old" : "new" }),
      })
    }
  }
  return { tuples, user, relation: nameOf(relation), object }
}
