import type { Report } from "../../core/diagnostic.ts"
import type { Word } from "../ast.ts"
import type { Declaration, Program } from "../program.ts"

/**
 * Maximum number of policy uses in one block, including uses inside of policies. With two policies that each use two others, the number
 * doubles at each level.
 */
export const usesMax = 1000
/** Maximum depth of policies that use each other. */
const depthMax = 64

/** A policy under inspection, and the word in the outer policy that names it. */
interface Step {
  readonly policy: Declaration
  readonly by: Word | undefined
}

/**
 * Reports policies that use themselves, and policies with too many or too deep uses, whether or not a route uses them. Returns the names of
 * policies of the second kind: their content must not be expanded.
 */
export function checkPolicies(program: Program, report: Report): ReadonlySet<string> {
  const walk = new Walk(program, report)
  for (const policy of program.all("policy")) walk.usesOf({ policy, by: undefined })
  return walk.excessive
}

/** Policies use each other; a use in a cycle has no end, and a small text can stand for a very large number of uses. */
class Walk {
  readonly excessive = new Set<string>()
  readonly #program: Program
  readonly #report: Report
  /** Number of uses inside of each policy that was inspected. */
  readonly #uses = new Map<string, number>()
  readonly #way: Step[] = []

  constructor(program: Program, report: Report) {
    this.#program = program
    this.#report = report
  }

  /** Number of uses inside of a policy, including those inside of the policies it uses. */
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

  /** Number of uses that a word in `use` adds to the `before` uses that precede it in the policy `user`. */
  #usesBy(word: Word, user: string, before: number): number {
    const policy = this.#program.find("policy", word.text)
    if (policy === undefined || this.excessive.has(user)) return 0
    const from = this.#way.findIndex((step) => step.policy === policy)
    if (from !== -1) {
      this.#reportCircle([...this.#way.slice(from + 1), { policy, by: word }])
      return 0
    }
    if (this.#way.length >= depthMax) {
      this.#refuse(word, user, `policies are nested more than ${depthMax} levels deep`)
      return 0
    }
    const uses = 1 + this.usesOf({ policy, by: word })
    // The finding was already reported at the inner policy.
    if (this.excessive.has(policy.name)) this.excessive.add(user)
    else if (before + uses > usesMax)
      this.#refuse(word, user, `policies that use policies are used more than ${usesMax} times in one block`)
    return uses
  }

  #refuse(word: Word, user: string, why: string): void {
    this.excessive.add(user)
    this.#report.add("SP3016", word.span, why)
  }

  /** Reports a cycle once, independent of where it was entered: it begins with the alphabetically first name. */
  #reportCircle(circle: readonly Step[]): void {
    const names = circle.map(({ policy }) => policy.name)
    const first = names.indexOf([...names].sort()[0] as string)
    const around = [...names.slice(first), ...names.slice(0, first + 1)].map((name) => `\`${name}\``)
    const { by } = circle[first] as Step
    if (by !== undefined) this.#report.add("SP2015", by.span, `the policy uses itself: ${around.join(" → ")}`)
  }
}
