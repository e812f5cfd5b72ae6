import { canReach } from "../../../runtime/model/reach.ts"
import type { ModelPlan, TypeDefinition } from "../../../runtime/plan/authorization-model.ts"
import type { CompiledModel } from "../../model/compile-model.ts"

/** A store's compiled model, for checks of relations. */
export class StoreModel {
  readonly digest: string
  readonly plan: ModelPlan
  readonly source: CompiledModel
  readonly #types: ReadonlyMap<string, TypeDefinition>
  readonly #reached = new Map<string, boolean>()

  constructor(digest: string, plan: ModelPlan, source: CompiledModel) {
    this.digest = digest
    this.plan = plan
    this.source = source
    this.#types = new Map(plan.model.type_definitions.map((each) => [each.type, each]))
  }

  hasType(type: string): boolean {
    return this.#types.has(type)
  }

  hasRelation(type: string, relation: string): boolean {
    return Object.hasOwn(this.#types.get(type)?.relations ?? {}, relation)
  }

  typeNames(): string[] {
    return [...this.#types.keys()]
  }

  relationNames(type: string): string[] {
    return Object.keys(this.#types.get(type)?.relations ?? {})
  }

  /** Whether any tuples could give the relation to such a subject; see `canReach` of runtime/model. */
  canReach(
    type: string,
    relation: string,
    subjectType: string,
    subjectRelation: string | undefined,
  ): boolean {
    const key = `${type}#${relation}@${subjectType}#${subjectRelation ?? ""}`
    let reached = this.#reached.get(key)
    if (reached === undefined) {
      reached = canReach(this.plan, type, relation, subjectType, subjectRelation)
      this.#reached.set(key, reached)
    }
    return reached
  }
}

/** Models by store; undefined for a store whose model is missing or has mistakes. */
export type StoreModels = ReadonlyMap<string, StoreModel | undefined>
