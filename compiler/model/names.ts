import type { TokenType } from "chevrotain"
import { conditionName, name, tokenize, usedCondition } from "./tokens.ts"

const simpleName = /^[A-Za-z_][A-Za-z0-9_-]*$/
const dottedName = /^[A-Za-z_][A-Za-z0-9_]*(?:[/.-][A-Za-z0-9_]+)*$/

/** Whether a word has the form of a type or relation name. The lexer accepts more words than the language. */
export function hasNameForm(word: string): boolean {
  return simpleName.test(word) || dottedName.test(word)
}

/** Whether a word has the form of a name of a condition or parameter. */
export function hasSimpleNameForm(word: string): boolean {
  return simpleName.test(word)
}

/** Whether a text can be the name of a type or relation. */
export function isName(text: string): boolean {
  return hasNameForm(text) && isWord(text, name)
}

/** Whether a text can be the name of a condition where it is defined, or of a parameter. */
export function isConditionName(text: string): boolean {
  return hasSimpleNameForm(text) && isWord(text, conditionName)
}

/** Whether a text can be the name of a condition after `with`. */
export function isUsableCondition(text: string): boolean {
  return hasSimpleNameForm(text) && isWord(text, usedCondition)
}

/** Whether the lexer accepts a text as one word in such a place. */
function isWord(text: string, place: TokenType): boolean {
  const { tokens, strange } = tokenize(text)
  const [only] = tokens
  return strange.length === 0 && tokens.length === 1 && only?.tokenType.CATEGORIES?.includes(place) === true
}
