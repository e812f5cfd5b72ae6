import { loadLibrary } from "../../../runtime/azure/csharp/library.ts"
import { type CsType, printType } from "../../../runtime/azure/csharp/type.ts"
import { type CsharpProgram, type CsNode, type CsStatement, isBounded } from "../../../runtime/plan/csharp.ts"
import { checkExpression } from "./check-expression.ts"
import { unifyReturns } from "./check-function.ts"
import { checkFunction, checkLambda, groupAsLambda } from "./check-lambda.ts"
import { binary } from "./check-operator.ts"
import { checkBlock, checkStatements, neverEnds } from "./check-statement.ts"
import { readExpression, readStatements } from "./parser.ts"
import { type CheckRules, Scope } from "./scope.ts"
import { type CsharpFinding, CsharpMistake, type CsharpScope, type CsharpSource, tooLarge } from "./source.ts"

const checkRules: CheckRules = {
  expression: checkExpression,
  lambda: checkLambda,
  delegate: checkFunction,
  group: groupAsLambda,
  block: checkBlock,
  binary,
}

/** A compiled program: its result type in C# notation, the bodies it reads (1 request, 2 response), and its constant value if it has one. */
export interface CompiledCsharp {
  readonly program: CsharpProgram
  readonly type: string
  readonly needs: number
  /** Its value when that is constant: a string, a number, `true`, `null`. */
  readonly constant?: string | number | boolean | null
}

/** Maximum length of an expression. */
const lengthMax = 65_536

/** Maximum depth of the tree. It is twice the limit of a program, because a method call is two nodes. A long chain of operators reaches it without brackets. */
const levelsMax = 1600

/** Maximum number of findings per program. */
const findingsMax = 20

/**
 * Compiles a policy expression: `@(…)` is an `expression`, `@{…}` a `block` that returns a value on every path. Mistakes are returned as
 * findings with places in the file, in order: one for a syntax mistake, otherwise one for each wrong statement or operand. Never throws, and
 * the time is bounded.
 */
export function compileCsharp(
  source: CsharpSource,
  kind: "expression" | "block",
  policy: CsharpScope,
): CompiledCsharp | { readonly findings: readonly CsharpFinding[] } {
  loadLibrary()
  const scope = new Scope(policy, checkRules)
  const { findings } = scope.shared
  let made: CompiledCsharp | undefined
  try {
    made = kind === "expression" ? compileSingle(source, scope) : compileBlock(source, scope)
  } catch (error) {
    if (!(error instanceof CsharpMistake)) throw error
    findings.push(error.finding)
  }
  if (made !== undefined && findings.length === 0) return made
  return { findings: findingsOf(source, scope).map((finding) => placed(finding, source)) }
}

/**
 * Drops findings that only follow from others: mistakes around another finding, in values without a type, and for names that a wrong statement
 * would have declared.
 */
function findingsOf({ text }: CsharpSource, { shared }: Scope): CsharpFinding[] {
  const kept: CsharpFinding[] = []
  for (const finding of shared.findings) {
    const { kind, start, end, message } = finding
    if (kept.length > 0 && message.includes("`dynamic`")) continue
    if (kept.some((other) => start <= other.start && other.end <= end)) continue
    const isLost = (statement: { readonly start: number; readonly end: number }): boolean =>
      statement.end <= start &&
      wordsOf(text.slice(statement.start, statement.end)).has(text.slice(start, end))
    if (kind === "unknown-name" && shared.failed.some(isLost)) continue
    kept.push(finding)
  }
  return kept.sort((a, b) => a.start - b.start).slice(0, findingsMax)
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\p{L}_][\p{L}\p{N}_]*/gu))
}

function placed(finding: CsharpFinding, source: CsharpSource): CsharpFinding {
  return { ...finding, start: source.at(finding.start), end: source.at(Math.max(finding.start, finding.end)) }
}

/** Keeps the work of the compiler bounded. */
function checkLength({ text }: CsharpSource): void {
  if (text.length > lengthMax)
    throw new CsharpMistake(
      "limit",
      `the expression is longer than ${lengthMax} characters`,
      0,
      0,
      "Split it into several `set-variable`.",
    )
}

/** `@(…)`: one expression, whose value is the result. */
function compileSingle(source: CsharpSource, scope: Scope): CompiledCsharp {
  checkLength(source)
  const expression = readExpression(source.text, scope.policy)
  if (!isBounded(expression, levelsMax, Number.POSITIVE_INFINITY)) throw tooLarge(expression)
  const value = checkExpression(expression, scope)
  if (value.type.name === "void")
    throw new CsharpMistake(
      "type",
      "the expression returns no value",
      expression.start,
      expression.end,
      "Use a value, or `@{ …; return value; }`.",
    )
  const { constant } = value
  const made = program(value.node, value.type, scope, expression)
  return constant === undefined || typeof constant === "bigint" ? made : { ...made, constant }
}

/** `@{ … }`: statements. Every path must end with `return` or `throw`, as C# demands. */
function compileBlock(source: CsharpSource, scope: Scope): CompiledCsharp {
  checkLength(source)
  const block = readStatements(source.text, scope.policy)
  if (!isBounded(block, levelsMax, Number.POSITIVE_INFINITY)) throw tooLarge(block)
  const body = checkStatements(block.body, scope)
  if (!block.body.some(neverEnds))
    throw new CsharpMistake(
      "type",
      "not every path returns a value",
      block.end,
      block.end,
      "End the block with `return value;`.",
    )
  const type = unifyReturns(scope.returns, undefined)
  return program({ s: "block", body }, type, scope, block)
}

/** @throws CsharpMistake when the program does not fit into a plan */
function program(
  body: CsNode | CsStatement,
  type: CsType,
  scope: Scope,
  place: { readonly start: number; readonly end: number },
): CompiledCsharp {
  if (!isBounded(body)) throw tooLarge(place)
  const { slots, needs } = scope.shared
  return { program: { slots, needs, body }, type: printType(type), needs }
}
