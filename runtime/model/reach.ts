import type { ModelPlan } from "../plan/model.ts"
import type { RelationNode, RelationPlans } from "../plan/relation-plan.ts"

/**
 * Which relations a kind of subject can have under some tuples: one byte per relation of the plan, 1 when it can.
 * `subject` is `user` (one user, also by way of a `user:*` tuple), `user:*` (the wildcard itself) or `group#member`, which
 * also has its own relation on itself.
 */
export function relationsReaching(plans: RelationPlans, subject: string): Uint8Array {
  const admits = plans.subjects.map((kind) => kind === subject || kind === `${subject}:*`)
  const own = plans.relations.findIndex(({ type, relation }) => `${type}#${relation}` === subject)
  const targets = targetsOfSubjects(plans)
  const reaching = new Uint8Array(plans.relations.length)
  if (own >= 0) reaching[own] = 1

  const slotReaches = (slot: number): boolean => {
    const kind = plans.slots[slot]?.[1] ?? -1
    return admits[kind] === true || reaching[targets[kind] ?? -1] === 1
  }
  const holds = (node: RelationNode): boolean => {
    if ("all" in node) return node.all.every(holds)
    if ("but" in node) return holds(node.but[0])
    const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
    return (
      direct.some(slotReaches) ||
      same.includes(own) ||
      refs.some((relation) => reaching[relation] === 1) ||
      from.some(([, relation]) => reaching[relation] === 1) ||
      branches.some(holds)
    )
  }
  // Monotone, so it ends after at most as many rounds as there are relations; three or four in real models.
  for (let changed = true; changed; ) {
    changed = false
    plans.relations.forEach(({ plan }, index) => {
      if (reaching[index] === 1 || !holds(plan)) return
      reaching[index] = 1
      changed = true
    })
  }
  return reaching
}

/** For each subject of the table that is a userset, the index of its relation. */
function targetsOfSubjects(plans: RelationPlans): (number | undefined)[] {
  const indexOf = new Map(plans.relations.map(({ type, relation }, index) => [`${type}#${relation}`, index]))
  return plans.subjects.map((subject) => indexOf.get(subject))
}

/** The column `reach` of every relation, for the subjects of the plan's table. */
export function reachOfAll(plans: RelationPlans): number[][] {
  const reach: number[][] = plans.relations.map(() => [])
  plans.subjects.forEach((subject, kind) => {
    relationsReaching(plans, subject).forEach((can, relation) => {
      if (can === 1) reach[relation]?.push(kind)
    })
  })
  return reach
}

/**
 * Can any `subjectType` (or `subjectType#subjectRelation`, or with `"*"` the wildcard `subjectType:*`) have `relation` on some `type`,
 * whatever the tuples are? False also for names the model does not know.
 */
export function canReach(
  model: ModelPlan,
  type: string,
  relation: string,
  subjectType: string,
  subjectRelation?: string,
): boolean {
  const plans = model.relations
  const index = plans.relations.findIndex((row) => row.type === type && row.relation === relation)
  if (index < 0) return false
  const subject =
    subjectRelation === undefined
      ? subjectType
      : subjectRelation === "*"
        ? `${subjectType}:*`
        : `${subjectType}#${subjectRelation}`
  const kind = plans.subjects.indexOf(subject)
  if (kind >= 0) return plans.relations[index]?.reach.includes(kind) === true
  return relationsReaching(plans, subject)[index] === 1
}
