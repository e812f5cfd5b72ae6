import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language"
import type { Extension } from "@codemirror/state"
import { tags } from "@lezer/highlight"

const modelWords =
  /^(?:model|schema|module|type|extend|relations|define|condition|and|or|but|not|from|with|contents)\b/

/** One token of a model. Names of relations come before a colon. */
function modelToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null
  // A `#` inside a word names a relation: `group#member`.
  const inWord = /\S$/.test(stream.string.slice(0, stream.pos))
  if (!inWord && stream.match(/^#.*/)) return "comment"
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string"
  if (stream.match(modelWords)) return "keyword"
  if (stream.match(/^\d+(?:\.\d+)*/)) return "number"
  if (stream.match(/^[\w-]+(?=\s*:)/)) return "propertyName"
  if (stream.match(/^[\w-]+/)) return null
  stream.next()
  return null
}

/** One token of gateway.conf: the first word of a statement is its keyword. */
function gatewayToken(stream: StringStream, state: { begins: boolean }): string | null {
  if (stream.sol()) state.begins = true
  if (stream.eatSpace()) return null
  if (stream.match(/^#.*/)) return "comment"
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string"
  if (stream.match(/^[{};]/)) {
    state.begins = true
    return null
  }
  const begins = state.begins
  state.begins = false
  if (stream.match(/^\d[\w.:/%]*/)) return "number"
  if (stream.match(/^[^\s{};"#]+/)) return begins ? "keyword" : null
  stream.next()
  return null
}

/** One token of YAML and JSON. */
function dataToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null
  if (stream.match(/^#.*/)) return "comment"
  if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/) || stream.match(/^[\w-]+(?=:(?:\s|$))/))
    return "propertyName"
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'[^']*'?/)) return "string"
  if (stream.match(/^(?:true|false|null)\b/)) return "keyword"
  if (stream.match(/^-?\d+(?:\.\d+)?\b/)) return "number"
  if (stream.match(/^[^\s,{}[\]]+/)) return null
  stream.next()
  return null
}

const model = StreamLanguage.define({ token: modelToken })
const gateway = StreamLanguage.define({ startState: () => ({ begins: true }), token: gatewayToken })
const data = StreamLanguage.define({ token: dataToken })

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.keyword, color: "var(--accent)" },
    { tag: tags.string, color: "var(--good)" },
    { tag: tags.number, color: "var(--warn)" },
    { tag: tags.propertyName, color: "var(--name)" },
    { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  ]),
)

/** The language of a file, by its name, with its colours. */
export function languageOf(path: string): Extension {
  const language = /\.(?:fga|mod)$/.test(path) ? model : path.endsWith(".conf") ? gateway : data
  return [language, colours]
}
