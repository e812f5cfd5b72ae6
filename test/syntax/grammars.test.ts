import { Lexer } from "chevrotain"
import { expect, test } from "vitest"
import { GatewayParser } from "../../compiler/gateway/parser.ts"
import { lexerConfig, tokenTypes } from "../../compiler/gateway/tokens.ts"
import { StatementParser } from "../../compiler/model/parser.ts"
import { lexerConfig as modelLexerConfig, vocabulary } from "../../compiler/model/tokens.ts"

// A start skips what Chevrotain validates of patterns and grammars: they change with the program alone.

test("the patterns of both languages are valid", () => {
  const errors = [
    new Lexer(tokenTypes, { ...lexerConfig, skipValidations: false }),
    new Lexer(vocabulary, { ...modelLexerConfig, skipValidations: false }),
  ].flatMap((lexer) => [...lexer.lexerDefinitionErrors])
  expect(errors).toEqual([])
})

test("the grammars of both languages are valid", () => {
  expect(() => new GatewayParser(false)).not.toThrow()
  expect(() => new StatementParser(false)).not.toThrow()
})
