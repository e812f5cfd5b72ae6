import type { Text, TextPart } from "../../plan/text.ts"
import { refusedValue } from "../access/refused-value.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { headerText, hostText } from "../values/grammars.ts"
import { type CompiledText, compileText, type TextGrammar } from "../values/text.ts"
import { percentEncode } from "./percent-encode.ts"

/** Characters that no URL contains; URL parsers drop or repair them in different ways. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const notInUrl = /[\u0000-\u0020\u007f-\u{10ffff}\\<>"{}|^`]/gu

/**
 * Compiles the value of a Location (RFC 9110 §10.2.2). When its beginning is constant, an expression cannot change the host: after a host name only a
 * path is allowed, or a label that is followed by more of the name; and the value must not become `//…`. A text that begins with an expression is not
 * restricted.
 */
export function compileLocation(text: Text, provision: Provision): CompiledText {
  const parts = typeof text === "string" ? [text] : text.text
  const compiled: CompiledText[] = []
  let before = ""
  for (const [index, part] of parts.entries()) {
    const grammar = grammarAt(before, parts[index + 1])
    const piece = compileText({ text: [part] }, provision, grammar)
    // The expression may yield any address, so nothing after it can be restricted.
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

/** The grammar of the next part: `before` is the text before it, with `x` for each dynamic part. */
function grammarAt(before: string, next: TextPart | undefined): TextGrammar {
  const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)$/i.exec(before)?.[1]
  if (authority === undefined) return part
  if (authority === "") return hostText
  return typeof next === "string" && /^[.:/?#-]/.test(next) ? label : rest
}

/** Part of a path, query or fragment; only characters that are invalid in URLs are encoded. */
const part: TextGrammar = { dynamic: encoded }

/** What may follow a host: a path, a query, a fragment, or nothing. */
const rest: TextGrammar = {
  dynamic(value, source, exchange) {
    if (value !== "" && !/^[/?#]/.test(value)) throw notHere(exchange, source)
    return encoded(value)
  },
}

/** Part of one label of a host name. */
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
