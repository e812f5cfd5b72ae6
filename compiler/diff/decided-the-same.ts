import { indexModel, nothingBroken } from "../../runtime/model/model-index.ts"
import { type ModelPair, pairOf } from "../../runtime/model/model-pair.ts"
import type { AuthorizationModel, ModelPlan } from "../../runtime/plan/authorization-model.ts"
import { type Finding, neutral } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"
import { Containment } from "../model/containment.ts"
import { compareRelation, type RelationMeaning } from "../model-compare/compare-relations.ts"
import type { AccessExample } from "../model-compare/example.ts"
import { type Relation, rewriteWords } from "./model-words.ts"

/** Steps of a comparison: some milliseconds. */
const stepsMax = 20_000

/** Whether somebody may gain a relation, and whether somebody may lose it. */
interface Effect {
  readonly gains: boolean
  readonly loses: boolean
}

/**
 * Finds changes of a relation without effect: users who seem to gain it already have it, or users who seem to lose it keep it in another
 * way. What the comparison of both models cannot prove is tried by containment, for each relation as if it were the only one that changed.
 */
export class DecidedTheSame {
  readonly #pair: ModelPair
  readonly #before: ModelSide
  readonly #after: ModelSide

  constructor(before: ModelPlan, after: ModelPlan) {
    this.#pair = pairOf(before, after)
    this.#before = new ModelSide(before.model)
    this.#after = new ModelSide(after.model)
  }

  /** The remaining findings. If the change is shown to have no effect, a single neutral one. */
  left(type: string, name: string, old: Relation, next: Relation, findings: readonly Finding[]): Finding[] {
    if (!findings.some(({ risk }) => risk === "opens" || risk === "closes")) return [...findings]
    const meaning = compareRelation(this.#pair, `${type}#${name}`, { stepsMax })
    const effect = provedBy(meaning) ?? this.#contained(type, name, old, next)
    if (effect === undefined) return withExamples(findings, meaning)
    const left = findings.filter(
      ({ risk }) =>
        (risk === "opens" && effect.gains) ||
        (risk === "closes" && effect.loses) ||
        risk === "breaking" ||
        risk === "neutral",
    )
    if (left.length > 0) return withExamples(left, meaning)
    const who = `\`${rewriteWords(next.rewrite, next.direct)}\` and \`${rewriteWords(old.rewrite, old.direct)}\``
    return [neutral(`${who} are the same users, whatever the tuples are`)]
  }

  /** The effect by the definitions alone. The old one is examined in the old model, in which the relation has it. */
  #contained(type: string, name: string, old: Relation, next: Relation): Effect | undefined {
    if (!same(inAnyOrder(old.direct), inAnyOrder(next.direct))) return undefined
    return {
      gains: !this.#before.holds(type, name, next, old),
      loses: !this.#after.holds(type, name, old, next),
    }
  }
}

/** The effect on all tuples of both whole models; undefined when it is not proved. A relation without meaning decides the same in both. */
function provedBy(meaning: RelationMeaning | undefined): Effect | undefined {
  if (meaning === undefined) return { gains: false, loses: false }
  if (meaning.shown !== "proved" && meaning.verdict !== "incomparable") return undefined
  return { gains: meaning.gain !== undefined, loses: meaning.loss !== undefined }
}

/** Adds the smallest example of each direction after its findings. */
function withExamples(findings: readonly Finding[], meaning: RelationMeaning | undefined): Finding[] {
  const found = [...findings]
  for (const [risk, example] of [
    ["opens", meaning?.gain],
    ["closes", meaning?.loss],
  ] as const) {
    const last = found.findLastIndex((each) => each.risk === risk)
    if (example === undefined || last === -1) continue
    found.splice(last + 1, 0, { risk, why: `for example, ${exampleWords(example, risk === "opens")}` })
  }
  return found
}

function exampleWords({ tuples, user, relation, object }: AccessExample, isGain: boolean): string {
  const words = tuples.map(({ condition, ...tuple }) => {
    const stored = `${tuple.user} ${tuple.relation} ${tuple.object}`
    return condition === undefined ? stored : `${stored} with ${condition}`
  })
  return `${user} ${isGain ? "gets" : "loses"} ${relation} of ${object} with ${listWords(words.map((each) => `\`${each}\``))}`
}

function inAnyOrder(direct: Relation["direct"]): readonly string[] {
  return direct.map((each) => JSON.stringify(each)).sort()
}

/** One of the two models, analysed on first use. */
class ModelSide {
  readonly #model: AuthorizationModel
  #known: { readonly containment: Containment; readonly index: ReturnType<typeof indexModel> } | undefined

  constructor(model: AuthorizationModel) {
    this.#model = model
  }

  /** Whether every user of `inner`, taken as a definition of the relation, is also in `outer`. */
  holds(type: string, name: string, inner: Relation, outer: Relation): boolean {
    if (this.#known === undefined) {
      const index = indexModel(this.#model, nothingBroken)
      this.#known = { containment: new Containment(index), index }
    }
    const { index, containment } = this.#known
    const relation = index.types.get(type)?.get(name)
    if (relation === undefined) return false
    return containment.holds({ rewrite: inner.rewrite, relation }, { rewrite: outer.rewrite, relation })
  }
}
