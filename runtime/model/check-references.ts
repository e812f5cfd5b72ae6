import type { RelationReference } from "../plan/authorization-model.ts"
import type { ModelFindings, ModelPath } from "./finding.ts"
import {
  type IndexedRelation,
  leavesOf,
  type ModelIndex,
  type RewriteLeaf,
  referenceText,
  subjectText,
} from "./model-index.ts"

/** Checks that the types, relations and conditions of a definition exist and are allowed at their place. */
export function checkReferences(
  relation: IndexedRelation,
  index: ModelIndex,
  conditions: ReadonlySet<string>,
  findings: ModelFindings,
): void {
  if (relation.broken) return
  const leaves = leavesOf(relation.rewrite, relation.path)
  const assignable = leaves.some(({ leaf }) => "this" in leaf)
  if (assignable && relation.references.length === 0) {
    const message = `the assignable relation '${relation.name}' in object type '${relation.type}' must contain at least one relation type`
    findings.add("assignable-relation-must-have-type", relation.path, relation.name, message)
  }
  if (!assignable && relation.references.length > 0) {
    const message = `the non-assignable relation '${relation.name}' in object type '${relation.type}' should not contain a relation type`
    findings.add("types-not-assignable", relation.referencesPath, relation.name, message)
  }
  relation.references.forEach((reference, at) => {
    checkRestriction(reference, [...relation.referencesPath, at], index, conditions, findings)
  })
  for (const { leaf, path } of leaves) checkLeaf(leaf, path, relation, index, findings)
}

/** A type that a relation lists: its type, relation and condition must exist. */
function checkRestriction(
  reference: RelationReference,
  path: ModelPath,
  index: ModelIndex,
  conditions: ReadonlySet<string>,
  findings: ModelFindings,
): void {
  const { type, relation, wildcard, condition } = reference
  const relations = index.types.get(type)
  if (wildcard !== undefined && relation !== undefined) {
    const symbol = referenceText(reference)
    const message = `type restriction \`${symbol}\` cannot contain both wildcard and relation`
    findings.add("type-wildcard-relation", path, symbol, message)
  }
  if (relations === undefined) {
    if (!index.broken.types) {
      const unknown = { name: type, known: () => index.types.keys() }
      findings.add("invalid-type", [...path, "type"], type, `\`${type}\` is not a valid type.`, { unknown })
    }
  } else if (relation !== undefined && !relations.has(relation)) {
    const message = `\`${relation}\` is not a valid relation for \`${type}\`.`
    const unknown = { name: relation, known: () => relations.keys() }
    findings.add("invalid-relation-type", [...path, "relation"], subjectText(reference), message, { unknown })
  }
  if (condition !== undefined && !conditions.has(condition)) {
    const message = `\`${condition}\` is not a defined condition in the model.`
    const unknown = { name: condition, known: () => conditions }
    findings.add("condition-not-defined", [...path, "condition"], condition, message, { unknown })
  }
}

/** A leaf of a definition: the relations that it names must exist. */
function checkLeaf(
  leaf: RewriteLeaf,
  path: ModelPath,
  relation: IndexedRelation,
  index: ModelIndex,
  findings: ModelFindings,
): void {
  if ("computedUserset" in leaf) {
    const name = leaf.computedUserset.relation
    if (index.types.get(relation.type)?.has(name)) return
    const place = [...path, "computedUserset", "relation"]
    const unknown = { name, known: () => othersOf(relation, index) }
    findings.add("missing-definition", place, name, `the relation \`${name}\` does not exist.`, { unknown })
  } else if ("tupleToUserset" in leaf) {
    const { tupleset, computedUserset } = leaf.tupleToUserset
    const place = [...path, "tupleToUserset"]
    checkFrom(computedUserset.relation, tupleset.relation, place, relation, index, findings)
  }
}

/** `wanted from tupleset`: the tupleset has only plain types, and at least one of them has the wanted relation. */
function checkFrom(
  wanted: string,
  tupleset: string,
  path: ModelPath,
  relation: IndexedRelation,
  index: ModelIndex,
  findings: ModelFindings,
): void {
  const symbol = `${wanted} from ${tupleset}`
  const parent = index.types.get(relation.type)?.get(tupleset)
  if (parent === undefined) {
    const message = `\`${tupleset}\` is not a valid relation for \`${relation.type}\`.`
    const unknown = { name: tupleset, known: () => othersOf(relation, index) }
    findings.add("invalid-relation-type", path, symbol, message, { unknown })
    return
  }
  if (parent.broken) return
  const plain = parent.references.every((each) => each.relation === undefined && each.wildcard === undefined)
  if (!("this" in parent.rewrite) || !plain) {
    const message = `\`${tupleset}\` relation used inside from allows only direct relation.`
    const related = [{ path: parent.path, message: `\`${tupleset}\` is defined here` }]
    findings.add("tupleuserset-not-direct", [...path, "tupleset", "relation"], tupleset, message, { related })
    return
  }
  const names = [...new Set(parent.references.map((each) => each.type))]
  // A missing type is reported at its own place; it may have been meant to have the relation.
  if (names.some((name) => index.types.get(name)?.has(wanted) ?? true)) return
  for (const name of names) {
    const message = `the \`${wanted}\` relation definition on type \`${relation.type}\` is not valid: \`${wanted}\` does not exist on \`${tupleset}\`, which is of type \`${name}\`.`
    const related = [{ path: parent.path, message: `\`${tupleset}\` is defined here` }]
    const unknown = { name: wanted, known: () => index.types.get(name)?.keys() ?? [] }
    findings.add("invalid-relation-on-tupleset", path, symbol, message, { related, unknown })
  }
}

/** Other relations of the same type, as suggestions. */
function othersOf(relation: IndexedRelation, index: ModelIndex): string[] {
  return [...(index.types.get(relation.type)?.keys() ?? [])].filter((name) => name !== relation.name)
}
