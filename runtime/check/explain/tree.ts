import type { EngineQuestion } from "../evaluate/question.ts"
import type { ProofNode, ProofRule } from "../ports.ts"
import type { ShownTuple } from "./tuples.ts"

/** Larger trees are not readable. JSON is written recursively, so the depth is limited too. */
const treeNodesMax = 2_000
const treeDepthMax = 100
/** The displayed content of one place: a rule, its tuple, its operands, and the nodes it depends on. */
export interface ProofStep {
  readonly by: ProofRule
  readonly holds: boolean
  readonly object: number
  readonly relation: string
  readonly shown?: ShownTuple | undefined
  readonly children?: readonly ProofStep[] | undefined
  readonly links?: readonly ProofItem[] | undefined
}

/** A node to show as true or false. */
export interface ProofItem {
  readonly holds: boolean
  readonly number: number
  step: ProofStep | undefined
  /** For a false node: it depends on an exclusion that must be shown. */
  telling: boolean
  readonly usedBy: ProofItem[]
}

/** Writes steps as a tree; each node is shown once. */
export class TreeWriter {
  cut = false
  readonly #question: EngineQuestion
  readonly #shown = new Set<ProofItem>()
  #count = 0

  readonly #bareOf: (item: ProofItem) => Pick<ProofStep, "object" | "relation">

  constructor(question: EngineQuestion, bareOf: (item: ProofItem) => Pick<ProofStep, "object" | "relation">) {
    this.#question = question
    this.#bareOf = bareOf
  }

  item(item: ProofItem, depth: number): ProofNode {
    const { step } = item
    if (step === undefined) {
      this.cut = true
      return this.#node({ ...this.#bareOf(item), holds: item.holds }, "cut")
    }
    const leads = (step.children?.length ?? 0) + (step.links?.length ?? 0) > 0
    if (leads && this.#shown.has(item)) return this.#node(step, "above")
    this.#shown.add(item)
    return this.step(step, depth)
  }

  step(step: ProofStep, depth: number): ProofNode {
    if (depth >= treeDepthMax || this.#count >= treeNodesMax) {
      this.cut = true
      return this.#node(step, "cut")
    }
    this.#count++
    const children = [
      // An operand is always shown; below a failed node only the exclusions that prevent something are shown.
      ...(step.children ?? [])
        .filter((child) => step.by !== "none" || isTelling(child))
        .map((child) => this.step(child, depth + 1)),
      ...(step.links ?? []).filter(({ telling }) => telling).map((link) => this.item(link, depth + 1)),
    ]
    return {
      ...this.#node(step, step.by),
      ...step.shown,
      ...(children.length === 0 ? {} : { children }),
    }
  }

  #node(
    { object, relation, holds }: Pick<ProofStep, "object" | "relation" | "holds">,
    by: ProofRule,
  ): ProofNode {
    return { object: this.#question.nameOf(object), relation, holds, by }
  }
}

function isTelling(step: ProofStep): boolean {
  if (step.holds || step.by === "but not" || step.links?.some(({ telling }) => telling)) return true
  return step.children?.some(isTelling) === true
}
