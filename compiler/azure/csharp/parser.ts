import { tokenize } from "./lexer.ts"
import { parseExpression } from "./parse-expression.ts"
import { parseInterpolated, parseLiteral } from "./parse-literal.ts"
import { parseNew } from "./parse-new.ts"
import { parsePattern } from "./parse-pattern.ts"
import { tryQuery } from "./parse-query.ts"
import { parseBlock, parseBody, parseStatement } from "./parse-statement.ts"
import { Parser, type Rules } from "./parser-state.ts"
import type { CsharpScope } from "./source.ts"
import type { BlockSyntax, ExpressionSyntax } from "./syntax-tree.ts"

/** The files of the parser call each other through this table, so that their imports have no cycle. */
const rules: Rules = {
  expression: parseExpression,
  literal: parseLiteral,
  pattern: parsePattern,
  creation: parseNew,
  interpolated: parseInterpolated,
  query: tryQuery,
  block: parseBlock,
  statement: parseStatement,
}

/** Parses one expression. @throws CsharpMistake */
export function readExpression(text: string, scope: CsharpScope): ExpressionSyntax {
  const parser = new Parser(tokenize(text, scope), rules)
  const expression = parseExpression(parser)
  // An extra semicolon at the end is harmless and occurs in published policies.
  parser.tryTake(";")
  if (parser.token.kind !== "end") throw parser.wrong("the end of the expression")
  return expression
}

/** Parses the statements of a block. @throws CsharpMistake */
export function readStatements(text: string, scope: CsharpScope): BlockSyntax {
  return parseBody(new Parser(tokenize(text, scope), rules))
}
