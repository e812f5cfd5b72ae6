import type { CelType } from "../../../runtime/expression/types.ts"
import { stepIdOf } from "../../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { PolicyElement } from "../../../runtime/plan/resources.ts"
import type { Step, StepId } from "../../../runtime/plan/steps.ts"
import type { AzureCompiler } from "../../azure/wing.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { DeclaredNames } from "../../model/declared-names.ts"
import type { BoundBlock, BoundStatement } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import type { PartRecorder } from "../recorder.ts"
import type { Backends } from "./backends.ts"
import type { BodySchemas } from "./body-schemas.ts"
import type { Expressions } from "./expression.ts"
import { ExpressionPlaces } from "./expression-places.ts"
import type { Places, StatementPlace } from "./place.ts"
import type { StoreModels } from "./store-model.ts"
import type { TextLowering } from "./text.ts"
import type { Values } from "./values.ts"

/** A use of a step: its key, where it is written, and the steps inside it. */
export interface Lowered {
  readonly id: StepId
  readonly origin: string
  /** By position in the step: `matched`, `branches.1`. */
  readonly inside: Readonly<Record<string, readonly Lowered[]>>
  /** The element of a policy document that the step was made from. */
  readonly element?: PolicyElement
  /** Variables that the step sets, with their types. Later statements can name them. */
  readonly declares?: Readonly<Record<string, CelType>>
}

/** What lowering of a statement needs. */
export interface StepContext {
  readonly program: Program
  readonly values: Values
  readonly texts: TextLowering
  readonly expressions: Expressions
  readonly models: StoreModels
  /** By store, what can be known of the models with mistakes. */
  readonly declaredNames: ReadonlyMap<string, DeclaredNames>
  readonly report: Report
  /** Set if the project has policy documents or templates. */
  readonly azure: AzureCompiler | undefined
  readonly steps: PlanSteps
  readonly backends: Backends
  readonly bodySchemas: BodySchemas
  /** APIs with clients of Azure API Management, which expect its defaults. */
  readonly apimApis: ReadonlySet<string>
  readonly place: StatementPlace
  /** The name, for counters, of the block that contains the statement, with the conditions around it. */
  readonly scope: string
  /** Creates other places of the same route. */
  readonly places: Places
  /** Lowers the steps of a block inside a statement. `within` is the block's name if its counters are separate. */
  readonly block: (
    block: BoundBlock | undefined,
    place: StatementPlace,
    within?: string,
  ) => readonly Lowered[]
  /** The place after these steps, with the variables they set. */
  readonly behind: (steps: readonly Lowered[]) => StatementPlace
}

/** Lowers a statement of `inbound` or `outbound`; undefined when it is invalid (reported). */
export type LowerStep = (bound: BoundStatement, context: StepContext) => Lowered | undefined

/** The plan's steps without duplicates. */
export class PlanSteps {
  readonly #steps = new Map<StepId, Step>()
  readonly #kinds = new Set<Step["kind"]>()
  readonly #recorder: PartRecorder | undefined
  readonly expressions = new ExpressionPlaces()

  /** `recorder` notes the added steps. */
  constructor(recorder?: PartRecorder) {
    this.#recorder = recorder
  }

  /** Adds a step and returns its use at a place. */
  add(step: Step, at: Span, inside: Lowered["inside"] = {}): Lowered {
    return { ...this.addFrom(step, originOf(at)), inside }
  }

  /** Adds a step that results from the statement at `origin` (`gateway.conf:41`). */
  addFrom(step: Step, origin: string): Lowered {
    const id = stepIdOf(step)
    this.put(id, step)
    this.expressions.add(id, step)
    return { id, origin, inside: {} }
  }

  /** Adds a step without its use. */
  put(id: StepId, step: Step): void {
    this.#recorder?.note(({ steps }) => steps.put(id, step))
    if (this.#steps.has(id)) return
    this.#steps.set(id, step)
    this.#kinds.add(step.kind)
  }

  /** The kinds of the steps. */
  get kinds(): ReadonlySet<Step["kind"]> {
    return this.#kinds
  }

  get(id: StepId): Step | undefined {
    return this.#steps.get(id)
  }

  get size(): number {
    return this.#steps.size
  }

  /** The steps in use. Lowering of invalid statements may have left others. */
  table(used: ReadonlySet<StepId>): PlanBody["steps"] {
    return Object.fromEntries(
      [...this.#steps].filter(([id]) => used.has(id)).sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  }
}

/** `gateway.conf:41`. */
export function originOf({ file, start }: Span): string {
  return `${file.path}:${file.position(start).line}`
}

export function idsOf(steps: readonly Lowered[]): StepId[] {
  return steps.map((step) => step.id)
}

/** Variables that steps and the steps inside them set. A variable with several types is `dyn`. */
export function declaredBy(steps: readonly Lowered[]): Readonly<Record<string, CelType>> {
  const found: Record<string, CelType> = {}
  const add = (list: readonly Lowered[]): void => {
    for (const { declares, inside } of list) {
      for (const nested of Object.values(inside)) add(nested)
      for (const [name, type] of Object.entries(declares ?? {}))
        found[name] = !Object.hasOwn(found, name) || found[name] === type ? type : "dyn"
    }
  }
  add(steps)
  return found
}
