import * as z from "zod"

const index = z.number().int().min(0)
const indexes = z.array(index)

/**
 * How one relation is decided on an object.
 * `any`: true when one of its parts is. `same` are the relations of the same type that were inlined here (a question about `o#r` itself is true on them),
 * `direct` the slots read on the object, `from` pairs of a tupleset's slot and the relation asked on each object found there, `refs` relations
 * of the same object that are nodes of their own, `branches` the rest, the cheapest first.
 * `all`: intersection. `but`: base, and what is taken away.
 */
export type RelationNode =
  | {
      any: {
        same?: number[] | undefined
        direct?: number[] | undefined
        from?: [number, number][] | undefined
        refs?: number[] | undefined
        branches?: RelationNode[] | undefined
      }
    }
  | { all: RelationNode[] }
  | { but: [RelationNode, RelationNode] }

const relationNode: z.ZodType<RelationNode> = z.lazy(() =>
  z.union([
    z.strictObject({
      any: z.strictObject({
        same: indexes.optional(),
        direct: indexes.optional(),
        from: z.array(z.tuple([index, index])).optional(),
        refs: indexes.optional(),
        branches: z.array(relationNode).optional(),
      }),
    }),
    z.strictObject({ all: z.array(relationNode).min(1) }),
    z.strictObject({ but: z.tuple([relationNode, relationNode]) }),
  ]),
)

/**
 * The relation plans of a model. Tables refer to each other by index:
 * `subjects` are the kinds on the left of restrictions (`user`, `user:*`, `group#member`), `conditions` the names used there,
 * a slot is `[relation, subject, condition or -1]`: the tuples of one restriction. `reach` lists the subjects, other than usersets, that can have the
 * relation at all.
 */
export const relationPlans = z
  .strictObject({
    subjects: z.array(z.string()),
    conditions: z.array(z.string()),
    relations: z.array(
      z.strictObject({ type: z.string(), relation: z.string(), plan: relationNode, reach: indexes }),
    ),
    slots: z.array(z.tuple([index, index, z.number().int().min(-1)])),
  })
  .superRefine((plans, context) => {
    for (const [path, message] of outOfRange(plans)) context.addIssue({ code: "custom", path, message })
  })
export type RelationPlans = z.infer<typeof relationPlans>

type Finding = [path: (string | number)[], message: string]

interface Tables {
  subjects: readonly string[]
  conditions: readonly string[]
  relations: readonly { plan: RelationNode; reach: readonly number[] }[]
  slots: readonly (readonly [number, number, number])[]
}

/** Every index must name a row: the evaluator reads the tables without looking. */
function outOfRange(plans: Tables): Finding[] {
  const found: Finding[] = []
  const check = (at: number, length: number, path: (string | number)[], table: string) => {
    if (at >= length) found.push([path, `there is no ${table} ${at}`])
  }
  plans.slots.forEach(([relation, subject, condition], at) => {
    check(relation, plans.relations.length, ["slots", at], "relation")
    check(subject, plans.subjects.length, ["slots", at], "subject")
    check(condition, plans.conditions.length, ["slots", at], "condition")
  })
  plans.relations.forEach(({ plan, reach }, at) => {
    const path = ["relations", at]
    for (const subject of reach) check(subject, plans.subjects.length, [...path, "reach"], "subject")
    const nodes = [plan]
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      if ("all" in node) nodes.push(...node.all)
      else if ("but" in node) nodes.push(...node.but)
      else {
        const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
        for (const relation of [...same, ...refs, ...from.map((pair) => pair[1])])
          check(relation, plans.relations.length, [...path, "plan"], "relation")
        for (const slot of [...direct, ...from.map((pair) => pair[0])])
          check(slot, plans.slots.length, [...path, "plan"], "slot")
        nodes.push(...branches)
      }
    }
  })
  return found
}
