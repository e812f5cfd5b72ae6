import { areDisjoint, type CharacterSet, foldCase, union } from "./character-set.ts"
import { type Dialect, PatternError } from "./dialect.ts"
import { beginsText, type Follow, firstOf, followOf, looksAround, mayBeEmpty } from "./first-characters.ts"
import type { Anchor, PatternNode, Repeat } from "./syntax-tree.ts"

/** The instructions of the machine in `run-program.ts`; the numbers after an instruction are its operands. */
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
  /** first choice, second choice, number of the split */
  split: 5,
  /** index of the anchor */
  anchor: 6,
  /** register: saves the position */
  keepPlace: 7,
  /** register, target: jumps if the position equals the saved one; target -1: fails instead */
  stopWhenEmpty: 8,
  /** group, register with the other end */
  capture: 9,
  /** group, direction, 1 for any case */
  reference: 10,
  /** register: saves the number of backtrack points */
  keepHeight: 11,
  /** register: drops the backtrack points added since then */
  cut: 12,
  /** register: drops the backtrack points and captures added since then, and fails */
  cutAndFail: 13,
  /** register: returns to the saved position */
  goTo: 14,
  /** target: adds a backtrack point that continues there */
  otherwise: 15,
  /** group: clears its capture */
  forget: 16,
  /** index of the set, minimum, maximum or -1, number of the run: matches as many as possible, without backtracking to fewer */
  run: 17,
} as const

export interface PatternProgram {
  readonly code: Int32Array
  readonly sets: readonly CharacterSet[]
  readonly dialect: Dialect
  /** Each capture has two registers, from 0 on; the other registers follow. */
  readonly registerCount: number
  readonly groupCount: number
  /** Matches only at the start of a text. */
  readonly anchored: boolean
  /** The characters with which a match can start; undefined if it can be empty, or if this is unknown. */
  readonly first: CharacterSet | undefined
  /** Splits and runs are numbered from 0. */
  readonly splitCount: number
  readonly runCount: number
  /** The result of a split depends only on the split and the position: if it failed once, it always fails there. */
  readonly isRegular: boolean
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

/** Limit on the size of a program: repetitions are unrolled. */
const codeMax = 20_000

/** @throws PatternError if the pattern is too large. */
export function compilePatternTree(root: PatternNode, groupCount: number, dialect: Dialect): PatternProgram {
  const emitter = new Emitter(groupCount, dialect)
  emitter.emit(root, 1, "end")
  emitter.add(op.match)
  return {
    code: Int32Array.from(emitter.code),
    sets: emitter.sets,
    dialect,
    registerCount: emitter.registerCount,
    groupCount,
    anchored: beginsText(root),
    first: mayBeEmpty(root) ? undefined : firstOf(root),
    splitCount: emitter.splitCount,
    runCount: emitter.runCount,
    isRegular: emitter.isRegular,
  }
}

type Direction = 1 | -1

class Emitter {
  readonly code: number[] = []
  readonly sets: CharacterSet[] = []
  readonly #dialect: Dialect
  registerCount: number
  splitCount = 0
  runCount = 0
  isRegular = true

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

  #split(): number {
    return this.add(op.split, 0, 0, this.splitCount++)
  }

  /** Inside a look-behind, everything runs from right to left. */
  emit(node: PatternNode, direction: Direction, follow: Follow): void {
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
        this.#sequence(node.items, direction, follow)
        break
      case "choice":
        this.#choice(node.items, direction, follow)
        break
      case "group": {
        const register = this.#register()
        this.add(op.keepPlace, register)
        this.emit(node.item, direction, follow)
        this.add(op.capture, node.group.number, register)
        break
      }
      case "reference":
        this.isRegular = false
        this.add(op.reference, node.group.number, direction, node.ignoreCase ? 1 : 0)
        break
      case "look":
        this.#look(node)
        break
      case "atomic": {
        this.isRegular = false
        const height = this.#register()
        this.add(op.keepHeight, height)
        this.emit(node.item, direction, "end")
        this.add(op.cut, height)
        break
      }
      case "repeat":
        if (!this.#run(node, direction, follow)) this.#repeat(node, direction, follow)
    }
  }

  #sequence(items: readonly PatternNode[], direction: Direction, follow: Follow): void {
    if (direction === -1) for (const item of items.toReversed()) this.emit(item, direction, undefined)
    else
      for (const [index, item] of items.entries())
        this.emit(
          item,
          direction,
          "item" in item || "items" in item ? followOf(items.slice(index + 1), follow) : undefined,
        )
  }

  #choice(items: readonly PatternNode[], direction: Direction, follow: Follow): void {
    const ends: number[] = []
    for (const [index, item] of items.entries()) {
      if (index === items.length - 1) {
        this.emit(item, direction, follow)
        break
      }
      const split = this.#split()
      this.code[split + 1] = this.code.length
      this.emit(item, direction, follow)
      ends.push(this.add(op.jump, 0) + 1)
      this.code[split + 2] = this.code.length
    }
    for (const end of ends) this.code[end] = this.code.length
  }

  #look({ ahead, negative, item }: Extract<PatternNode, { kind: "look" }>): void {
    this.isRegular = false
    const height = this.#register()
    this.add(op.keepHeight, height)
    if (negative) {
      const target = this.add(op.otherwise, 0) + 1
      this.emit(item, ahead ? 1 : -1, "end")
      this.add(op.cutAndFail, height)
      this.code[target] = this.code.length
      return
    }
    const place = this.#register()
    this.add(op.keepPlace, place)
    this.emit(item, ahead ? 1 : -1, "end")
    this.add(op.cut, height)
    this.add(op.goTo, place)
  }

  /** If what follows cannot start with a character of the set, a shorter repetition never helps: no backtrack points are kept. */
  #run({ item, min, max, greedy }: Repeat, direction: Direction, follow: Follow): boolean {
    const set = item.kind === "set" || item.kind === "character" ? firstOf(item) : undefined
    if (set === undefined || !greedy || direction === -1 || max < 2) return false
    if (follow !== "end" && (follow === undefined || !areDisjoint(set, follow))) return false
    const most = max === Number.POSITIVE_INFINITY ? -1 : max
    this.add(op.run, this.sets.push(set) - 1, min, most, this.runCount++)
    return true
  }

  #repeat(node: Repeat, direction: Direction, follow: Follow): void {
    const { min, max, greedy } = node
    const inside = this.#followOfRound(node, follow)
    for (let round = 0; round < min; round++) this.#round(node, direction, inside)
    const exits: number[] = []
    const open = (): void => {
      const split = this.#split()
      this.code[split + (greedy ? 1 : 2)] = this.code.length
      exits.push(split + (greedy ? 2 : 1))
    }
    if (max === Number.POSITIVE_INFINITY) {
      const from = this.code.length
      open()
      this.#optionalRound(node, direction, inside, exits)
      this.add(op.jump, from)
    } else
      for (let round = min; round < max; round++) {
        open()
        this.#optionalRound(node, direction, inside, exits)
      }
    for (const exit of exits) this.code[exit] = this.code.length
  }

  /** What can follow a round: another round, or what follows the repetition. */
  #followOfRound({ item, greedy }: Repeat, follow: Follow): Follow {
    const own = greedy && !mayBeEmpty(item) && !looksAround(item) ? firstOf(item) : undefined
    if (own === undefined || follow === undefined) return undefined
    return follow === "end" ? own : union([own, follow])
  }

  /** A round that matches nothing ends the repetition: as a failure in ECMAScript, as the last round in .NET. */
  #optionalRound(node: Repeat, direction: Direction, follow: Follow, exits: number[]): void {
    const place = mayBeEmpty(node.item) ? this.#register() : undefined
    if (place !== undefined) this.add(op.keepPlace, place)
    this.#round(node, direction, follow)
    if (place === undefined) return
    this.isRegular = false
    const check = this.add(op.stopWhenEmpty, place, -1)
    if (this.#dialect === "dotnet") exits.push(check + 2)
  }

  #round({ item, inside }: Repeat, direction: Direction, follow: Follow): void {
    if (this.#dialect === "ecma") for (const { number } of inside) this.add(op.forget, number)
    this.emit(item, direction, follow)
  }
}
