import type { ExplainNode, TupleKey } from "./ports.ts"
import type { AnyPart, Hop, Part } from "./program.ts"
import { isFalse, isMiss, isTrue, type Question } from "./question.ts"

/** Larger trees help nobody, and a question may visit millions of nodes. */
const nodesMax = 5_000

interface Open {
  label: string
  tuples: TupleKey[]
  children: ExplainNode[]
  reason: string | undefined
}

const operators = { any: "union", all: "intersection", but: "but not" } as const

/** Writes down what the machine evaluates, as a tree. It only listens: with or without it the machine takes the same decisions. */
export class Trace {
  #open: Open[] = []
  #root: ExplainNode | undefined
  #count = 0
  #edge: { tuple: TupleKey; reason: string | undefined } | undefined

  begin(): void {
    this.#open = []
    this.#root = undefined
    this.#count = 0
    this.#edge = undefined
  }

  /** The finished tree. */
  get tree(): ExplainNode | undefined {
    return this.#root
  }

  openNode(object: number, relation: number, question: Question): void {
    const node = this.#start(labelOf(object, relation, question))
    const part = question.program.parts[relation]
    if (part?.op === "any") this.#describe(node, object, part, question)
  }

  openPart(op: Part["op"]): true {
    this.#start(operators[op])
    return true
  }

  /** A node decided at once: by direct tuples, because it is the subject itself, or because nothing leads from the subject's kind to it. */
  leaf(object: number, relation: number, value: number, question: Question): number {
    const node = this.#start(labelOf(object, relation, question))
    const part = question.program.parts[relation]
    if (relation === question.program.own && object === question.subject)
      node.reason = "the subject is this userset itself"
    else if (part === undefined) node.reason = `no ${question.program.kind} can have this relation`
    else if (part.op === "any") this.#describe(node, object, part, question)
    this.close(value, question)
    return value
  }

  leafPart(object: number, part: AnyPart, value: number, question: Question): void {
    this.#describe(this.#start(operators.any), object, part, question)
    this.close(value, question)
  }

  /** A node met before, or still open. */
  again(object: number, relation: number, value: number, cycle: boolean, question: Question): void {
    const node = this.#start(labelOf(object, relation, question))
    node.reason = cycle ? "cycle: it depends on itself, which grants nothing" : "evaluated above"
    this.close(value, question)
  }

  /** The tuple by which the next node is reached. */
  edge(object: number, hop: Hop, other: number, value: number, question: Question): void {
    this.#edge = {
      tuple: tupleOf(object, hop.slot, other, question),
      reason: value === isTrue ? undefined : question.problems[question.problem]?.message,
    }
  }

  /** A tuple that leads nowhere because its condition is false. */
  brokenEdge(object: number, hop: Hop, other: number, question: Question): void {
    const node = this.#start(labelOf(other, hop.target, question))
    node.tuples.push(tupleOf(object, hop.slot, other, question))
    node.reason = `condition ${hop.condition?.name} is false`
    this.close(isFalse, question)
  }

  close(value: number, question: Question): void {
    const node = this.#open.pop()
    if (node === undefined) return
    const failed = value !== isTrue && value !== isFalse
    const reason =
      node.reason ??
      (value === isMiss ? "not loaded" : failed ? question.problems[question.problem]?.message : undefined)
    const closed: ExplainNode = {
      label: node.label,
      result: failed ? "error" : value === isTrue ? "true" : "false",
      ...(reason === undefined ? {} : { reason }),
      ...(node.tuples.length === 0 ? {} : { tuples: node.tuples }),
      ...(node.children.length === 0 ? {} : { children: node.children }),
    }
    const above = this.#open.at(-1)
    if (above === undefined) this.#root = closed
    else if (this.#count < nodesMax) above.children.push(closed)
    else above.reason = `more than ${nodesMax} nodes: the rest is left out`
  }

  #start(label: string): Open {
    const node: Open = { label, tuples: [], children: [], reason: undefined }
    if (this.#edge !== undefined) {
      node.tuples.push(this.#edge.tuple)
      node.reason = this.#edge.reason
      this.#edge = undefined
    }
    this.#count++
    this.#open.push(node)
    return node
  }

  /** The direct tuples of an object that concern the subject, with what their conditions say. */
  #describe(node: Open, object: number, part: AnyPart, question: Question): void {
    const { problem } = question
    this.#describeTests(node, object, part, question)
    question.problem = problem
  }

  #describeTests(node: Open, object: number, part: AnyPart, question: Question): void {
    if (part.self && object === question.subject) node.reason = "the subject is this userset itself"
    for (const test of part.tests) {
      const one = { ...part, self: false, tests: [test] }
      const bare = question.tests(object, { ...one, tests: [{ ...test, condition: undefined }] })
      if (bare !== isTrue) continue
      const other = test.wildcard ? question.wildcard : question.subject
      node.tuples.push(tupleOf(object, test.slot, other, question))
      if (test.condition === undefined || question.tests(object, one) === isTrue) return
      node.reason =
        question.tests(object, one) === isFalse
          ? `condition ${test.condition.name} is false`
          : question.problems[question.problem]?.message
    }
  }
}

function labelOf(object: number, relation: number, question: Question): string {
  return `${question.nameOf(object)}#${question.model.plan.relations.relations[relation]?.relation}`
}

function tupleOf(object: number, planSlot: number, other: number, question: Question): TupleKey {
  const slot = question.graph.slots[question.slots[planSlot] as number]
  const userset =
    slot === undefined || slot.subjectRelation === "" || slot.subjectRelation === "*"
      ? ""
      : `#${slot.subjectRelation}`
  return {
    user: `${question.nameOf(other)}${userset}`,
    relation: slot?.relation ?? "",
    object: question.nameOf(object),
    ...(slot === undefined || slot.condition === "" ? {} : { condition: { name: slot.condition } }),
  }
}
