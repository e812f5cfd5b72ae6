import type { Userset } from "../plan/authorization-model.ts"
import type { ModelFindings } from "./finding.ts"
import { eachLeaf, type IndexedRelation, type ModelIndex } from "./model-index.ts"

/**
 * A relation has an entry point if a chain of definitions leads to a plain type or wildcard. Without one, no user can ever have the relation. OpenFGA
 * searches path by path, which takes exponential time. For these monotone rules the result equals the least fixed point, which takes linear time.
 * Unresolved names count as having an entry point, because they are reported at their own place.
 *
 * This also finds cycles: relations that are defined by themselves through other relations of their type. OpenFGA's server rejects them.
 */
export function checkEntryPoints(index: ModelIndex, findings: ModelFindings): void {
  const entered = relationsWithEntry(index)
  const known = index.relations.filter((each) => index.types.get(each.type)?.get(each.name) === each)
  const without = known.filter((each) => !entered.has(each))
  const looping = reaching(without, (each) => followed(each, index, entered))
  for (const relation of without) {
    const cause = looping.has(relation) ? "potential loop" : "no entrypoint"
    const message = `\`${relation.name}\` is an impossible relation for \`${relation.type}\` (${cause}).`
    findings.add("relation-no-entry-point", relation.path, relation.name, message)
  }
  const cyclic = onCycles(known, (each) => (each.broken ? [] : computedBy(each, index)))
  for (const relation of known) {
    if (!entered.has(relation) || !cyclic.has(relation)) continue
    const message = `the definition of relation '${relation.name}' in object type '${relation.type}' is invalid: an authorization model cannot contain a cycle`
    const others = computedBy(relation, index).filter((each) => cyclic.has(each) && each !== relation)
    const related = others.map((each) => ({ path: each.path, message: `\`${each.name}\` is defined here` }))
    findings.add("relation-cycle", relation.path, relation.name, message, { related })
  }
}

/** Relations whose definition holds when the relations it needs are known to have an entry point. Repeated for the dependents of each new one. */
function relationsWithEntry(index: ModelIndex): Set<IndexedRelation> {
  const entered = new Set<IndexedRelation>()
  const dependents = new Map<IndexedRelation, IndexedRelation[]>()
  for (const relation of index.relations) {
    for (const needed of neededBy(relation, index)) {
      const list = dependents.get(needed)
      if (list === undefined) dependents.set(needed, [relation])
      else list.push(relation)
    }
  }
  const queue = [...index.relations]
  for (let relation = queue.pop(); relation !== undefined; relation = queue.pop()) {
    if (entered.has(relation)) continue
    if (!relation.broken && !hasEntry(relation.rewrite, relation, index, entered)) continue
    entered.add(relation)
    for (const each of dependents.get(relation) ?? []) queue.push(each)
  }
  return entered
}

/** The relations that a relation reads. */
function neededBy(relation: IndexedRelation, index: ModelIndex): Set<IndexedRelation> {
  const needed = new Set<IndexedRelation>()
  const add = (type: string, name: string) => {
    const found = index.types.get(type)?.get(name)
    if (found !== undefined) needed.add(found)
  }
  eachLeaf(relation.rewrite, (leaf) => {
    if ("this" in leaf) {
      for (const each of relation.references) if (each.relation !== undefined) add(each.type, each.relation)
    } else if ("computedUserset" in leaf) add(relation.type, leaf.computedUserset.relation)
    else {
      const { tupleset, computedUserset } = leaf.tupleToUserset
      const parent = index.types.get(relation.type)?.get(tupleset.relation)
      for (const each of parent?.references ?? []) add(each.type, computedUserset.relation)
    }
  })
  return needed
}

/** Whether a definition can be entered by the relations that are known to be. */
function hasEntry(
  rewrite: Userset,
  relation: IndexedRelation,
  index: ModelIndex,
  entered: ReadonlySet<IndexedRelation>,
): boolean {
  const holds = (part: Userset) => hasEntry(part, relation, index, entered)
  if ("union" in rewrite) return rewrite.union.child.some(holds)
  if ("intersection" in rewrite) return rewrite.intersection.child.every(holds)
  // OpenFGA requires an entry point on both sides: it treats an exclusion without effect as a mistake.
  if ("difference" in rewrite) return holds(rewrite.difference.base) && holds(rewrite.difference.subtract)
  if ("this" in rewrite) {
    if (relation.references.length === 0) return true
    return relation.references.some(
      (each) =>
        each.relation === undefined ||
        each.wildcard !== undefined ||
        isEntered(each.type, each.relation, index, entered),
    )
  }
  if ("computedUserset" in rewrite) {
    return isEntered(relation.type, rewrite.computedUserset.relation, index, entered)
  }
  const { tupleset, computedUserset } = rewrite.tupleToUserset
  const parent = index.types.get(relation.type)?.get(tupleset.relation)
  if (parent === undefined || parent.broken || !("this" in parent.rewrite)) return true
  const having = parent.references.filter(
    (each) => index.types.get(each.type)?.has(computedUserset.relation) ?? true,
  )
  return (
    having.length === 0 ||
    having.some((each) => isEntered(each.type, computedUserset.relation, index, entered))
  )
}

/** A relation that does not exist was reported elsewhere and counts as entered. */
function isEntered(
  type: string,
  name: string,
  index: ModelIndex,
  entered: ReadonlySet<IndexedRelation>,
): boolean {
  const relation = index.types.get(type)?.get(name)
  return relation === undefined || entered.has(relation)
}

/**
 * The relations with which OpenFGA's search continues when it fails at `relation`: all computed children of a union; of an intersection or exclusion,
 * those of the first side without an entry point. It reports a "potential loop" when the search returns to its start.
 */
function followed(
  relation: IndexedRelation,
  index: ModelIndex,
  entered: ReadonlySet<IndexedRelation>,
): IndexedRelation[] {
  const walk = (rewrite: Userset): IndexedRelation[] => {
    if ("union" in rewrite) return rewrite.union.child.flatMap(walk)
    if ("computedUserset" in rewrite) {
      const next = index.types.get(relation.type)?.get(rewrite.computedUserset.relation)
      return next === undefined ? [] : [next]
    }
    if ("intersection" in rewrite || "difference" in rewrite) {
      const sides =
        "intersection" in rewrite
          ? rewrite.intersection.child
          : [rewrite.difference.base, rewrite.difference.subtract]
      const failing = sides.find((side) => !hasEntry(side, relation, index, entered))
      return failing === undefined ? [] : walk(failing)
    }
    return []
  }
  return walk(relation.rewrite)
}

/** Relations of the same type in a definition, under any operator. */
function computedBy(relation: IndexedRelation, index: ModelIndex): IndexedRelation[] {
  const found: IndexedRelation[] = []
  eachLeaf(relation.rewrite, (leaf) => {
    if (!("computedUserset" in leaf)) return
    const next = index.types.get(relation.type)?.get(leaf.computedUserset.relation)
    if (next !== undefined) found.push(next)
  })
  return found
}

type Edges = (relation: IndexedRelation) => readonly IndexedRelation[]

/** The `nodes` from which a cycle can be reached: what remains after repeatedly removing nodes without outgoing edges. */
function reaching(nodes: readonly IndexedRelation[], edges: Edges): Set<IndexedRelation> {
  const remaining = new Set(nodes)
  const incoming = new Map<IndexedRelation, IndexedRelation[]>()
  const open = new Map<IndexedRelation, number>()
  for (const node of nodes) {
    const ways = [...new Set(edges(node))].filter((each) => remaining.has(each))
    open.set(node, ways.length)
    for (const way of ways) {
      const list = incoming.get(way)
      if (list === undefined) incoming.set(way, [node])
      else list.push(node)
    }
  }
  const queue = nodes.filter((node) => open.get(node) === 0)
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    remaining.delete(node)
    for (const before of incoming.get(node) ?? []) {
      const left = (open.get(before) ?? 0) - 1
      open.set(before, left)
      if (left === 0) queue.push(before)
    }
  }
  return remaining
}

/** Tarjan's strongly connected components with an explicit stack: members of components with several nodes, and self-loops. */
function onCycles(nodes: readonly IndexedRelation[], edges: Edges): Set<IndexedRelation> {
  const result = new Set<IndexedRelation>()
  const order = new Map<IndexedRelation, number>()
  const low = new Map<IndexedRelation, number>()
  const component: IndexedRelation[] = []
  const inComponent = new Set<IndexedRelation>()
  const lower = (node: IndexedRelation, value: number) =>
    low.set(node, Math.min(low.get(node) ?? value, value))
  for (const root of nodes) {
    if (order.has(root)) continue
    const work = [enter(root)]
    for (let top = work.at(-1); top !== undefined; top = work.at(-1)) {
      const next = top.ways[top.at++]
      if (next === undefined) {
        work.pop()
        const parent = work.at(-1)
        if (parent !== undefined) lower(parent.node, low.get(top.node) as number)
        if (low.get(top.node) === order.get(top.node)) close(top.node)
      } else if (!order.has(next)) work.push(enter(next))
      else if (inComponent.has(next)) lower(top.node, order.get(next) as number)
    }
  }
  return result

  function enter(node: IndexedRelation) {
    order.set(node, order.size)
    low.set(node, order.get(node) as number)
    component.push(node)
    inComponent.add(node)
    return { node, ways: edges(node), at: 0 }
  }

  function close(node: IndexedRelation): void {
    const alone = component.at(-1) === node
    for (let member = component.pop(); member !== undefined; member = component.pop()) {
      inComponent.delete(member)
      if (!alone || edges(node).includes(node)) result.add(member)
      if (member === node) return
    }
  }
}
