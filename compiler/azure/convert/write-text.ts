import type { Text } from "../../../runtime/plan/text.ts"
import { piecesOf, textWords } from "../../analysis/words.ts"

export function parenthesized(text: string): string {
  return `(${text})`
}

/** The lines of a text argument at the end of a statement. Uses several lines when that is more readable and gives exactly the same text. */
export function textLines(head: string, text: Text): string[] {
  const found = piecesOf(text)
  const source = found
    .map((piece) => ("literal" in piece ? piece.literal.replaceAll("${", () => "$${") : piece.source))
    .join("")
  const isPlain = found.every(
    (piece) =>
      !("literal" in piece) ||
      // biome-ignore lint/suspicious/noControlCharactersInRegex: files of gateway.conf cannot contain them.
      (!/[\u0000-\u0008\u000b-\u001f\u007f]/.test(piece.literal) &&
        !(piece.beforeExpression && piece.literal.endsWith("$"))),
  )
  if (!/\n./s.test(source) || !source.endsWith("\n") || !isPlain) return [`${head} ${textWords(text)}`]
  const lines = source.slice(0, -1).split("\n")
  let tag = "END"
  while (lines.some((line) => line.trimStart().startsWith(tag))) tag += "X"
  return [`${head} <<${tag}`, ...lines, tag]
}

/** A comment of XML as lines of gateway.conf, without the indentation they have in common. */
export function commentLines(text: string): string[] {
  const lines = text.replace(/\t/g, "  ").split(/\r?\n/)
  const filled = lines.map((line) => line.trimEnd())
  while (filled[0]?.trim() === "") filled.shift()
  while (filled.at(-1)?.trim() === "") filled.pop()
  const indents = filled
    .slice(1)
    .flatMap((line) => (line === "" ? [] : [line.length - line.trimStart().length]))
  const indent = indents.length === 0 ? 0 : Math.min(...indents)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: files of gateway.conf cannot contain them.
  const clean = (line: string): string => line.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ").trimEnd()
  return filled.map((line, index) => {
    const content = clean(index === 0 ? line.trimStart() : line.slice(indent))
    return content === "" ? "#" : `# ${content}`
  })
}

/** `Content-Type` for `content-type`. */
export function headerCase(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letters) => letters.toUpperCase())
}
