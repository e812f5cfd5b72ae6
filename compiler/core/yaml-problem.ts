interface YamlError {
  readonly code: string
  readonly pos: readonly [number, number]
  readonly message: string
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
 * The errors of a file that are worth reporting. After the first syntax error the parser guesses, and later errors are its consequences. A
 * tab is reported after its consequences on the line before. Each duplicate key is a mistake of its own.
 */
export function yamlCauses<Found extends YamlError>(errors: readonly Found[]): readonly Found[] {
  const form = errors.filter(({ code }) => code !== "DUPLICATE_KEY")
  if (form.length === 0) return errors.slice(0, shownMax)
  const first = form.reduce((a, b) => (b.pos[0] < a.pos[0] ? b : a))
  return [form.find(({ code }) => code === "TAB_AS_INDENT") ?? first]
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
