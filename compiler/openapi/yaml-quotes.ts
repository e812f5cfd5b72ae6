/** The start of a quoted value of a key or list item: the indentation of its parent, and the quote. */
const begins = /^( *)(?:- +)*(?:[\w$./-]+|"[^"\n]*"|'[^'\n]*') *:(?: +[&!][^ \n]*)* +(["'])/gm
const linesMax = 200

/**
 * The text with each multi-line quoted value joined to one line when it continues at no more indentation than its key. YAML 1.2 forbids this,
 * but many readers accept it. Spaces replace the line ends, so that all offsets stay the same. Undefined when there is no such value.
 *
 * @example
 * joinQuotedLines('a:\n  b: "one\n  two"\n') // { text: 'a:\n  b: "one   two"\n', places: [8] }
 */
export function joinQuotedLines(
  text: string,
): { readonly text: string; readonly places: readonly number[] } | undefined {
  const places: number[] = []
  const pieces: string[] = []
  let done = 0
  begins.lastIndex = 0
  for (let found = begins.exec(text); found !== null; found = begins.exec(text)) {
    const [whole, indentation = "", quote = '"'] = found
    const start = found.index + whole.length
    const end = endOfQuoted(text, start, quote)
    if (end === undefined) continue
    const inside = text.slice(start, end)
    begins.lastIndex = end
    if (
      !inside
        .split("\n")
        .slice(1)
        .some((line) => isShallow(line, indentation.length))
    )
      continue
    places.push(start - 1)
    pieces.push(text.slice(done, start), inside.replace(/[\r\n]/g, " "))
    done = end
  }
  return places.length === 0 ? undefined : { text: [...pieces, text.slice(done)].join(""), places }
}

function isShallow(line: string, indentation: number): boolean {
  return line.trim() !== "" && line.length - line.trimStart().length <= indentation
}

/** The offset of the closing quote. Undefined when there is none nearby. */
function endOfQuoted(text: string, start: number, quote: string): number | undefined {
  let lines = 0
  for (let at = start; at < text.length && lines < linesMax; at += 1) {
    const character = text[at]
    if (character === "\n") lines += 1
    else if (character === "\\" && quote === '"') at += 1
    else if (character === quote) {
      if (quote === '"' || text[at + 1] !== "'") return at
      at += 1
    }
  }
  return undefined
}
