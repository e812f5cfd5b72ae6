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

/** All checks together. */
const checkRules: CheckRules = {
  expression: checkExpression,
  lambda: checkLambda,
  delegate: checkFunction,
  group: groupAsLambda,
  block: checkBlock,
  binary,
}

/** A program and what is known of it: its result's type in C#'s notation, the bodies it reads (1 request, 2 response), a constant value. */
export interface CompiledCsharp {
  readonly program: CsharpProgram
  readonly type: string
  readonly needs: number
  /** What it always gives, where that needs no evaluation: of a text, a number, `true`, `null`. */
  readonly constant?: string | number | boolean | null
}

/** Longest expression. */
const lengthMax = 65_536

/** Deepest tree: twice a program's, because a call of a method is two nodes. A chain of thousands of operators is that deep without a bracket. */
const levelsMax = 1600

/** Findings told of one program. */
const findingsMax = 20

/**
 * Compiles a policy expression: `@(…)` is an `expression`, `@{…}` a `block` whose every path returns. What is wrong comes back as findings
 * with places in the file, in their order: one of the grammar, or one of each statement and operand; nothing is thrown and no input takes long.
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
  return { findings: told(source, scope).map((finding) => placed(finding, source)) }
}

/** Without what only follows from another finding: mistakes around it, of values it left without a type, and of names a wrong statement would have declared. */
function told({ text }: CsharpSource, { shared }: Scope): CsharpFinding[] {
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

function checkLength({ text }: CsharpSource): void {
  if (text.length > lengthMax)
    throw new CsharpMistake(
      "limit",
      `the expression is longer than ${lengthMax} characters`,
      0,
      0,
      "Spread it over several `set-variable`.",
    )
}

function compileSingle(source: CsharpSource, scope: Scope): CompiledCsharp {
  checkLength(source)
  const expression = readExpression(source.text, scope.policy)
  if (!isBounded(expression, levelsMax, Number.POSITIVE_INFINITY)) throw tooLarge(expression)
  const value = checkExpression(expression, scope)
  if (value.type.name === "void")
    throw new CsharpMistake(
      "type",
      "the expression gives no value",
      expression.start,
      expression.end,
      "Use a value, or `@{ …; return value; }`.",
    )
  const { constant } = value
  const made = program(value.node, value.type, scope, expression)
  return constant === undefined || typeof constant === "bigint" ? made : { ...made, constant }
}

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

/** @throws CsharpMistake where a plan could not hold it */
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
