import type { ModelPath } from "../../runtime/model/finding.ts"
import type { Span } from "../core/source.ts"
import type {
  ConditionNode,
  ModelDocument,
  Name,
  RelationDefinition,
  Restriction,
  Rewrite,
  TypeNode,
} from "./ast.ts"
import { spanInExpression } from "./conditions.ts"
import { restrictionsOf } from "./lower.ts"

/** The place of a part of a model's JSON. `range` is a part of the condition's expression that the path leads to. */
export type PlaceOf = (path: ModelPath, range?: { start: number; end: number }) => Span

/**
 * Places of parts of the model's JSON in the text. A path is followed down the tree, which has the shape of the JSON; no text is searched. The
 * place of a relation or condition is the place of its name.
 */
export class ModelPlaces {
  readonly #document: ModelDocument
  readonly #relations = new Map<TypeNode, ReadonlyMap<string, RelationDefinition>>()
  readonly #conditions: ReadonlyMap<string, ConditionNode>

  constructor(document: ModelDocument) {
    this.#document = document
    this.#conditions = firstByName(document.conditions)
  }

  /** The place of a path. `range` is a part of the condition's expression that the path leads to. */
  of(path: ModelPath, range?: { start: number; end: number }): Span {
    const [section, key, ...rest] = path
    const { types, conditions, header, file } = this.#document
    if (section === "type_definitions") {
      const type = types[typeof key === "number" ? key : 0]
      if (type !== undefined) return this.#inType(type, rest)
    }
    if (section === "conditions") {
      const found = this.#conditions.get(String(key)) ?? conditions[0]
      if (found !== undefined) return placeInCondition(found, rest, range)
    }
    return header?.kind === "model" ? header.schema.span : file.span(0, 0)
  }

  #inType(type: TypeNode, path: ModelPath): Span {
    const inMetadata = path[0] === "metadata"
    const [name, ...rest] = inMetadata ? path.slice(2) : path.slice(1)
    const relation = this.#relationsOf(type).get(String(name))
    if (relation?.rewrite === undefined) return relation?.name.span ?? type.name.span
    return inMetadata ? placeInList(relation, rest.slice(1)) : placeInRewrite(relation, rest)
  }

  #relationsOf(type: TypeNode): ReadonlyMap<string, RelationDefinition> {
    const known = this.#relations.get(type) ?? firstByName(type.relations)
    this.#relations.set(type, known)
    return known
  }
}

function firstByName<Node extends { readonly name: Name }>(
  nodes: readonly Node[],
): ReadonlyMap<string, Node> {
  return new Map([...nodes].reverse().map((node) => [node.name.text, node]))
}

/** `[2, "condition"]` in a relation's list of types. */
function placeInList(relation: RelationDefinition, [at, part]: ModelPath): Span {
  const listed = relation.rewrite === undefined ? [] : (restrictionsOf(relation.rewrite) ?? [])
  const restriction = listed[typeof at === "number" ? at : -1]
  return restriction === undefined ? relation.name.span : placeInRestriction(restriction, part)
}

function placeInRestriction(restriction: Restriction, part: string | number | undefined): Span {
  if (part === "type") return restriction.type.span
  // An unknown relation depends on the type, so the place covers both.
  if (part === "relation") return restriction.subject
  return part === "condition" && restriction.condition !== undefined
    ? restriction.condition.span
    : restriction.span
}

/** Follows a path of the JSON in the tree. Two steps (`difference`, `base`) or three (`union`, `child`, index) are one operand. */
function placeInRewrite(relation: RelationDefinition, path: ModelPath): Span {
  let rewrite = relation.rewrite
  if (rewrite === undefined || path.length === 0) return relation.name.span
  let steps = path
  while (rewrite.kind === "union" || rewrite.kind === "intersection" || rewrite.kind === "exclusion") {
    const next: Rewrite | undefined = childOf(rewrite, steps)
    if (next === undefined) return rewrite.span
    steps = steps.slice(rewrite.kind === "exclusion" ? 2 : 3)
    rewrite = next
  }
  return rewrite.kind === "from" && steps[1] === "tupleset" ? rewrite.tupleset.span : rewrite.span
}

/** The operand that a path such as `["union", "child", 1]` or `["difference", "base"]` leads to. */
function childOf(rewrite: Rewrite, [operator, side, at]: ModelPath): Rewrite | undefined {
  if (rewrite.kind === "exclusion") {
    return operator !== "difference" ? undefined : side === "base" ? rewrite.base : rewrite.subtract
  }
  if (rewrite.kind !== "union" && rewrite.kind !== "intersection") return undefined
  return operator === rewrite.kind && typeof at === "number" ? rewrite.operands[at] : undefined
}

/** A place in a condition; with `range`, in its expression. */
function placeInCondition(
  condition: ConditionNode,
  path: ModelPath,
  range?: { start: number; end: number },
): Span {
  const { expression, name } = condition
  if (path[0] !== "expression" || expression === undefined) return name.span
  return range === undefined ? expression.span : spanInExpression(expression, range)
}
