import type { PlanBody } from "../../runtime/plan/plan.ts"
import { isRelation, type RelationStep, type Step } from "../../runtime/plan/steps.ts"
import { Uses } from "./uses.ts"

/** Where a project uses a relation of a store directly. Routes are keys (`METHOD /path`), sorted. */
export interface RelationUses {
  readonly require: readonly string[]
  readonly filter: readonly string[]
  readonly grant: readonly string[]
  /** The AuthZEN API asks the store, so the relation is an action there. */
  readonly authzen: boolean
}

/** Where the relations of a store (`doc#viewer`) are used. */
export class StoreUses {
  readonly #store: string
  readonly #uses: Uses
  readonly #authzen: boolean

  constructor(body: PlanBody, store: string) {
    const { authz } = body
    this.#store = store
    this.#uses = new Uses(body)
    const stores = Object.keys(authz?.stores ?? {})
    const asked = authz?.authzen.store ?? (stores.length === 1 ? stores[0] : undefined)
    this.#authzen = asked === store
  }

  of(relation: string): RelationUses {
    const by = (isMeant: (kind: Step["kind"]) => boolean) =>
      this.#uses.routes(
        (step) =>
          isRelation(step) &&
          isMeant(step.kind) &&
          step.store === this.#store &&
          relationOf(step) === relation,
      )
    return {
      require: by((kind) => kind !== "filter" && kind !== "grant"),
      filter: by((kind) => kind === "filter"),
      grant: by((kind) => kind === "grant"),
      authzen: this.#authzen,
    }
  }
}

/** `doc#viewer`; the type is the beginning of the object's text. */
function relationOf({ object, relation }: RelationStep): string {
  const [first] = typeof object === "string" ? [object] : object.text
  return `${typeof first === "string" ? first.split(":", 1)[0] : ""}#${relation}`
}
