import {
  factsOf,
  isCredential,
  kindFacts,
  nestedSteps,
  type Step,
  type StepId,
  type StepKind,
  type StepOf,
  type Step as StepPlan,
  variablesSetBy,
} from "../../plan/steps.ts"
import type { Exchange } from "../../policies/exchange.ts"
import { problem } from "../../policies/messages/answer.ts"
import type { Outcome, Policy, Provision, Run } from "../../policies/policy.ts"
import { runSteps } from "../../policies/run-steps.ts"
import { type PolicyTable, policies } from "../../policies/table.ts"
import { stepIdentity } from "./shown-identity.ts"
import { putInside, type StepUse, type Unfolded } from "./unfold.ts"

/** Ends the backend section where the request would be sent. */
const sent = problem("internal-error", { cause: "the request is not sent" })

/** What a rehearsal does around each step. */
export interface RehearsalHooks {
  /** May put a credential where the step reads it. */
  before(plan: StepPlan, exchange: Exchange): void
  /** The identity that the chosen backend sees, in words; undefined: none. */
  shown(exchange: Exchange): string | undefined
  /** May ignore a step's refusal; must then call `assume` with the reason. */
  after(plan: StepPlan, exchange: Exchange, refusal: NonNullable<Outcome>): Outcome
}

/** A run of a route's steps without effects: nothing is counted, written or sent. The steps are those of the unfolded route, each with its own id. */
export class Rehearsal {
  readonly assuming: string[] = []
  readonly #unfolded: Unfolded
  readonly #uses = new Map<StepPlan, StepUse>()
  /** Variables, `jwt` and `subscription` that only a real request can fill, each with the step that fills it. */
  readonly #unknown = new Map<string, StepUse>()
  readonly #hooks: RehearsalHooks
  #current: StepUse | undefined

  constructor(unfolded: Unfolded, hooks: RehearsalHooks) {
    this.#unfolded = unfolded
    this.#hooks = hooks
    for (const use of unfolded.uses.values()) this.#uses.set(use.step, use)
  }

  /** The running step. */
  get current(): StepUse | undefined {
    return this.#current
  }

  useOf(id: StepId): StepUse | undefined {
    return this.#unfolded.uses.get(id)
  }

  /** Assumes that the running step continues, because its outcome is not known. */
  assume(note: string): void {
    const use = this.#current
    if (use === undefined) return
    this.#left(use, note)
    // After an unverified token its claims are known; after a limit the remaining count is not.
    if (!tellsCaller(use.step)) this.#fills(use)
  }

  /** Assumes a caller whose claims are not known. */
  assumeCaller(note: string): void {
    const use = this.#current
    if (use === undefined) return
    this.#left(use, note)
    this.#fills(use)
    this.#unknown.set("jwt", use)
  }

  /** Adds a certain fact to the running step. */
  note(text: string): void {
    const notes = this.#current?.notes
    if (notes?.includes(text) === false) notes.push(text)
  }

  /** All policies, with observation; those with effects are not run. */
  policies(): PolicyTable {
    const watched = Object.entries(policies).map(([kind, policy]) => [
      kind,
      (plan: StepPlan, provision: Provision): Run => {
        const use = this.#uses.get(plan)
        if (use === undefined) throw new Error("the step belongs to another plan")
        const run = this.#runOf(plan, provision, policy as Policy<StepKind>)
        return (exchange) => this.#watch(use, exchange, run)
      },
    ])
    return Object.fromEntries(watched) as PolicyTable
  }

  /** What a rehearsal runs instead of a step. Undefined: the step has effects outside of the request, so it is not run. */
  #runOf(plan: StepPlan, provision: Provision, policy: Policy<StepKind>): Run | undefined {
    switch (plan.kind) {
      case "forward":
        return (exchange) => {
          if (exchange.backend === undefined && plan.backend !== null)
            exchange.backend = provision.backend(plan.backend)
          if (exchange.backend === undefined)
            return problem("internal-error", { cause: "no backend was chosen" })
          const identity = this.#hooks.shown(exchange)
          if (identity !== undefined) this.note(identity)
          return sent
        }
      case "authenticate":
        return this.#authenticating(plan, provision, policy)
      case "retry":
        return inTurn([plan.steps], provision)
      case "parallel":
        return inTurn(plan.branches, provision)
      default:
        return kindFacts(plan.kind).rehearsed === "run" ? policy(plan as never, provision) : undefined
    }
  }

  /** A step that sends a token would have to request it, so the outcome is assumed. */
  #authenticating(plan: StepOf<"authenticate">, provision: Provision, policy: Policy<StepKind>): Run {
    if (plan.authentication.scheme === "token")
      return (exchange) => {
        this.assume(stepIdentity(plan, exchange))
        return undefined
      }
    const run = policy(plan, provision)
    return async (exchange) => {
      const outcome = await run(exchange)
      if (outcome === undefined) this.note(stepIdentity(plan, exchange))
      return outcome
    }
  }

  /** Runs a step and notes what it did. A step that reads something unknown is left out, and so is what depends on it. */
  #watch(use: StepUse, exchange: Exchange, run: Run | undefined): Outcome | Promise<Outcome> {
    const lacking = this.#lacking(use.step)
    if (lacking !== undefined) return this.#leave(use, lacking)
    if (run === undefined) {
      return this.#leave(use, "it is not run here, because it has effects outside the request")
    }
    const outer = this.#current
    const settle = (found: Outcome): Outcome => {
      const outcome = found === undefined ? undefined : this.#hooks.after(use.step, exchange, found)
      this.#current = outer
      if (outcome !== undefined && outcome !== sent) use.state = "answered"
      else if (use.state !== "unknown") use.state = "passed"
      if (use.state === "passed") this.#knows(use.step)
      return outcome
    }
    const broke = (error: unknown): never => {
      this.#current = outer
      use.state = "answered"
      throw error
    }
    this.#current = use
    try {
      this.#hooks.before(use.step, exchange)
      const outcome = run(exchange)
      return outcome instanceof Promise ? outcome.then(settle, broke) : settle(outcome)
    } catch (error) {
      return broke(error)
    }
  }

  /** Variables that a step has set are known now, unless the new value depends on the old one. */
  #knows(step: StepPlan): void {
    const { reads = [] } = factsOf(step)
    for (const name of variablesSetBy(step))
      if (!reads.includes(`variable:${name}`)) this.#unknown.delete(name)
  }

  /** The unknown values that the step's own expressions read. */
  #lacking(step: StepPlan): string | undefined {
    if (this.#unknown.size === 0) return undefined
    const words = ownWords(step)
    for (const [name, use] of this.#unknown)
      if (words.has(name)) return `it reads \`${name}\`, which is known only when ${placed(use)} has run`
    return undefined
  }

  #left(use: StepUse, note: string): void {
    use.state = "unknown"
    if (!use.notes.includes(note)) use.notes.push(note)
    if (kindFacts(use.step.kind).rehearsed !== "skip") this.assuming.push(`${placed(use)} continues: ${note}`)
  }

  #fills(use: StepUse): void {
    for (const name of variablesSetBy(use.step)) this.#unknown.set(name, use)
  }

  #leave(use: StepUse, note: string): undefined {
    this.#left(use, note)
    this.#fills(use)
    if (tellsCaller(use.step)) this.#unknown.set("jwt", use)
    for (const { uses } of use.inside) for (const each of uses) this.#leaveInside(each, use)
    return undefined
  }

  #leaveInside(use: StepUse, above: StepUse): void {
    if (use.state !== "not-reached") return
    use.state = "unknown"
    for (const name of variablesSetBy(use.step)) this.#unknown.set(name, above)
    for (const { uses } of use.inside) for (const each of uses) this.#leaveInside(each, above)
  }
}

/** Whether a step identifies the caller. */
function tellsCaller(step: StepPlan): boolean {
  return isCredential(step) && factsOf(step).writes?.includes("caller") === true
}

/** Whether a section ended because the request would go out. */
export function isSent(outcome: Outcome): boolean {
  return outcome === sent
}

/** A step and its place, for messages. */
function placed({ step, place }: StepUse): string {
  return place === "" ? `\`${step.kind}\`` : `\`${step.kind}\` (${place})`
}

/** Runs the lists in order, each once: repetition and concurrency make no difference for a request that is not sent. */
function inTurn(lists: readonly (readonly StepId[])[], provision: Provision): Run {
  const steps = lists.flat().map((id) => provision.step(id))
  return (exchange) => runSteps(steps, exchange)
}

/**
 * The words in a step's own expressions, without those of its inner steps: they include names of variables, and `jwt` and `subscription`. Extra words
 * do no harm: they can only make a value count as unknown.
 */
function ownWords(step: Step): ReadonlySet<string> {
  const own = structuredClone(step)
  for (const { place } of nestedSteps(step)) putInside(own, place, [])
  const words = new Set<string>()
  collect(own, words)
  return words
}

/** The words of all expressions in a step, to find which of them read something unknown. */
function collect(node: unknown, words: Set<string>): void {
  if (typeof node !== "object" || node === null) return
  const fields = node as Record<string, unknown>
  if (typeof fields["lang"] === "string") {
    for (const word of JSON.stringify(fields).match(/\w+/g) ?? []) words.add(word)
    return
  }
  if (fields["by"] === "claim") words.add("jwt")
  if (fields["by"] === "subscription") words.add("subscription")
  for (const inner of Object.values(fields)) collect(inner, words)
}
