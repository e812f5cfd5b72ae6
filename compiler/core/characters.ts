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
