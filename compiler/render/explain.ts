import { catalogue, type DiagnosticCode, entryOf } from "../core/catalogue.ts"

const columnsMax = 96

/** The output of `sallyport explain CODE`: title, reason and remedy of a code, in lower or upper case. Undefined for an unknown code. */
export function explainCode(code: string): string | undefined {
  const known = code.toUpperCase()
  if (!Object.hasOwn(catalogue, known)) return undefined
  const entry = entryOf(known as DiagnosticCode)
  const parts = [`${known} ${entry.title} (${entry.severity})`]
  if (entry.why !== undefined) parts.push(wrap(entry.why))
  if (entry.help !== undefined) parts.push(wrap(`What to do: ${entry.help}`))
  return `${parts.join("\n\n")}\n`
}

function wrap(text: string): string {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columnsMax) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line].join("\n")
}
