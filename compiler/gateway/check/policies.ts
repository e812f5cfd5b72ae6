import type { Report } from "../../core/diagnostic.ts"
import type { Word } from "../ast.ts"
import type { Declaration, Program } from "../program.ts"

/** Uses of policies in one block, with those inside of policies: two policies that each use two others double with each step. */
export const usesMax = 1000
/** Policies that use each other in a row. */
const depthMax = 64

/** A policy being looked at, and the word in the policy before it that names it. */
interface Step {
  readonly policy: Declaration
  readonly by: Word | undefined
}

/**
 * Reports policies that use themselves, and policies whose uses are too many or too deep, whether anything uses them or not. Answers the
 * names of the latter: what is inside of them must not be looked for.
 */
export function checkPolicies(program: Program, report: Report): ReadonlySet<string> {
  const walk = new Walk(program, report)
  for (const policy of program.all("policy")) walk.usesOf({ policy, by: undefined })
  return walk.excessive
}

class Walk {
  readonly excessive = new Set<string>()
  readonly #program: Program
  readonly #report: Report
  /** Uses inside of a policy that was looked at. */
  readonly #uses = new Map<string, number>()
  readonly #way: Step[] = []

  constructor(program: Program, report: Report) {
    this.#program = program
    this.#report = report
  }

  /** Uses inside of a policy, with those inside of the policies it uses. */
  usesOf(step: Step): number {
    const { name, bound } = step.policy
    const known = this.#uses.get(name)
    if (known !== undefined) return known
    this.#way.push(step)
    const words = (bound.block?.statements ?? [])
      .filter(({ row }) => row.keyword === "use")
      .flatMap(({ args }) => args.words("policy"))
    const uses = words.reduce((sum, word) => sum + this.#usesBy(word, name, sum), 0)
    this.#way.pop()
    this.#uses.set(name, uses)
    return uses
  }

  /** What a word in `use` adds to the `before` uses of the policy `user` that stand before it. */
  #usesBy(word: Word, user: string, before: number): number {
    const policy = this.#program.find("policy", word.text)
    if (policy === undefined || this.excessive.has(user)) return 0
    const from = this.#way.findIndex((step) => step.policy === policy)
    if (from !== -1) {
      this.#reportCircle([...this.#way.slice(from + 1), { policy, by: word }])
      return 0
    }
    if (this.#way.length >= depthMax) {
      this.#refuse(word, user, `policies use each other more than ${depthMax} deep`)
      return 0
    }
    const uses = 1 + this.usesOf({ policy, by: word })
    // What is too much in the policy inside was told there.
    if (this.excessive.has(policy.name)) this.excessive.add(user)
    else if (before + uses > usesMax)
      this.#refuse(word, user, `policies that use policies are used more than ${usesMax} times in one block`)
    return uses
  }

  #refuse(word: Word, user: string, why: string): void {
    this.excessive.add(user)
    this.#report.add("SP3016", word.span, why)
  }

  /** One finding for a circle, the same wherever it was entered: it begins with the first of its names. */
  #reportCircle(circle: readonly Step[]): void {
    const names = circle.map(({ policy }) => policy.name)
    const first = names.indexOf([...names].sort()[0] as string)
    const around = [...names.slice(first), ...names.slice(0, first + 1)].map((name) => `\`${name}\``)
    const { by } = circle[first] as Step
    if (by !== undefined) this.#report.add("SP2015", by.span, `the policy uses itself: ${around.join(" → ")}`)
  }
}
