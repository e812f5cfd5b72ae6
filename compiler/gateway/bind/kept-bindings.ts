import { Report } from "../../core/diagnostic.ts"
import type { Statement } from "../ast.ts"
import { KeptFindings } from "../kept-findings.ts"
import type { BoundStatement } from "./bound.ts"
import type { Constants } from "./constants.ts"

interface Binding {
  readonly bound: BoundStatement
  readonly findings: KeptFindings
}

/**
 * Statements as an earlier compilation bound them. What a statement is bound to depends on its text and its place, which are those of its
 * syntax tree, and on the constants of the project.
 */
export class KeptBindings {
  #constants: Constants | undefined
  #bindings = new WeakMap<Statement, Binding>()

  /** Call it before statements are bound. */
  begin(constants: Constants): void {
    if (!constants.isSame(this.#constants)) this.#bindings = new WeakMap()
    this.#constants = constants
  }

  /** The statement as it was bound before, with its findings, or as `make` binds it now. */
  once(statement: Statement, report: Report, make: (own: Report) => BoundStatement): BoundStatement {
    const known = this.#bindings.get(statement)
    if (known !== undefined) {
      report.addAll(known.findings.placed())
      return known.bound
    }
    const own = new Report()
    const bound = make(own)
    report.addAll(own.reported)
    const findings = KeptFindings.of(own.reported, [statement.span])
    if (findings !== undefined) this.#bindings.set(statement, { bound, findings })
    return bound
  }
}
