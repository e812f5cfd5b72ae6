import { type Formula, no, type Solver, yes } from "../evaluate/fixpoint.ts"

/** Caches which formulas are already true or false, because they are needed again and again. */
export class Settled {
  readonly #solver: Solver
  readonly #true = new Map<Formula, boolean>()
  readonly #false = new Map<Formula, boolean>()

  constructor(solver: Solver) {
    this.#solver = solver
  }

  holds(formula: Formula): boolean {
    const known = this.#true.get(formula)
    if (known !== undefined) return known
    const holds = this.#solver.truth(formula) === yes
    this.#true.set(formula, holds)
    return holds
  }

  fails(formula: Formula): boolean {
    const known = this.#false.get(formula)
    if (known !== undefined) return known
    const fails = this.#solver.possible(formula) === no
    this.#false.set(formula, fails)
    return fails
  }
}
