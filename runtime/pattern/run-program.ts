import { type CharacterSet, foldCase, isLineEnd, isWord } from "./character-set.ts"
import { anchors, op, type PatternProgram } from "./compile-program.ts"

/** The step budget of searches. A step is one instruction, or one character of a back-reference. */
export interface SearchBudget {
  stepsLeft: number
}

/** The steps are exhausted. Whether the pattern matches is unknown. */
export class PatternWorkError extends Error {
  constructor() {
    super("the pattern needs too many steps for this string")
  }
}

/** Number of characters that a run matches, or that the search skips, in the time of one step. */
export const charactersOfStep = 4
/** Cost of a match attempt at one position. */
const stepsOfTry = 4
/** A search with more steps than this per character of the text starts to remember failures. */
const stepsBeforeMemory = 4
const memoryBytesMax = 8 * 2 ** 20

/**
 * Runs a program on a text. Backtrack points are on its own stack, so that a long text cannot overflow the call stack; the stack grows by at most six
 * entries per step. A regular program that backtracks a lot remembers which splits failed at which position and does not repeat them: the steps are then
 * linear in the text.
 */
export class PatternMachine {
  readonly #program: PatternProgram
  readonly #text: string
  #work: SearchBudget = { stepsLeft: 0 }
  readonly #registers: Int32Array
  readonly #points: boolean
  /**
   * The backtrack stack, as pairs: a position and the target; or the old value of a register and ~number of the register; or a position and the number
   * of registers plus the number of a split. The last kind means that the split has failed there when it is popped.
   */
  readonly #ways: number[] = []
  /** Start and end of the last match of each run. */
  readonly #lastRuns: Int32Array
  /** One bit for each split and position. */
  #failed: Uint32Array | undefined
  #stepsUntilMemory: number
  #at = 0
  #pc = 0

  constructor(program: PatternProgram, text: string) {
    this.#program = program
    this.#text = text
    this.#registers = new Int32Array(program.registerCount)
    this.#points = program.dialect === "ecma"
    this.#lastRuns = new Int32Array(program.runCount * 2).fill(-1)
    const bytes = (program.splitCount * (text.length + 1)) / 8
    const mayRemember = program.isRegular && bytes <= memoryBytesMax
    this.#stepsUntilMemory = mayRemember ? stepsBeforeMemory * (text.length + 16) : Number.POSITIVE_INFINITY
  }

  /**
   * Attempts a match at one position. Returns the registers, valid until the next attempt: start and end of each group, -1 if it did not participate.
   * Takes its steps from `work`.
   * @throws PatternWorkError
   */
  run(start: number, work: SearchBudget): Int32Array | undefined {
    this.#work = work
    const before = work.stepsLeft
    work.stepsLeft -= stepsOfTry
    const found = this.#run(start)
    this.#stepsUntilMemory -= before - work.stepsLeft
    return found
  }

  #run(start: number): Int32Array | undefined {
    this.#registers.fill(-1)
    this.#registers[0] = start
    this.#ways.length = 0
    this.#at = start
    this.#pc = 0
    const { code } = this.#program
    const work = this.#work
    let steps = work.stepsLeft
    let stepsWithout = steps - this.#stepsUntilMemory
    for (;;) {
      if (--steps < 0) {
        work.stepsLeft = 0
        throw new PatternWorkError()
      }
      if (steps < stepsWithout) {
        stepsWithout = Number.NEGATIVE_INFINITY
        steps = this.#remember(steps)
      }
      const kind = code[this.#pc] as number
      if (kind === op.match) {
        work.stepsLeft = steps
        this.#registers[1] = this.#at
        return this.#registers
      }
      work.stepsLeft = steps
      const fits = kind <= op.set ? this.#takes(kind, code) : this.#does(kind, code)
      steps = work.stepsLeft
      if (!fits && !this.#back()) return undefined
    }
  }

  /** The next character in a direction; -1 at the end. */
  #next(direction: number): number {
    const text = this.#text
    if (direction === 1) {
      if (this.#at >= text.length) return -1
      const code = this.#points ? (text.codePointAt(this.#at) as number) : text.charCodeAt(this.#at)
      this.#at += code > 0xffff ? 2 : 1
      return code
    }
    if (this.#at <= 0) return -1
    this.#at -= 1
    const unit = text.charCodeAt(this.#at)
    if (!this.#points || this.#at === 0 || unit < 0xdc00 || unit > 0xdfff) return unit
    const point = text.codePointAt(this.#at - 1) as number
    if (point <= 0xffff) return unit
    this.#at -= 1
    return point
  }

  #takes(kind: number, code: Int32Array): boolean {
    const what = code[this.#pc + 1] as number
    const next = this.#next(code[this.#pc + 2] as number)
    this.#pc += 3
    if (next < 0) return false
    if (kind === op.character) return next === what
    if (kind === op.characterAnyCase) return foldCase(next) === what
    return this.#program.sets[what]?.has(next) === true
  }

  #does(kind: number, code: Int32Array): boolean {
    const first = code[this.#pc + 1] as number
    const second = code[this.#pc + 2] as number
    switch (kind) {
      case op.jump:
        this.#pc = first
        return true
      case op.split:
        return this.#splits(first, second, code[this.#pc + 3] as number)
      case op.run:
        return this.#runs(code)
      case op.otherwise:
        this.#ways.push(this.#at, first)
        this.#pc += 2
        return true
      case op.anchor:
        this.#pc += 2
        return this.#assertionHolds(first)
      case op.keepPlace:
        this.#set(first, this.#at)
        this.#pc += 2
        return true
      case op.goTo:
        this.#at = this.#registers[first] as number
        this.#pc += 2
        return true
      case op.stopWhenEmpty:
        if (this.#registers[first] !== this.#at) this.#pc += 3
        else if (second < 0) return false
        else this.#pc = second
        return true
      case op.capture: {
        const other = this.#registers[second] as number
        this.#set(first * 2, Math.min(other, this.#at))
        this.#set(first * 2 + 1, Math.max(other, this.#at))
        this.#pc += 3
        return true
      }
      case op.forget:
        this.#set(first * 2, -1)
        this.#set(first * 2 + 1, -1)
        this.#pc += 2
        return true
      case op.reference:
        return this.#refers(first, second, code[this.#pc + 3] === 1)
      default:
        return this.#cuts(kind, first)
    }
  }

  #splits(first: number, second: number, number: number): boolean {
    const failed = this.#failed
    if (failed !== undefined) {
      const bit = number * (this.#text.length + 1) + this.#at
      if (((failed[bit >>> 5] as number) & (1 << (bit & 31))) !== 0) return false
      this.#ways.push(this.#at, ~(this.#registers.length + number))
    }
    this.#ways.push(this.#at, second)
    this.#pc = first
    return true
  }

  #runs(code: Int32Array): boolean {
    const pc = this.#pc
    const text = this.#text
    const set = this.#program.sets[code[pc + 1] as number] as CharacterSet
    const least = code[pc + 2] as number
    const most = code[pc + 3] as number
    const last = (code[pc + 4] as number) * 2
    this.#pc += 5
    const from = this.#at
    const knownEnd = this.#lastRuns[last + 1] as number
    // A run that starts inside the last run ends where that one ended.
    if (most < 0 && from >= (this.#lastRuns[last] as number) && knownEnd - from >= least * 2) {
      this.#at = knownEnd
      return true
    }
    let at = from
    let count = 0
    while (count !== most && at < text.length) {
      const character = this.#points ? (text.codePointAt(at) as number) : text.charCodeAt(at)
      if (!set.has(character)) break
      at += character > 0xffff ? 2 : 1
      count++
    }
    if (most < 0) {
      this.#lastRuns[last] = from
      this.#lastRuns[last + 1] = at
    }
    this.#work.stepsLeft -= Math.floor(count / charactersOfStep)
    this.#at = at
    return count >= least
  }

  /** Starts to remember failures; returns the remaining steps. */
  #remember(steps: number): number {
    this.#stepsUntilMemory = Number.POSITIVE_INFINITY
    const words = Math.ceil((this.#program.splitCount * (this.#text.length + 1)) / 32)
    this.#failed ??= new Uint32Array(words)
    return steps - (words >>> 4)
  }

  #cuts(kind: number, register: number): boolean {
    this.#pc += 2
    if (kind === op.keepHeight) {
      // Sets the register first, so that its old value stays below the saved height.
      this.#set(register, 0)
      this.#registers[register] = this.#ways.length
      return true
    }
    const height = this.#registers[register] as number
    this.#work.stepsLeft -= (this.#ways.length - height) >> 1
    if (kind === op.cutAndFail) {
      while (this.#ways.length > height) this.#undo(this.#ways.pop() as number, this.#ways.pop() as number)
      return false
    }
    // Old values of registers stay: earlier backtrack points need them.
    let kept = height
    for (let index = height; index < this.#ways.length; index += 2) {
      const to = this.#ways[index + 1] as number
      if (to >= 0) continue
      this.#ways[kept] = this.#ways[index] as number
      this.#ways[kept + 1] = to
      kept += 2
    }
    this.#ways.length = kept
    return true
  }

  #set(register: number, value: number): void {
    this.#ways.push(this.#registers[register] as number, ~register)
    this.#registers[register] = value
  }

  #undo(to: number, value: number): void {
    if (to < 0) this.#registers[~to] = value
  }

  /** Pops the next backtrack point; false if there is none. */
  #back(): boolean {
    const ways = this.#ways
    while (ways.length > 0) {
      const to = ways.pop() as number
      const value = ways.pop() as number
      if (to >= 0) {
        this.#pc = to
        this.#at = value
        return true
      }
      const register = ~to
      if (register < this.#registers.length) this.#registers[register] = value
      else this.#fails(register - this.#registers.length, value)
    }
    return false
  }

  /** Records that all choices of the split failed at this position. */
  #fails(split: number, at: number): void {
    const bit = split * (this.#text.length + 1) + at
    const failed = this.#failed as Uint32Array
    failed[bit >>> 5] = (failed[bit >>> 5] as number) | (1 << (bit & 31))
  }

  #assertionHolds(index: number): boolean {
    const { dialect } = this.#program
    const text = this.#text
    const at = this.#at
    switch (anchors[index]) {
      case "start":
        return at === 0
      case "end":
        return at === text.length
      case "final":
        return at === text.length || (at === text.length - 1 && text.charCodeAt(at) === 10)
      case "line-start":
        return at === 0 || isLineEnd(text.charCodeAt(at - 1), dialect)
      case "line-end":
        return at === text.length || isLineEnd(text.charCodeAt(at), dialect)
      default: {
        const before = at > 0 && isWord(text.charCodeAt(at - 1), dialect)
        const behind = at < text.length && isWord(text.charCodeAt(at), dialect)
        return (before !== behind) === (anchors[index] === "word")
      }
    }
  }

  /** Matches the text of a group again. A group that did not participate matches the empty text in ECMAScript, and nothing in .NET. */
  #refers(group: number, direction: number, anyCase: boolean): boolean {
    this.#pc += 4
    const from = this.#registers[group * 2] as number
    const to = this.#registers[group * 2 + 1] as number
    if (from < 0 || to < 0) return this.#points
    const length = to - from
    const begin = direction === 1 ? this.#at : this.#at - length
    if (begin < 0 || begin + length > this.#text.length) return false
    this.#work.stepsLeft -= length
    for (let index = 0; index < length; index++) {
      const one = this.#text.charCodeAt(from + index)
      const other = this.#text.charCodeAt(begin + index)
      if (one !== other && !(anyCase && foldCase(one) === foldCase(other))) return false
    }
    this.#at = direction === 1 ? begin + length : begin
    return true
  }
}
