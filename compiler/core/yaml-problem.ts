interface YamlError {
  readonly code: string
  readonly pos: readonly [number, number]
  readonly message: string
}

/** A mistake in the form of a YAML file, in our wording. Offsets are UTF-16 units. `help` replaces that of the finding's code. */
export interface YamlProblem {
  readonly start: number
  readonly end: number
  readonly detail: string
  readonly help?: string
}

const shownMax = 10

/** Parser messages about YAML internals, and texts that users understand. */
const worded: readonly (readonly [string, string])[] = [
  ["implicit keys need to be on a single line", "the key that starts here has no `: ` after it"],
  ["nested mappings are not allowed in compact mappings", "the string contains `: ` and has no quotes"],
  ["must be sufficiently indented and end with a }", "no `}` before this line closes a `{`"],
  ["must be sufficiently indented and end with a ]", "no `]` before this line closes a `[`"],
  ["map keys must be unique", "this key is given twice"],
]

/**
 * The mistakes of a file that are worth reporting. After the first syntax error the parser guesses, and later errors are its consequences. A
 * tab is reported after its consequences on the line before. Each duplicate key is a mistake of its own.
 */
export function yamlProblems(errors: readonly YamlError[], text: string): readonly YamlProblem[] {
  const form = errors.filter(({ code }) => code !== "DUPLICATE_KEY")
  if (form.length === 0)
    return errors
      .slice(0, shownMax)
      .map((error) => ({ ...placeOf(error, text), help: "Remove one of the two." }))
  const first = form.reduce((a, b) => (b.pos[0] < a.pos[0] ? b : a))
  const tab = form.find(({ code }) => code === "TAB_AS_INDENT")
  if (tab !== undefined) return [placeOf(tab, text)]
  return [
    unclosedQuote(first, text) ??
      unclosedBracket(first, text) ??
      tooDeep(first, text) ??
      placeOf(first, text),
  ]
}

function placeOf({ pos, message }: YamlError, text: string): YamlProblem {
  const start = Math.min(pos[0], text.length)
  return { start, end: Math.max(start, Math.min(pos[1], text.length)), detail: yamlProblem(message) }
}

/**
 * A `"` without its other half, at the first line before the error with an odd number of them: the parser pairs it with the next one, and
 * reports what it finds behind that. Undefined if there are strings of several lines, which have two such lines.
 */
function unclosedQuote({ pos }: YamlError, text: string): YamlProblem | undefined {
  const odd = [...text.matchAll(/^.*$/gm)].filter(({ 0: line }) => quotesOf(line).length % 2 === 1)
  const [line] = odd
  if (line === undefined || odd.length % 2 === 0 || line.index > pos[0]) return undefined
  const quotes = quotesOf(line[0])
  // The first one that what follows its pair cannot follow; else the last one.
  const at = quotes.find((_, index) => {
    const closing = index % 2 === 0 ? quotes[index + 1] : undefined
    return closing !== undefined && !/^[\s,\]}:]|^$/.test(line[0].slice(closing + 1, closing + 2))
  })
  const start = line.index + (at ?? quotes.at(-1) ?? 0)
  return {
    ...{ start, end: start + 1, detail: 'this `"` has no closing `"` on its line' },
    help: 'Add the missing `"`.',
  }
}

/** Columns of the double quotes of a line that are not escaped, and outside of comments and single quotes. */
function quotesOf(line: string): number[] {
  const code = line.replace(/(?:^|\s)#.*$|'[^']*'|\\./g, (found) => " ".repeat(found.length))
  return [...code.matchAll(/"/g)].map(({ index }) => index)
}

/** The bracket that has no end: the last one open on the nearest line above the error. */
function unclosedBracket({ pos, message }: YamlError, text: string): YamlProblem | undefined {
  const sign = /must be sufficiently indented and end with a ([\]}])/.exec(message)?.[1]
  if (sign === undefined) return undefined
  const lines = text.slice(0, pos[0]).split("\n")
  let end = pos[0]
  // The bracket may be some lines above, but not many.
  for (const line of lines.reverse().slice(0, 100)) {
    const start = end - line.length
    const column = openBracket(line, sign === "}" ? "{" : "[", sign)
    if (column !== undefined) {
      const opener = text[start + column]
      return {
        ...{
          start: start + column,
          end: start + column + 1,
          detail: `no \`${sign}\` closes this \`${opener}\``,
        },
        help: `Add the missing \`${sign}\`.`,
      }
    }
    end = start - 1
  }
  return undefined
}

/** Column of the last `opener` of a line that the line does not close. */
function openBracket(line: string, opener: string, closer: string): number | undefined {
  const code = line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'|(?:^|\s)#.*$/g, (found) => " ".repeat(found.length))
  const open: number[] = []
  for (const [column, sign] of [...code].entries()) {
    if (sign === opener) open.push(column)
    else if (sign === closer) open.pop()
  }
  return open.at(-1)
}

/** A key that is indented deeper than the key of the line before, which already has a value. */
function tooDeep({ pos, message }: YamlError, text: string): YamlProblem | undefined {
  if (
    !/nested mappings are not allowed in compact mappings|all mapping items must start at the same column|bad indentation/i.test(
      message,
    )
  )
    return undefined
  const lineStart = text.lastIndexOf("\n", pos[0] - 1) + 1
  const pair = /^([ -]*)[^\s:#][^:#]*:[ ]+[^\n]*\n(?:[ ]*\n)*([ ]+)[^\s:#-][^:#\n]*:(?=\s)/.exec(
    text.slice(lineStart),
  )
  const [, above = "", own = ""] = pair ?? []
  if (pair === null || own.length <= above.length) return undefined
  const end = lineStart + pair[0].length
  const start = text.lastIndexOf("\n", end - 1) + 1
  return {
    ...{ start: start + own.length, end },
    detail: "this key is indented deeper than the one before, which already has a value",
    help: `Indent it by ${above.length} spaces, like the key before.`,
  }
}

/**
 * The message of the YAML parser in our wording, without its own place. For very deeply nested values the parser only reports a stack
 * overflow.
 */
export function yamlProblem(message: string): string {
  if (/call stack/i.test(message)) return "values are nested too deeply here"
  if (/multiple documents/i.test(message))
    return "a second document starts here, but a file can contain only one"
  const known = worded.find(([words]) => message.toLowerCase().includes(words))
  if (known !== undefined) return known[1]
  const said = message.replace(/ at line \d+.*$/s, "").replace(/\.$/, "")
  return said.charAt(0).toLowerCase() + said.slice(1)
}
