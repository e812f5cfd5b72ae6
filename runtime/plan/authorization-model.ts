import * as z from "zod"

/** Name of a type or relation as OpenFGA's server accepts it (`^[^:#@\s]+$`); the text language is narrower. */
const typeName = z.string().regex(/^[^:#@\s]{1,254}$/)
const relationName = z.string().regex(/^[^:#@\s]{1,50}$/)
const conditionName = z.string().regex(/^[^:#@\s]{1,50}$/)

/** A permitted user of a tuple: `type`, `type#relation` or `type:*`, optionally only under a condition. */
export const relationReference = z.strictObject({
  type: typeName,
  relation: relationName.optional(),
  wildcard: z.strictObject({}).optional(),
  condition: conditionName.optional(),
})
export type RelationReference = z.infer<typeof relationReference>

const objectRelation = z.strictObject({ object: z.string().optional(), relation: relationName })

/** How a relation is computed: OpenFGA's `Userset`, exactly one key. Its JSON names are camelCase on the wire. */
export type Userset =
  | { this: Record<string, never> }
  | { computedUserset: { object?: string | undefined; relation: string } }
  | {
      tupleToUserset: {
        tupleset: { object?: string | undefined; relation: string }
        computedUserset: { object?: string | undefined; relation: string }
      }
    }
  | { union: { child: Userset[] } }
  | { intersection: { child: Userset[] } }
  | { difference: { base: Userset; subtract: Userset } }

export const userset: z.ZodType<Userset> = z.lazy(() =>
  z.union([
    z.strictObject({ this: z.strictObject({}) }),
    z.strictObject({ computedUserset: objectRelation }),
    z.strictObject({
      tupleToUserset: z.strictObject({ tupleset: objectRelation, computedUserset: objectRelation }),
    }),
    z.strictObject({ union: z.strictObject({ child: z.array(userset) }) }),
    z.strictObject({ intersection: z.strictObject({ child: z.array(userset) }) }),
    z.strictObject({ difference: z.strictObject({ base: userset, subtract: userset }) }),
  ]),
)

const sourceInfo = z.strictObject({ file: z.string() })

/** A type and how each of its relations is computed; `metadata` says which subjects a relation takes directly. */
export const typeDefinition = z.strictObject({
  type: typeName,
  relations: z.record(relationName, userset).optional(),
  metadata: z
    .strictObject({
      relations: z
        .record(
          relationName,
          z.strictObject({
            directly_related_user_types: z.array(relationReference).optional(),
            module: z.string().optional(),
            source_info: sourceInfo.optional(),
          }),
        )
        .optional(),
      module: z.string().optional(),
      source_info: sourceInfo.optional(),
    })
    .optional(),
})
export type TypeDefinition = z.infer<typeof typeDefinition>

/** `TYPE_NAME_STRING`, `TYPE_NAME_LIST` with one generic type, … */
export type ConditionParameter = { type_name: string; generic_types?: ConditionParameter[] | undefined }
export const conditionParameter: z.ZodType<ConditionParameter> = z.lazy(() =>
  z.strictObject({
    type_name: z
      .string()
      .regex(/^TYPE_NAME_(ANY|BOOL|STRING|INT|UINT|DOUBLE|DURATION|TIMESTAMP|MAP|LIST|IPADDRESS)$/),
    generic_types: z.array(conditionParameter).optional(),
  }),
)

/** A named CEL expression over typed parameters. A tuple can require it. */
export const condition = z.strictObject({
  name: conditionName,
  expression: z.string(),
  parameters: z.record(z.string(), conditionParameter).optional(),
  metadata: z.strictObject({ module: z.string().optional(), source_info: sourceInfo.optional() }).optional(),
})
export type Condition = z.infer<typeof condition>

/**
 * An authorization model as OpenFGA's JSON, without its id, in canonical spelling: absent keys are omitted, never null or empty.
 * The schema is strict. `runtime/model` first converts a model that arrives over HTTP (either spelling, unknown keys allowed) to this form.
 */
export const authorizationModel = z.strictObject({
  schema_version: z.string(),
  type_definitions: z.array(typeDefinition),
  conditions: z.record(conditionName, condition).optional(),
})

export type AuthorizationModel = z.infer<typeof authorizationModel>

const index = z.number().int().min(0)
const indexes = z.array(index)

/**
 * How a relation is decided on an object.
 * - `any`: true when one of its parts is true. `same`: the relations of the same type that were inlined here (a check of `o#r` itself is true on them).
 *   `direct`: the slots to read on the object. `from`: pairs of a tupleset's slot and the relation to check on each object found there. `refs`:
 *   relations of the same object that are nodes of their own. `branches`: the other nodes, cheapest first.
 * - `all`: intersection.
 * - `but`: the base and the node to subtract.
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
 * The relation plans of a model. Tables refer to each other by index.
 * - `subjects`: the kinds of user in type restrictions (`user`, `user:*`, `group#member`).
 * - `conditions`: the names used there.
 * - A slot is `[relation, subject, condition or -1]`: the tuples of one restriction.
 * - `reach`: the subjects, except usersets, that can have the relation at all.
 */
const relationPlans = z
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

/** Every index must name a row, because the evaluator reads the tables without checking. */
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

type Finding = [path: (string | number)[], message: string]

interface Tables {
  subjects: readonly string[]
  conditions: readonly string[]
  relations: readonly { plan: RelationNode; reach: readonly number[] }[]
  slots: readonly (readonly [number, number, number])[]
}

/** A model in a plan: its JSON, and the relation plans that the evaluator walks. The compiler makes them once (runtime/model/lower.ts). */
export const modelPlan = z.strictObject({
  model: authorizationModel,
  relations: relationPlans,
})
export type ModelPlan = z.infer<typeof modelPlan>
