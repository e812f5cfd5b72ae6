const charactersMax = 60
/** OpenFGA's names have up to 254 characters. Its error messages repeat longer words unchanged. */
const wordCharactersMax = 600
const longWords = new RegExp(`[^\\s\`'"]{${wordCharactersMax},}`, "g")

/** A user's text for findings: on one line, and cut to the length of a line. */
export function shown(text: string): string {
  const start = text.slice(0, 2 * charactersMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters would break the line.
  const characters = [...start.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\u{fffd}")]
  const fits = characters.length <= charactersMax && start.length === text.length
  return fits ? characters.join("") : `${characters.slice(0, charactersMax).join("")}…`
}

/** Cuts overlong words of a user in a sentence: those that are much longer than any name. */
export function brief(sentence: string): string {
  return sentence.length < wordCharactersMax ? sentence : sentence.replace(longWords, shown)
}

// Direction controls (they can make a file look different from its content), line separators that only some tools count, and zero-width
// characters. Joiners are allowed, because scripts and emoji need them.
const deceptive = "\\u180e\\u200b\\u2028\\u2029\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff"

/**
 * A pattern for one invisible character: control characters except tab and newline, a carriage return without a newline, direction
 * overrides and isolates, line and paragraph separators, zero-width characters. Each caller needs its own pattern, because it stores the
 * position of the last match.
 */
export function unseen(flags: "g" | "y"): RegExp {
  return new RegExp(`(?![\\t\\n]|\\r\\n)[\\p{Cc}${deceptive}]`, `u${flags}`)
}
