import { CliError } from "../command.ts"

/** A parsed line of the shell: its words, and the JSON at its end. */
export interface Words {
  readonly words: readonly string[]
  /** The JSON from the first word that begins with `{`. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** Spaces separate words; `"…"` and `'…'` quote them; a word that begins with `{` is JSON up to the end of the line. */
export function wordsOf(line: string): Words {
  const words: string[] = []
  for (let rest = line.trim(); rest !== ""; ) {
    if (rest.startsWith("{")) return { words, json: jsonOf(rest) }
    const [, double, single, plain] = /^(?:"([^"]*)"|'([^']*)'|([^\s]+))(?=\s|$)/.exec(rest) ?? []
    const word = double ?? single ?? plain
    if (word === undefined || /^["']/.test(plain ?? ""))
      throw new CliError(
        `a quote is not closed: ${rest}`,
        "Close it or remove it: a word cannot contain spaces.",
      )
    words.push(word)
    rest = rest.slice(word.length + (plain === undefined ? 2 : 0)).trimStart()
  }
  return { words, json: undefined }
}

/** The context at the end of a line. */
function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (error) {
    throw new CliError(
      `the context is not JSON: ${(error as Error).message}`,
      'Write one JSON object at the end of the line: {"hour": 9}',
    )
  }
}
