import { compilePatternTree, type PatternProgram } from "./compile-program.ts"
import { type Dialect, PatternError, type PatternFlags } from "./dialect.ts"
import { parsePattern } from "./parse-pattern.ts"
import { charactersOfStep, PatternMachine, PatternWorkError, type SearchBudget } from "./run-program.ts"

const lengthMax = 8192

/** A backtracking pattern with look-around and back-references. It counts its steps; without these two features they are linear in the text. */
export class BoundedPattern {
  readonly names: ReadonlyMap<string, number>
  /** Not counting the whole match. */
  readonly groupCount: number
  readonly #program: PatternProgram

  /** @throws PatternError */
  constructor(source: string, dialect: Dialect, flags: PatternFlags = {}) {
    if (source.length > lengthMax) throw new PatternError(`it has more than ${lengthMax} characters`)
    const { root, groupCount, names } = parsePattern(source, dialect, flags)
    this.names = names
    this.groupCount = groupCount
    this.#program = compilePatternTree(root, groupCount, dialect)
  }

  /** A search of one text. Later calls of `next` reuse the failures that earlier ones recorded. */
  over(text: string): PatternSearch {
    return new PatternSearch(this.#program, text)
  }
}

/** Searches a text for a pattern. */
export class PatternSearch {
  readonly #program: PatternProgram
  readonly #text: string
  readonly #machine: PatternMachine

  constructor(program: PatternProgram, text: string) {
    this.#program = program
    this.#text = text
    this.#machine = new PatternMachine(program, text)
  }

  /**
   * The first match at or after `from`: start and end of the whole match and of each group, -1 if a group did not participate. The array is valid until
   * the next search.
   * @throws PatternWorkError if `work` is exhausted
   */
  next(from: number, work: SearchBudget): Int32Array | undefined {
    const { anchored, dialect, groupCount } = this.#program
    const text = this.#text
    for (let at = from; at <= text.length; at++) {
      at = this.#possible(at, work)
      if (at < 0) return undefined
      // A match does not start inside a code point.
      if (dialect === "ecma" && at > from && (text.codePointAt(at - 1) as number) > 0xffff) continue
      const registers = this.#machine.run(at, work)
      if (registers !== undefined) return registers.subarray(0, (groupCount + 1) * 2)
      if (anchored) return undefined
    }
    return undefined
  }

  /** The first offset, from this one on, where a match can start by its first character; -1 if there is none. */
  #possible(from: number, work: SearchBudget): number {
    const { anchored, dialect, first } = this.#program
    if (first === undefined || anchored) return from
    const text = this.#text
    const points = dialect === "ecma"
    let at = from
    while (at < text.length && !first.has((points ? text.codePointAt(at) : text.charCodeAt(at)) as number))
      at++
    work.stepsLeft -= Math.floor((at - from) / charactersOfStep)
    if (work.stepsLeft < 0) throw new PatternWorkError()
    return at < text.length ? at : -1
  }
}
