import type { CsType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import { didYouMean } from "../../core/nearest.ts"
import { type CsharpFinding, CsharpMistake, type CsharpScope, tooLarge, workMax } from "./source.ts"
import type { BlockSyntax, ExpressionSyntax, FunctionStatement, LambdaExpression } from "./syntax-tree.ts"
import { type Typed, typed, types } from "./typed.ts"

/** A variable: its slot in the frame, and its function if it is a local function. */
export interface Variable {
  readonly slot: number
  readonly type: CsType
  readonly declared?: FunctionStatement
}

/** The `return`s of a function so far, with the types of their values. */
export type Returns = {
  readonly statement: Extract<CsStatement, { s: "return" }>
  readonly type: CsType
  readonly start: number
  readonly end: number
}[]

const slotsMax = 2000

/** A checked function. */
export interface CheckedFunction {
  readonly node: CsNode
  readonly result: CsType
  readonly cost: number
}

/** Checks that call each other across files. `compile-csharp.ts` combines them. */
export interface CheckRules {
  readonly expression: (expression: ExpressionSyntax, scope: Scope, wanted?: CsType) => Typed
  readonly lambda: (
    lambda: LambdaExpression,
    params: readonly CsType[],
    wanted: CsType | undefined,
    scope: Scope,
  ) => CheckedFunction | undefined
  readonly delegate: (lambda: LambdaExpression, type: CsType, scope: Scope) => CsNode | undefined
  readonly group: (expression: ExpressionSyntax, scope: Scope) => LambdaExpression | undefined
  readonly block: (block: BlockSyntax, scope: Scope) => CsStatement
  readonly binary: (op: string, left: Typed, right: Typed, place: Sides, scope: Scope) => Typed
}

/** State shared by all scopes of a program. `failed` are the statements with a finding: the names they declare are unknown. */
interface Shared {
  slots: number
  work: number
  readsResponse: boolean
  needs: number
  readonly findings: CsharpFinding[]
  readonly failed: Span[]
}

interface Span {
  readonly start: number
  readonly end: number
}

/** The places of an operator and its operands. */
export interface Sides extends Span {
  readonly left: Span
  readonly right: Span
}

/** The names that are visible at one place of a program. Blocks and functions create nested scopes. */
export class Scope {
  readonly outer: Scope | undefined
  readonly policy: CsharpScope
  readonly rules: CheckRules
  readonly returns: Returns
  readonly shared: Shared
  /** Function bodies are checked for several overloads, so their mistakes are thrown to the caller. */
  readonly #isTried: boolean
  readonly #names = new Map<string, Variable>()

  /** An inner scope shares slots, findings and the amount of work with its outer one. `returns` begins a function. */
  constructor(policy: CsharpScope, rules: CheckRules, outer?: Scope, returns?: Returns) {
    this.#isTried = outer !== undefined && (returns !== undefined || outer.#isTried)
    this.rules = rules
    this.outer = outer
    this.policy = policy
    this.returns = returns ?? outer?.returns ?? []
    // Slot 0 holds the return value.
    this.shared = outer?.shared ?? {
      slots: 1,
      work: 0,
      readsResponse: false,
      needs: 0,
      findings: [],
      failed: [],
    }
  }
  inner(): Scope {
    return new Scope(this.policy, this.rules, this)
  }
  /** The scope of a function's body, with its own `return`s. */
  body(): Scope {
    return new Scope(this.policy, this.rules, this, [])
  }
  find(name: string): Variable | undefined {
    return this.#names.get(name) ?? this.outer?.find(name)
  }
  place(): number {
    return this.shared.slots++
  }
  declare(name: string, type: CsType, declared?: FunctionStatement): Variable {
    const variable = { slot: this.place(), type, ...(declared === undefined ? {} : { declared }) }
    this.#names.set(name, variable)
    return variable
  }
  isTaken(name: string): boolean {
    return this.#names.has(name)
  }
  names(): string[] {
    return [...this.#names.keys(), ...(this.outer?.names() ?? [])]
  }
  /** Runs a check. A mistake is recorded, and `instead` replaces the result, so that checking continues. */
  attempt<T>(check: () => T, instead: () => T): T {
    if (this.#isTried) return check()
    try {
      return check()
    } catch (error) {
      if (!(error instanceof CsharpMistake) || error.finding.kind === "limit") throw error
      this.shared.findings.push(error.finding)
      return instead()
    }
  }
  /** Checks an expression. A wrong one gets the type `dynamic`. */
  operand(expression: ExpressionSyntax, wanted?: CsType): Typed {
    return this.attempt(
      () => this.rules.expression(expression, this, wanted),
      () => typed({ k: "const", type: "null", value: null }, types.dynamic),
    )
  }
  /** Counts one check. @throws CsharpMistake when there are too many */
  work(place: { readonly start: number; readonly end: number }): void {
    if (++this.shared.work > workMax || this.shared.slots > slotsMax) throw tooLarge(place)
  }
  /** Refuses a name that is already declared. @throws CsharpMistake */
  requireFree(name: string, start: number, end: number): void {
    if (!this.isTaken(name)) return
    throw new CsharpMistake(
      "type",
      `\`${name}\` is declared twice`,
      start,
      end,
      "Give the second one another name, or assign without a type.",
    )
  }

  /** The finding for an unknown name. */
  unknown(name: string, start: number, end: number): CsharpMistake {
    return new CsharpMistake(
      "unknown-name",
      `unknown name \`${name}\`${didYouMean(name, ["context", ...this.names()])}`,
      start,
      end,
      "Use `context`, a variable of the expression, or a type that policies may use.",
    )
  }
}
