interface YamlError {
  readonly code: string
  readonly pos: readonly [number, number]
  readonly message: string
}

const shownMax = 10

/** Messages of the parser about YAML's inner workings, and what they mean for the author of the file. */
const worded: readonly (readonly [string, string])[] = [
  ["implicit keys need to be on a single line", "no `: ` ends the key that begins here"],
  ["nested mappings are not allowed in compact mappings", "the text holds `: ` and has no quotes"],
  ["must be sufficiently indented and end with a }", "no `}` before this line closes a `{`"],
  ["must be sufficiently indented and end with a ]", "no `]` before this line closes a `[`"],
]

/**
 * The errors of a file worth telling. Behind the first mistake of form the parser goes on with a guess, and what it finds then follows from
 * that; a tab is found behind what it made of the line before. Keys that are there twice are as many mistakes.
 */
export function yamlCauses<Found extends YamlError>(errors: readonly Found[]): readonly Found[] {
  const form = errors.filter(({ code }) => code !== "DUPLICATE_KEY")
  if (form.length === 0) return errors.slice(0, shownMax)
  const first = form.reduce((a, b) => (b.pos[0] < a.pos[0] ? b : a))
  return [form.find(({ code }) => code === "TAB_AS_INDENT") ?? first]
}

/**
 * What the YAML parser found, in the words of our messages: without its own place, and without its end of the stack, which is all it
 * says of values nested by the thousand.
 */
export function yamlProblem(message: string): string {
  if (/call stack/i.test(message)) return "values are nested too deeply here"
  if (/multiple documents/i.test(message)) return "another document begins here: a file has one"
  const known = worded.find(([words]) => message.toLowerCase().includes(words))
  if (known !== undefined) return known[1]
  const said = message.replace(/ at line \d+.*$/s, "").replace(/\.$/, "")
  return said.charAt(0).toLowerCase() + said.slice(1)
}
