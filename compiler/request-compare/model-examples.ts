import type { TupleKey } from "../../runtime/check/ports.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import { type ModelPair, pairOf } from "../../runtime/model/model-pair.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { compareRelation, type RelationMeaning } from "../model-compare/compare-relations.ts"
import { ConditionContexts } from "../model-compare/condition-contexts.ts"
import { type AccessExample, tupleOf } from "../model-compare/example.ts"
import type { Side } from "./callers.ts"

/** Steps of one comparison: some milliseconds. */
const stepsMax = 20_000

interface ComparedModels {
  readonly pair: ModelPair
  readonly contexts: ConditionContexts
}

/** The smallest tuples by which the models of two plans decide a question differently. */
export class ModelExamples {
  readonly #bodies: Readonly<Record<Side, PlanBody>>
  readonly #models = new Map<string, ComparedModels | undefined>()
  readonly #meanings = new Map<string, RelationMeaning | undefined>()

  constructor(bodies: Readonly<Record<Side, PlanBody>>) {
    this.#bodies = bodies
  }

  /** Whether a store has another model. */
  get differ(): boolean {
    return Object.keys(this.#bodies.before.authz?.stores ?? {}).some(
      (store) => this.#modelsOf(store) !== undefined,
    )
  }

  /** Tuples for the user and the object of the question. Empty: the models decide it in the same way, or only under a condition whose context is not known. */
  examples({ store, user, relation, object }: Passage["decisions"][number]): TupleKey[][] {
    const { gain, loss } = this.#meaning(store, `${object.split(":")[0]}#${relation}`) ?? {}
    return [gain, loss].flatMap((example) => {
      const whole = example && this.#modelsOf(store)?.contexts.withContexts(example)
      return whole === undefined ? [] : [renamed(whole, user, object)]
    })
  }

  #meaning(store: string, relation: string): RelationMeaning | undefined {
    const key = `${store} ${relation}`
    if (!this.#meanings.has(key)) {
      const models = this.#modelsOf(store)
      this.#meanings.set(key, models && compareRelation(models.pair, relation, { stepsMax }))
    }
    return this.#meanings.get(key)
  }

  /** Undefined: both plans have the same model, or only one has the store. */
  #modelsOf(store: string): ComparedModels | undefined {
    if (!this.#models.has(store)) {
      const { before, after } = this.#bodies
      const [old, next] = [before, after].map(({ authz }) => authz?.stores[store]?.model)
      const [was, is] = [before.models[old ?? ""], after.models[next ?? ""]]
      this.#models.set(
        store,
        old === next || was === undefined || is === undefined
          ? undefined
          : { pair: pairOf(was, is), contexts: new ConditionContexts(was, is) },
      )
    }
    return this.#models.get(store)
  }
}

function renamed(example: AccessExample, user: string, object: string): TupleKey[] {
  const named = (text: string): string =>
    text === example.user ? user : text === example.object ? object : text
  return example.tuples.map((each) =>
    tupleOf({ ...each, user: named(each.user), object: named(each.object) }),
  )
}
