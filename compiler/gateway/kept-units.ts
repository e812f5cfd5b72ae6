import type { Report } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"
import type { BoundStatement } from "./bind/bound.ts"
import { KeptFindings } from "./kept-findings.ts"
import { type Additions, everythingIn, type PartRecorder } from "./recorder.ts"

interface Unit {
  readonly value: unknown
  readonly described: unknown
  readonly findings: KeptFindings
  readonly additions: readonly ((to: Additions) => void)[]
}

/** Where an operation is used, e.g. a version of its API, and what a document says about it there, compared by identity. */
export interface UnitUse {
  readonly as: string
  readonly described?: unknown
}

/** What a unit was made of besides its own statement, in an order that says what is what. Compared by identity. */
export interface OperationSurroundings {
  readonly parts: readonly unknown[]
  /** Where the statements of these parts are: findings can be there, too. */
  readonly spans: readonly Span[]
}

/**
 * What earlier compilations made of the operations of a project. An operation depends on its own statements, and on everything outside of
 * operations: if that is the same, what was made of it is the same.
 */
export class KeptUnits {
  #units = new WeakMap<BoundStatement, Map<string, Unit>>()
  #surroundings: OperationSurroundings = { parts: [], spans: [] }

  /** Call it before units are made. */
  begin(surroundings: OperationSurroundings): void {
    const before = this.#surroundings.parts
    const { parts } = surroundings
    if (parts.length !== before.length || !parts.every((each, at) => each === before[at])) this.forget()
    this.#surroundings = surroundings
  }

  forget(): void {
    this.#units = new WeakMap()
  }

  /**
   * The result for an operation as it was made before, with what making it added, or as `make` makes it now.
   */
  once<Value>(
    operation: BoundStatement,
    { as, described }: UnitUse,
    { recorder, report, to }: { recorder: PartRecorder; report: Report; to: Additions },
    make: () => Value,
  ): Value {
    const known = this.#units.get(operation)?.get(as)
    if (known !== undefined && known.described === described) {
      report.addAll(known.findings.placed())
      for (const add of known.additions) add(to)
      return known.value as Value
    }
    const { value, recording } = recorder.run(make)
    const { findings, additions } = everythingIn(recording)
    const kept = KeptFindings.of(findings, [operation.statement.span, ...this.#surroundings.spans])
    if (kept === undefined) return value
    const units = this.#units.get(operation) ?? new Map<string, Unit>()
    this.#units.set(operation, units.set(as, { value, described, findings: kept, additions }))
    return value
  }
}
