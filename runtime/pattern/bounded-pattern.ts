import { compilePatternTree, type Program } from "./compile-program.ts"
import { type Dialect, PatternError, type PatternFlags } from "./dialect.ts"
import { parsePattern } from "./parse-pattern.ts"
import { Machine, type Work } from "./run-program.ts"

const lengthMax = 2048

/** A pattern that may go back: also for looking around and referring back. Its steps are counted. */
export class BoundedPattern {
  readonly names: ReadonlyMap<string, number>
  /** Without the whole match. */
  readonly groupCount: number
  readonly #program: Program

  /** @throws PatternError */
  constructor(source: string, dialect: Dialect, flags: PatternFlags = {}) {
    if (source.length > lengthMax) throw new PatternError(`it has more than ${lengthMax} characters`)
    const { root, groupCount, names } = parsePattern(source, dialect, flags)
    this.names = names
    this.groupCount = groupCount
    this.#program = compilePatternTree(root, groupCount, dialect)
  }

  /**
   * The first place at `from` or behind it where the pattern fits: of the whole and of each group from and to, -1 where a group took nothing.
   * @throws PatternWorkError when `work` is used up
   */
  search(text: string, from: number, work: Work): Int32Array | undefined {
    const { anchored, dialect, groupCount } = this.#program
    const machine = new Machine(this.#program, text, work)
    for (let at = from; at <= text.length; at++) {
      // A match does not begin within a code point.
      if (dialect === "ecma" && at > from && (text.codePointAt(at - 1) as number) > 0xffff) continue
      const registers = machine.run(at)
      if (registers !== undefined) return registers.subarray(0, (groupCount + 1) * 2)
      if (anchored) return undefined
    }
    return undefined
  }
}
