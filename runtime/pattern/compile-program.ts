import { areDisjoint, type CharacterSet, foldCase, union } from "./character-set.ts"
import { type Dialect, PatternError } from "./dialect.ts"
import { beginsText, type Follow, firstOf, followOf, looksAround, mayBeEmpty } from "./first-characters.ts"
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
  /** first choice, second choice, number of the split */
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
  /** index of the set, least, most or -1, number of the run: as many as there are, and no way back to fewer */
  run: 17,
} as const

export interface PatternProgram {
  readonly code: Int32Array
  readonly sets: readonly CharacterSet[]
  readonly dialect: Dialect
  /** Captures have two registers each, from 0 on; the others follow. */
  readonly registerCount: number
  readonly groupCount: number
  /** It fits at the beginning of a text only. */
  readonly anchored: boolean
  /** What a match begins with; undefined: it may be empty, or nobody knows. */
  readonly first: CharacterSet | undefined
  /** Splits are numbered from 0 on, and so are runs. */
  readonly splitCount: number
  readonly runCount: number
  /** What comes of a split depends on it and the place alone: where it failed once, it always does. */
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

/** Repetitions are written out: more numbers than this are no program. */
const codeMax = 20_000

/** @throws PatternError when the pattern is too large. */
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

  /** Behind an assertion that looks back everything runs from right to left. */
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

  /** Where nothing that follows can begin with what the set takes, fewer than all of them are never right: no ways back are kept. */
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

  /** Another round, or what follows the last one. */
  #followOfRound({ item, greedy }: Repeat, follow: Follow): Follow {
    const own = greedy && !mayBeEmpty(item) && !looksAround(item) ? firstOf(item) : undefined
    if (own === undefined || follow === undefined) return undefined
    return follow === "end" ? own : union([own, follow])
  }

  /** A round that takes nothing ends the repetition: for ECMAScript as a failure, for .NET as its last one. */
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
