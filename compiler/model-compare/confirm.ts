import { Engine } from "../../runtime/check/engine.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { MemorySource } from "../../runtime/check/memory-source.ts"
import { CheckError } from "../../runtime/check/ports.ts"
import { type ConditionChange, type ModelPair, pairOf } from "../../runtime/model/model-pair.ts"
import type { ModelPlan } from "../../runtime/plan/authorization-model.ts"
import { compareRelation, type RelationMeaning, type SetExamples, verdictOf } from "./compare-relations.ts"
import { ConditionContexts } from "./condition-contexts.ts"
import { type AccessExample, type ExampleTuple, tupleOf } from "./example.ts"

/** Objects of an example that are tried as one: an example has few. */
const pairsMax = 500

/**
 * Asks the engine about examples, and makes them smaller by using one object for several where the models still differ. An example with a
 * condition for which no context is found is returned as it is.
 */
export class Confirmation {
  readonly #models: readonly [LoadedModel, LoadedModel]
  readonly #contexts: ConditionContexts
  /** The models, as if a changed condition were true in one of them only where a context shows it. */
  readonly #realisable: ModelPair

  constructor(before: ModelPlan, after: ModelPlan) {
    this.#contexts = new ConditionContexts(before, after)
    const pair = pairOf(before, after)
    const changedConditions = new Map<string, ConditionChange>()
    for (const name of pair.changedConditions.keys()) {
      const change = this.#contexts.changeOf(name)
      if (change !== "same") changedConditions.set(name, change)
    }
    this.#realisable = { ...pair, changedConditions }
    this.#models = [loadModel(before), loadModel(after)]
  }

  /**
   * The meaning with examples of sets as users where these are smaller, or the only ones: a set may gain or lose a relation that no plain user does.
   * Examples that the engine does not confirm are left out.
   */
  async withSets(meaning: RelationMeaning, { gain, loss }: SetExamples): Promise<RelationMeaning> {
    const better = async (
      known: AccessExample | undefined,
      found: AccessExample | undefined,
      having: 0 | 1,
    ) => {
      const shown = found && this.#contexts.withContexts(found)
      if (shown === undefined || (known !== undefined && known.tuples.length <= shown.tuples.length))
        return known
      return (await this.#differs(shown, having)) ? this.#smallest(shown, having) : known
    }
    const [gains, loses] = [await better(meaning.gain, gain, 1), await better(meaning.loss, loss, 0)]
    return {
      ...meaning,
      verdict: verdictOf(gains, loses),
      ...(gains === undefined ? {} : { gain: gains }),
      ...(loses === undefined ? {} : { loss: loses }),
    }
  }

  async meaning(meaning: RelationMeaning): Promise<RelationMeaning> {
    const { gain, loss } = meaning
    return {
      ...meaning,
      ...(gain === undefined ? {} : { gain: await this.#smallest(this.#shown(meaning, "gain", gain), 1) }),
      ...(loss === undefined ? {} : { loss: await this.#smallest(this.#shown(meaning, "loss", loss), 0) }),
    }
  }

  /** The example with contexts. If they are not known, a larger one whose contexts are known; else the example as it is. */
  #shown({ relation }: RelationMeaning, direction: "gain" | "loss", found: AccessExample): AccessExample {
    const shown = this.#contexts.withContexts(found)
    if (shown !== undefined) return shown
    const other = compareRelation(this.#realisable, relation)?.[direction]
    return (other && this.#contexts.withContexts(other)) ?? found
  }

  /** `having`: the model in which the user has the relation. */
  async #smallest(example: AccessExample, having: 0 | 1): Promise<AccessExample> {
    if (example.tuples.some(({ condition, context }) => condition !== undefined && context === undefined))
      return example
    if (!(await this.#differs(example, having))) throw new Error(`unconfirmed: ${JSON.stringify(example)}`)
    let smallest = example
    let left = pairsMax
    for (let joined: AccessExample | undefined = example; joined !== undefined; ) {
      joined = undefined
      for (const candidate of joinedObjects(smallest)) {
        if (left-- <= 0) return smallest
        if (!(await this.#differs(candidate, having))) continue
        joined = candidate
        smallest = candidate
        break
      }
    }
    return smallest
  }

  async #differs(example: AccessExample, having: 0 | 1): Promise<boolean> {
    const source = new MemorySource()
    source.write(...example.tuples.map(tupleOf))
    const engine = new Engine(source, { pollMs: 0 })
    try {
      const [there, here] = [this.#models[having], this.#models[1 - having] as LoadedModel]
      const { user, relation, object } = example
      const request = { user, relation, object }
      return (
        (await engine.check("example", there, request)).allowed &&
        !(await engine.check("example", here, request)).allowed
      )
    } catch (error) {
      // A joined example may have a tuple that a model does not allow, or lead deeper than the engine follows.
      if (error instanceof CheckError) return false
      throw error
    } finally {
      engine.close()
    }
  }
}

/** The example with two objects of one type as one, in all ways. */
function* joinedObjects(example: AccessExample): Iterable<AccessExample> {
  const objects = [
    ...new Set([
      example.object,
      ...example.tuples.flatMap(({ object, user }) => [object, user.split("#")[0] ?? ""]),
    ]),
  ].filter((each) => each !== example.user.split("#")[0] && !each.endsWith(":*"))
  for (const [at, kept] of objects.entries())
    for (const gone of objects.slice(at + 1)) {
      if (kept.split(":")[0] !== gone.split(":")[0]) continue
      const renamed = (text: string): string =>
        text === gone ? kept : text.startsWith(`${gone}#`) ? `${kept}${text.slice(gone.length)}` : text
      const tuples = new Map<string, ExampleTuple>()
      for (const tuple of example.tuples) {
        const next = { ...tuple, user: renamed(tuple.user), object: renamed(tuple.object) }
        tuples.set(`${next.object} ${next.relation} ${next.user}`, next)
      }
      yield { ...example, object: renamed(example.object), tuples: [...tuples.values()] }
    }
}
