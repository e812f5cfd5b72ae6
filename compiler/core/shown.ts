const charactersMax = 60
/** OpenFGA's names have up to 254 characters, and its sentences repeat what is longer as it is. */
const wordCharactersMax = 600
const longWords = new RegExp(`[^\\s\`'"]{${wordCharactersMax},}`, "g")

/** A user's text as findings repeat it: on one line, and cut where it is longer than a line. */
export function shown(text: string): string {
  const start = text.slice(0, 2 * charactersMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line.
  const characters = [...start.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\u{fffd}")]
  const fits = characters.length <= charactersMax && start.length === text.length
  return fits ? characters.join("") : `${characters.slice(0, charactersMax).join("")}…`
}

/** A sentence that repeats words of a user: those that are much longer than any name can be are cut. */
export function brief(sentence: string): string {
  return sentence.length < wordCharactersMax ? sentence : sentence.replace(longWords, shown)
}

// Marks that change the direction of writing (a file can be made to look different from what it says), line separators
// that editors count and other tools do not, and characters without a width. Joiners have a meaning in scripts and emoji.
const deceptive = "\\u180e\\u200b\\u2028\\u2029\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff"

/**
 * A pattern for one character nobody can see: control characters other than tab and newline, a carriage return without
 * a newline, direction overrides and isolates, line and paragraph separators, characters without a width. A new one for each caller, because
 * patterns carry the place of their last match.
 */
export function unseen(flags: "g" | "y"): RegExp {
  return new RegExp(`(?![\\t\\n]|\\r\\n)[\\p{Cc}${deceptive}]`, `u${flags}`)
}
