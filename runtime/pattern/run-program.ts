import { foldCase, isLineEnd, isWord } from "./character-set.ts"
import { anchors, op, type Program } from "./compile-program.ts"

/** What searches may do; a step is one instruction, or one character of a reference. */
export interface Work {
  stepsLeft: number
}

/** The steps are used up. Whether the pattern fits is not known then. */
export class PatternWorkError extends Error {
  constructor() {
    super("the pattern needs too many steps for this text")
  }
}

/**
 * Runs a program on a text. Ways back are on a stack of its own, so that no text is too long for the calls of the language; it grows by at most four
 * entries a step.
 */
export class Machine {
  readonly #program: Program
  readonly #text: string
  readonly #work: Work
  readonly #registers: Int32Array
  readonly #points: boolean
  /** Pairs: a place and where to go on, or the old value of a register and its number as ~number. */
  readonly #ways: number[] = []
  #at = 0
  #pc = 0

  constructor(program: Program, text: string, work: Work) {
    this.#program = program
    this.#text = text
    this.#work = work
    this.#registers = new Int32Array(program.registerCount)
    this.#points = program.dialect === "ecma"
  }

  /**
   * Tries one place. Gives the registers, until the next try: of each group from and to, -1 where it took nothing.
   * @throws PatternWorkError
   */
  run(start: number): Int32Array | undefined {
    this.#registers.fill(-1)
    this.#registers[0] = start
    this.#ways.length = 0
    this.#at = start
    this.#pc = 0
    const { code } = this.#program
    const work = this.#work
    let steps = work.stepsLeft
    for (;;) {
      if (--steps < 0) {
        work.stepsLeft = 0
        throw new PatternWorkError()
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

  /** The character that is next in a direction, and -1 at the end. */
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
        this.#ways.push(this.#at, second)
        this.#pc = first
        return true
      case op.otherwise:
        this.#ways.push(this.#at, first)
        this.#pc += 2
        return true
      case op.anchor:
        this.#pc += 2
        return this.#stands(first)
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

  #cuts(kind: number, register: number): boolean {
    this.#pc += 2
    if (kind === op.keepHeight) {
      // The old value first: it stays beneath the height that is kept.
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
    // Old values of registers stay: a way back from before needs them.
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

  /** Goes on where there was another way; false: there is none. */
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
      this.#registers[~to] = value
    }
    return false
  }

  #stands(index: number): boolean {
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

  /** What a group took, once more. One that took nothing is the empty text for ECMAScript, and fits nowhere for .NET. */
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
