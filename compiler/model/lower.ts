import type { BrokenParts } from "../../runtime/model/broken-parts.ts"
import { type ModelPath, pointerOf } from "../../runtime/model/finding.ts"
import type {
  AuthorizationModel,
  Condition,
  ConditionParameter,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"
import type { Span } from "../core/source.ts"
import type {
  ConditionNode,
  ModelDocument,
  ParameterNode,
  RelationNode,
  Restriction,
  Rewrite,
  TypeNode,
} from "./ast.ts"

/**
 * A model's JSON in canonical form; where each part of it stands in the text, by JSON Pointer; and the parts that are only
 * there for their names. Of what is defined twice the first counts, except types: they are all there.
 */
export interface LoweredModel {
  readonly model: AuthorizationModel
  readonly places: ReadonlyMap<string, Span>
  readonly broken: BrokenParts
}

/** Turns the tree into OpenFGA's JSON. */
export function lowerModel(document: ModelDocument): LoweredModel {
  return new Lowering(document).run()
}

class Lowering {
  readonly #document: ModelDocument
  readonly #places = new Map<string, Span>()
  readonly #brokenRelations = new Set<string>()
  readonly #brokenConditions = new Set<string>()

  constructor(document: ModelDocument) {
    this.#document = document
  }

  run(): LoweredModel {
    const { file, header, types, conditions, namesMissing } = this.#document
    const version = header?.kind === "model" ? header.schema : undefined
    this.#place([], version?.span ?? file.span(0, 0))
    this.#place(["schema_version"], version?.span ?? file.span(0, 0))
    const lowered = entriesOf(
      conditions,
      (each) => each.name.text,
      (each) => this.#condition(each),
    )
    const first = conditions[0]?.name.span ?? file.span(0, 0)
    this.#place(["conditions"], first)
    this.#place(["type_definitions"], types[0]?.name.span ?? first)
    return {
      model: {
        schema_version: version?.text ?? "",
        type_definitions: types.map((each, at) => this.#type(each, ["type_definitions", at])),
        ...(lowered === undefined ? {} : { conditions: lowered }),
      },
      places: this.#places,
      broken: { relations: this.#brokenRelations, conditions: this.#brokenConditions, types: namesMissing },
    }
  }

  #place(path: ModelPath, span: Span): void {
    this.#places.set(pointerOf(path), span)
  }

  #type(type: TypeNode, path: ModelPath): TypeDefinition {
    this.#place([...path, "type"], type.name.span)
    const own = firsts(type.relations, (each) => each.name.text)
    const relations = entriesOf(own, nameOf, (each) =>
      this.#relation(each, type, [...path, "relations", nameOf(each)]),
    )
    const direct = own.flatMap((each) => {
      const listed = each.rewrite === undefined ? undefined : restrictionsOf(each.rewrite)
      return listed === undefined ? [] : [{ name: nameOf(each), listed }]
    })
    const metadata = entriesOf(
      direct,
      (each) => each.name,
      ({ name, listed }) => {
        const place = [...path, "metadata", "relations", name, "directly_related_user_types"]
        return {
          directly_related_user_types: listed.map((each, at) => this.#reference(each, [...place, at])),
        }
      },
    )
    return {
      type: type.name.text,
      ...(relations === undefined ? {} : { relations }),
      ...(metadata === undefined ? {} : { metadata: { relations: metadata } }),
    }
  }

  #relation(relation: RelationNode, type: TypeNode, path: ModelPath): Userset {
    if (relation.rewrite === undefined) this.#brokenRelations.add(`${type.name.text}#${relation.name.text}`)
    const rewrite: Userset =
      relation.rewrite === undefined ? { this: {} } : this.#rewrite(relation.rewrite, path)
    // Last, because the root of the rewrite has the same path: findings there are about the relation.
    this.#place(path, relation.name.span)
    return rewrite
  }

  #rewrite(rewrite: Rewrite, path: ModelPath): Userset {
    this.#place(path, rewrite.span)
    if (rewrite.kind === "direct") return { this: {} }
    if (rewrite.kind === "computed") {
      this.#place([...path, "computedUserset", "relation"], rewrite.relation.span)
      return { computedUserset: { relation: rewrite.relation.text } }
    }
    if (rewrite.kind === "from") {
      this.#place([...path, "tupleToUserset"], rewrite.span)
      this.#place([...path, "tupleToUserset", "tupleset", "relation"], rewrite.tupleset.span)
      const tupleset = { relation: rewrite.tupleset.text }
      return { tupleToUserset: { tupleset, computedUserset: { relation: rewrite.relation.text } } }
    }
    if (rewrite.kind === "exclusion") {
      const base = this.#rewrite(rewrite.base, [...path, "difference", "base"])
      return {
        difference: { base, subtract: this.#rewrite(rewrite.subtract, [...path, "difference", "subtract"]) },
      }
    }
    const child = rewrite.operands.map((each, at) =>
      this.#rewrite(each, [...path, rewrite.kind, "child", at]),
    )
    return rewrite.kind === "union" ? { union: { child } } : { intersection: { child } }
  }

  #reference(restriction: Restriction, path: ModelPath): RelationReference {
    const { type, relation, wildcard, condition } = restriction
    this.#place(path, restriction.span)
    this.#place([...path, "type"], type.span)
    // A relation is wrong only together with its type, so both are shown.
    if (relation !== undefined) this.#place([...path, "relation"], restriction.subject)
    if (condition !== undefined) this.#place([...path, "condition"], condition.span)
    return {
      type: type.text,
      ...(relation === undefined ? {} : { relation: relation.text }),
      ...(wildcard ? { wildcard: {} } : {}),
      ...(condition === undefined ? {} : { condition: condition.text }),
    }
  }

  #condition(condition: ConditionNode): Condition {
    const name = condition.name.text
    this.#place(["conditions", name], condition.name.span)
    this.#place(["conditions", name, "expression"], condition.expression?.span ?? condition.name.span)
    if (condition.expression === undefined) this.#brokenConditions.add(name)
    const parameters = entriesOf(condition.parameters, (each) => each.name.text, lowerParameter)
    return {
      name,
      expression: condition.expression?.text ?? "",
      ...(parameters === undefined ? {} : { parameters }),
    }
  }
}

function lowerParameter({ type, generic }: ParameterNode): ConditionParameter {
  const type_name = `TYPE_NAME_${type.toUpperCase()}`
  if (generic === undefined) return { type_name }
  return { type_name, generic_types: [{ type_name: `TYPE_NAME_${generic.toUpperCase()}` }] }
}

/** The list of types of a relation; the grammar allows one. */
function restrictionsOf(rewrite: Rewrite): readonly Restriction[] | undefined {
  if (rewrite.kind === "direct") return rewrite.restrictions
  if (rewrite.kind === "exclusion") return restrictionsOf(rewrite.base)
  if (rewrite.kind !== "union" && rewrite.kind !== "intersection") return undefined
  return rewrite.operands[0] === undefined ? undefined : restrictionsOf(rewrite.operands[0])
}

function nameOf({ name }: RelationNode): string {
  return name.text
}

function firsts<Item>(items: readonly Item[], nameOfItem: (item: Item) => string): Item[] {
  const seen = new Set<string>()
  return items.filter((item) => !seen.has(nameOfItem(item)) && seen.add(nameOfItem(item)))
}

/** A JSON map in the order of definition; undefined when empty. Names such as `__proto__` become own keys, too. */
function entriesOf<Item, Value>(
  items: readonly Item[],
  nameOfItem: (item: Item) => string,
  lower: (item: Item) => Value,
): Record<string, Value> | undefined {
  const entries = firsts(items, nameOfItem).map((item) => [nameOfItem(item), lower(item)] as const)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
