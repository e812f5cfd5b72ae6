import type { CharacterSet } from "./character-set.ts"
import { foldCase } from "./character-set.ts"
import { type Dialect, PatternError } from "./dialect.ts"
import type { Anchor, PatternNode, Repeat } from "./syntax-tree.ts"

/** What the machine of `run-program.ts` does; the numbers behind an instruction are its operands. */
export const op = {
  match: 0,
  /** code, direction */
  character: 1,
  /** folded code, direction */
  characterAnyCase: 2,
  /** index of the set, direction */
  set: 3,
  /** target */
  jump: 4,
  /** first choice, second choice */
  split: 5,
  /** index of the anchor */
  anchor: 6,
  /** register: keeps the place */
  keepPlace: 7,
  /** register, target: nothing was taken since it was kept. Target -1: that is a failure. */
  stopWhenEmpty: 8,
  /** group, register of its other end */
  capture: 9,
  /** group, direction, 1 for any case */
  reference: 10,
  /** register: keeps how many ways back there are */
  keepHeight: 11,
  /** register: forgets the ways back since then */
  cut: 12,
  /** register: forgets the ways back since then and what was taken, and fails */
  cutAndFail: 13,
  /** register: goes back to the place in it */
  goTo: 14,
  /** target: a way back for when what follows fails */
  otherwise: 15,
  /** group: forgets what it took */
  forget: 16,
} as const

export interface Program {
  readonly code: Int32Array
  readonly sets: readonly CharacterSet[]
  readonly dialect: Dialect
  /** Captures have two registers each, from 0 on; the others follow. */
  readonly registerCount: number
  readonly groupCount: number
  /** It fits at the beginning of a text only. */
  readonly anchored: boolean
}

export const anchors: readonly Anchor[] = [
  "start",
  "end",
  "final",
  "line-start",
  "line-end",
  "word",
  "no-word",
]

/** Repetitions are written out: more numbers than this are no program. */
const codeMax = 20_000

/** @throws PatternError when the pattern is too large. */
export function compilePatternTree(root: PatternNode, groupCount: number, dialect: Dialect): Program {
  const emitter = new Emitter(groupCount, dialect)
  emitter.emit(root, 1)
  emitter.add(op.match)
  return {
    code: Int32Array.from(emitter.code),
    sets: emitter.sets,
    dialect,
    registerCount: emitter.registerCount,
    groupCount,
    anchored: beginsText(root),
  }
}

function beginsText(node: PatternNode): boolean {
  if (node.kind === "sequence") return node.items[0] !== undefined && beginsText(node.items[0])
  if (node.kind === "group" || node.kind === "atomic") return beginsText(node.item)
  return node.kind === "anchor" && node.anchor === "start"
}

/** Whether it may take nothing. Of references nobody knows before. */
function mayBeEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case "character":
    case "set":
      return false
    case "sequence":
      return node.items.every(mayBeEmpty)
    case "choice":
      return node.items.some(mayBeEmpty)
    case "group":
    case "atomic":
      return mayBeEmpty(node.item)
    case "repeat":
      return node.min === 0 || mayBeEmpty(node.item)
    default:
      return true
  }
}

type Direction = 1 | -1

class Emitter {
  readonly code: number[] = []
  readonly sets: CharacterSet[] = []
  readonly #dialect: Dialect
  registerCount: number

  constructor(groupCount: number, dialect: Dialect) {
    this.registerCount = (groupCount + 1) * 2
    this.#dialect = dialect
  }

  add(...numbers: readonly number[]): number {
    if (this.code.length + numbers.length > codeMax) throw new PatternError("it is too large")
    return this.code.push(...numbers) - numbers.length
  }

  #register(): number {
    return this.registerCount++
  }

  /** Behind an assertion that looks back everything runs from right to left. */
  emit(node: PatternNode, direction: Direction): void {
    switch (node.kind) {
      case "character":
        if (node.ignoreCase) this.add(op.characterAnyCase, foldCase(node.code), direction)
        else this.add(op.character, node.code, direction)
        break
      case "set":
        this.add(op.set, this.sets.push(node.set) - 1, direction)
        break
      case "anchor":
        this.add(op.anchor, anchors.indexOf(node.anchor))
        break
      case "sequence":
        for (const item of direction === 1 ? node.items : node.items.toReversed()) this.emit(item, direction)
        break
      case "choice":
        this.#choice(node.items, direction)
        break
      case "group": {
        const register = this.#register()
        this.add(op.keepPlace, register)
        this.emit(node.item, direction)
        this.add(op.capture, node.group.number, register)
        break
      }
      case "reference":
        this.add(op.reference, node.group.number, direction, node.ignoreCase ? 1 : 0)
        break
      case "look":
        this.#look(node)
        break
      case "atomic": {
        const height = this.#register()
        this.add(op.keepHeight, height)
        this.emit(node.item, direction)
        this.add(op.cut, height)
        break
      }
      case "repeat":
        this.#repeat(node, direction)
    }
  }

  #choice(items: readonly PatternNode[], direction: Direction): void {
    const ends: number[] = []
    for (const [index, item] of items.entries()) {
      if (index === items.length - 1) {
        this.emit(item, direction)
        break
      }
      const split = this.add(op.split, 0, 0)
      this.code[split + 1] = this.code.length
      this.emit(item, direction)
      ends.push(this.add(op.jump, 0) + 1)
      this.code[split + 2] = this.code.length
    }
    for (const end of ends) this.code[end] = this.code.length
  }

  #look({ ahead, negative, item }: Extract<PatternNode, { kind: "look" }>): void {
    const height = this.#register()
    this.add(op.keepHeight, height)
    if (negative) {
      const target = this.add(op.otherwise, 0) + 1
      this.emit(item, ahead ? 1 : -1)
      this.add(op.cutAndFail, height)
      this.code[target] = this.code.length
      return
    }
    const place = this.#register()
    this.add(op.keepPlace, place)
    this.emit(item, ahead ? 1 : -1)
    this.add(op.cut, height)
    this.add(op.goTo, place)
  }

  #repeat(node: Repeat, direction: Direction): void {
    const { min, max, greedy } = node
    for (let round = 0; round < min; round++) this.#round(node, direction)
    const exits: number[] = []
    const open = (): void => {
      const split = this.add(op.split, 0, 0)
      this.code[split + (greedy ? 1 : 2)] = this.code.length
      exits.push(split + (greedy ? 2 : 1))
    }
    if (max === Number.POSITIVE_INFINITY) {
      const from = this.code.length
      open()
      this.#optionalRound(node, direction, exits)
      this.add(op.jump, from)
    } else
      for (let round = min; round < max; round++) {
        open()
        this.#optionalRound(node, direction, exits)
      }
    for (const exit of exits) this.code[exit] = this.code.length
  }

  /** A round that takes nothing ends the repetition: for ECMAScript as a failure, for .NET as its last one. */
  #optionalRound(node: Repeat, direction: Direction, exits: number[]): void {
    const place = mayBeEmpty(node.item) ? this.#register() : undefined
    if (place !== undefined) this.add(op.keepPlace, place)
    this.#round(node, direction)
    if (place === undefined) return
    const check = this.add(op.stopWhenEmpty, place, -1)
    if (this.#dialect === "dotnet") exits.push(check + 2)
  }

  #round({ item, inside }: Repeat, direction: Direction): void {
    if (this.#dialect === "ecma") for (const { number } of inside) this.add(op.forget, number)
    this.emit(item, direction)
  }
}
