import { indexModel, nothingBroken } from "../../runtime/model/model-index.ts"
import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"
import { type Finding, neutral } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { Containment } from "../model/containment.ts"
import { impliedByLogic } from "./membership-logic.ts"
import { type Relation, rewriteWords } from "./model-words.ts"

/**
 * Finds changes of a relation without effect: users who seem to gain it already have it, or users who seem to lose it keep it in another
 * way. Each relation is checked as if it were the only one that changed; changes of other relations are reported with those.
 */
export class DecidedTheSame {
  readonly #before: ModelSide
  readonly #after: ModelSide

  constructor(before: AuthorizationModel, after: AuthorizationModel) {
    this.#before = new ModelSide(before)
    this.#after = new ModelSide(after)
  }

  /** The remaining findings. If the change is shown to have no effect, a single neutral one. */
  left(type: string, name: string, old: Relation, next: Relation, findings: readonly Finding[]): Finding[] {
    const open = findings.some(({ risk }) => risk === "opens" || risk === "closes")
    if (!open || !same(inAnyOrder(old.direct), inAnyOrder(next.direct))) return [...findings]
    // Whether anyone gains the relation. First checked in the old model, in which the relation has its old definition.
    const gains = !this.#before.holds(type, name, next, old) && !this.#byLogic(type, name, next, old)
    const loses = !this.#after.holds(type, name, old, next) && !this.#byLogic(type, name, old, next)
    const left = findings.filter(
      ({ risk }) =>
        (risk === "opens" && gains) ||
        (risk === "closes" && loses) ||
        risk === "breaking" ||
        risk === "neutral",
    )
    if (left.length > 0) return left
    const who = `\`${rewriteWords(next.rewrite, next.direct)}\` and \`${rewriteWords(old.rewrite, old.direct)}\``
    return [neutral(`${who} are the same users, whatever the tuples are`)]
  }

  /** Relations that only one model has are expanded by their definition there. Relations that both models have are treated as atoms. */
  #byLogic(type: string, name: string, inner: Relation, outer: Relation): boolean {
    const opened = (relation: string) => {
      const [before, after] = [this.#before, this.#after].map((side) => side.rewriteOf(type, relation))
      return before === undefined ? after : after === undefined ? before : undefined
    }
    return impliedByLogic(
      { rewrite: inner.rewrite, opened },
      { rewrite: outer.rewrite, opened },
      (narrow, wide) =>
        [this.#before, this.#after].every((side) =>
          side.holds(type, name, { ...inner, rewrite: narrow }, { ...inner, rewrite: wide }),
        ),
    )
  }
}

function inAnyOrder(direct: Relation["direct"]): readonly string[] {
  return direct.map((each) => JSON.stringify(each)).sort()
}

interface Looked {
  readonly containment: Containment
  readonly types: ReturnType<typeof indexModel>["types"]
}

/** One of the two models, analysed on first use. */
class ModelSide {
  readonly #model: AuthorizationModel
  #known: Looked | undefined

  constructor(model: AuthorizationModel) {
    this.#model = model
  }

  rewriteOf(type: string, relation: string): Userset | undefined {
    return this.#looked().types.get(type)?.get(relation)?.rewrite
  }

  #looked(): Looked {
    if (this.#known === undefined) {
      const index = indexModel(this.#model, nothingBroken)
      this.#known = { containment: new Containment(index), types: index.types }
    }
    return this.#known
  }

  /** Whether every user of `inner`, taken as a definition of the relation, is also in `outer`. */
  holds(type: string, name: string, inner: Relation, outer: Relation): boolean {
    const { types, containment } = this.#looked()
    const relation = types.get(type)?.get(name)
    if (relation === undefined) return false
    return containment.holds({ rewrite: inner.rewrite, relation }, { rewrite: outer.rewrite, relation })
  }
}
