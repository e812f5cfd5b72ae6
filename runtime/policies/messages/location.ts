import type { Text, TextPart } from "../../plan/text.ts"
import { refusedValue } from "../access/refused-value.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { headerText, hostText } from "../values/grammars.ts"
import { type CompiledText, compileText, type TextGrammar } from "../values/text.ts"
import { percentEncode } from "./percent-encode.ts"

/** What no URL has, and parsers drop or mend each in its own way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const notInUrl = /[\u0000-\u0020\u007f-\u{10ffff}\\<>"{}|^`]/gu

/**
 * Compiles the value of a Location (RFC 9110 §10.2.2). Where its beginning is the author's, what a request brings cannot choose another host: behind the name of a host comes a path or a
 * label with more of the name behind it, and `/` and what follows do not become `//`. A text that begins with an expression is the expression's.
 */
export function compileLocation(text: Text, provision: Provision): CompiledText {
  const parts = typeof text === "string" ? [text] : text.text
  const compiled: CompiledText[] = []
  let before = ""
  for (const [index, part] of parts.entries()) {
    const grammar = grammarAt(before, parts[index + 1])
    const piece = compileText({ text: [part] }, provision, grammar)
    // It may be any address: nothing behind it can be held to anything.
    if (piece.constant === undefined && before === "") return compileText(text, provision, headerText)
    compiled.push(piece)
    before += piece.constant ?? "x"
  }
  if (compiled.every(({ constant }) => constant !== undefined))
    return compileText(text, provision, headerText)
  return {
    constant: undefined,
    of(exchange) {
      let value = ""
      for (const piece of compiled) value += piece.constant ?? piece.of(exchange)
      if (!before.startsWith("//") && value.startsWith("//"))
        throw refusedValue(exchange, "the expression yielded a location on another host")
      return headerText.whole?.(value, exchange) ?? value
    },
  }
}

/** Where a part stands: `before` is what comes before it, each dynamic part as `x`. */
function grammarAt(before: string, next: TextPart | undefined): TextGrammar {
  const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)$/i.exec(before)?.[1]
  if (authority === undefined) return part
  if (authority === "") return hostText
  return typeof next === "string" && /^[.:/?#-]/.test(next) ? label : rest
}

/** Part of a path, a query or a fragment, as it is but for what no URL has. */
const part: TextGrammar = { dynamic: encoded }

/** What follows a host: a path, a query, nothing. */
const rest: TextGrammar = {
  dynamic(value, source, exchange) {
    if (value !== "" && !/^[/?#]/.test(value)) throw notHere(exchange, source)
    return encoded(value)
  },
}

/** Part of a label of a host. */
const label: TextGrammar = {
  dynamic(value, source, exchange) {
    if (!/^[A-Za-z0-9-]{1,63}$/.test(value)) throw notHere(exchange, source)
    return value
  },
}

function notHere(exchange: Exchange, source: string): Error {
  return refusedValue(exchange, `\${${source}} would change the host of a location`)
}

function encoded(value: string): string {
  return value.replace(notInUrl, (character) => percentEncode(character))
}
