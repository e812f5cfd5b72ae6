// Characters that get into a file by pasting from a web page or word processor, or from a keyboard of another script, with their Unicode
// names. Of look-alikes (Unicode's confusables) only those that typefaces draw like a single ASCII character.

/** Characters that look like a space and separate nothing. */
const spaces: readonly (readonly [number, string])[] = [
  [0x00a0, "NO-BREAK SPACE"],
  [0x1680, "OGHAM SPACE MARK"],
  [0x2000, "EN QUAD"],
  [0x2001, "EM QUAD"],
  [0x2002, "EN SPACE"],
  [0x2003, "EM SPACE"],
  [0x2004, "THREE-PER-EM SPACE"],
  [0x2005, "FOUR-PER-EM SPACE"],
  [0x2006, "SIX-PER-EM SPACE"],
  [0x2007, "FIGURE SPACE"],
  [0x2008, "PUNCTUATION SPACE"],
  [0x2009, "THIN SPACE"],
  [0x200a, "HAIR SPACE"],
  [0x202f, "NARROW NO-BREAK SPACE"],
  [0x205f, "MEDIUM MATHEMATICAL SPACE"],
  [0x3000, "IDEOGRAPHIC SPACE"],
]

/** Characters that are not visible, or change the direction of text. */
const hidden: readonly (readonly [number, string])[] = [
  [0x00ad, "SOFT HYPHEN"],
  [0x034f, "COMBINING GRAPHEME JOINER"],
  [0x061c, "ARABIC LETTER MARK"],
  [0x115f, "HANGUL CHOSEONG FILLER"],
  [0x1160, "HANGUL JUNGSEONG FILLER"],
  [0x180e, "MONGOLIAN VOWEL SEPARATOR"],
  [0x200b, "ZERO WIDTH SPACE"],
  [0x200c, "ZERO WIDTH NON-JOINER"],
  [0x200d, "ZERO WIDTH JOINER"],
  [0x200e, "LEFT-TO-RIGHT MARK"],
  [0x200f, "RIGHT-TO-LEFT MARK"],
  [0x2028, "LINE SEPARATOR"],
  [0x2029, "PARAGRAPH SEPARATOR"],
  [0x202a, "LEFT-TO-RIGHT EMBEDDING"],
  [0x202b, "RIGHT-TO-LEFT EMBEDDING"],
  [0x202c, "POP DIRECTIONAL FORMATTING"],
  [0x202d, "LEFT-TO-RIGHT OVERRIDE"],
  [0x202e, "RIGHT-TO-LEFT OVERRIDE"],
  [0x2060, "WORD JOINER"],
  [0x2061, "FUNCTION APPLICATION"],
  [0x2062, "INVISIBLE TIMES"],
  [0x2063, "INVISIBLE SEPARATOR"],
  [0x2064, "INVISIBLE PLUS"],
  [0x2066, "LEFT-TO-RIGHT ISOLATE"],
  [0x2067, "RIGHT-TO-LEFT ISOLATE"],
  [0x2068, "FIRST STRONG ISOLATE"],
  [0x2069, "POP DIRECTIONAL ISOLATE"],
  [0x3164, "HANGUL FILLER"],
  [0xfeff, "ZERO WIDTH NO-BREAK SPACE"],
  [0xffa0, "HALFWIDTH HANGUL FILLER"],
]

/** Letters of other scripts that look like Latin ones, each with the Latin letter. */
const lookAlikes: readonly (readonly [number, string, string])[] = [
  [0x0430, "CYRILLIC SMALL LETTER A", "a"],
  [0x0435, "CYRILLIC SMALL LETTER IE", "e"],
  [0x043e, "CYRILLIC SMALL LETTER O", "o"],
  [0x0440, "CYRILLIC SMALL LETTER ER", "p"],
  [0x0441, "CYRILLIC SMALL LETTER ES", "c"],
  [0x0443, "CYRILLIC SMALL LETTER U", "y"],
  [0x0445, "CYRILLIC SMALL LETTER HA", "x"],
  [0x0456, "CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I", "i"],
  [0x0455, "CYRILLIC SMALL LETTER DZE", "s"],
  [0x0458, "CYRILLIC SMALL LETTER JE", "j"],
  [0x0501, "CYRILLIC SMALL LETTER KOMI DE", "d"],
  [0x04bb, "CYRILLIC SMALL LETTER SHHA", "h"],
  [0x051b, "CYRILLIC SMALL LETTER QA", "q"],
  [0x051d, "CYRILLIC SMALL LETTER WE", "w"],
  [0x0410, "CYRILLIC CAPITAL LETTER A", "A"],
  [0x0412, "CYRILLIC CAPITAL LETTER VE", "B"],
  [0x0415, "CYRILLIC CAPITAL LETTER IE", "E"],
  [0x041a, "CYRILLIC CAPITAL LETTER KA", "K"],
  [0x041c, "CYRILLIC CAPITAL LETTER EM", "M"],
  [0x041d, "CYRILLIC CAPITAL LETTER EN", "H"],
  [0x041e, "CYRILLIC CAPITAL LETTER O", "O"],
  [0x0420, "CYRILLIC CAPITAL LETTER ER", "P"],
  [0x0421, "CYRILLIC CAPITAL LETTER ES", "C"],
  [0x0422, "CYRILLIC CAPITAL LETTER TE", "T"],
  [0x0425, "CYRILLIC CAPITAL LETTER HA", "X"],
  [0x0406, "CYRILLIC CAPITAL LETTER BYELORUSSIAN-UKRAINIAN I", "I"],
  [0x0405, "CYRILLIC CAPITAL LETTER DZE", "S"],
  [0x0408, "CYRILLIC CAPITAL LETTER JE", "J"],
  [0x050c, "CYRILLIC CAPITAL LETTER KOMI SJE", "G"],
  [0x04c0, "CYRILLIC LETTER PALOCHKA", "I"],
  [0x0423, "CYRILLIC CAPITAL LETTER U", "Y"],
  [0x03b1, "GREEK SMALL LETTER ALPHA", "a"],
  [0x03b3, "GREEK SMALL LETTER GAMMA", "y"],
  [0x03b9, "GREEK SMALL LETTER IOTA", "i"],
  [0x03ba, "GREEK SMALL LETTER KAPPA", "k"],
  [0x03bd, "GREEK SMALL LETTER NU", "v"],
  [0x03bf, "GREEK SMALL LETTER OMICRON", "o"],
  [0x03c1, "GREEK SMALL LETTER RHO", "p"],
  [0x03c5, "GREEK SMALL LETTER UPSILON", "u"],
  [0x0391, "GREEK CAPITAL LETTER ALPHA", "A"],
  [0x0392, "GREEK CAPITAL LETTER BETA", "B"],
  [0x0395, "GREEK CAPITAL LETTER EPSILON", "E"],
  [0x0396, "GREEK CAPITAL LETTER ZETA", "Z"],
  [0x0397, "GREEK CAPITAL LETTER ETA", "H"],
  [0x0399, "GREEK CAPITAL LETTER IOTA", "I"],
  [0x039a, "GREEK CAPITAL LETTER KAPPA", "K"],
  [0x039c, "GREEK CAPITAL LETTER MU", "M"],
  [0x039d, "GREEK CAPITAL LETTER NU", "N"],
  [0x039f, "GREEK CAPITAL LETTER OMICRON", "O"],
  [0x03a1, "GREEK CAPITAL LETTER RHO", "P"],
  [0x03a4, "GREEK CAPITAL LETTER TAU", "T"],
  [0x03a5, "GREEK CAPITAL LETTER UPSILON", "Y"],
  [0x03a7, "GREEK CAPITAL LETTER CHI", "X"],
  [0x0131, "LATIN SMALL LETTER DOTLESS I", "i"],
  [0x0261, "LATIN SMALL LETTER SCRIPT G", "g"],
  [0x2113, "SCRIPT SMALL L", "l"],
  [0x2010, "HYPHEN", "-"],
  [0x2011, "NON-BREAKING HYPHEN", "-"],
  [0x2012, "FIGURE DASH", "-"],
  [0x2013, "EN DASH", "-"],
  [0x2014, "EM DASH", "-"],
  [0x2015, "HORIZONTAL BAR", "-"],
  [0x2212, "MINUS SIGN", "-"],
  [0x2215, "DIVISION SLASH", "/"],
  [0x2044, "FRACTION SLASH", "/"],
  [0x2217, "ASTERISK OPERATOR", "*"],
  [0x2236, "RATIO", ":"],
]

/** A character that looks like another one or is invisible. */
export interface OddCharacter {
  readonly kind: "space" | "hidden" | "look-alike"
  /** `U+00A0 NO-BREAK SPACE`. */
  readonly name: string
  /** The character it looks like. */
  readonly plain: string
}

const known: ReadonlyMap<number, OddCharacter> = new Map([
  ...spaces.map((row) => entry("space", row, " ")),
  ...hidden.map((row) => entry("hidden", row, "")),
  ...lookAlikes.map((row) => entry("look-alike", row, row[2])),
])

function entry(
  kind: OddCharacter["kind"],
  [code, name]: readonly [number, string, string?],
  plain: string,
): readonly [number, OddCharacter] {
  return [code, { kind, name: `${numberOf(code)} ${name}`, plain }]
}

/** The odd character at an offset of a text, if there is one. */
export function oddCharacterAt(text: string, offset: number): OddCharacter | undefined {
  const code = text.charCodeAt(offset)
  if (Number.isNaN(code) || code < 0x80) return undefined
  // Full-width forms of ASCII, in ASCII order.
  if (code > 0xff00 && code < 0xff5f) {
    const plain = String.fromCharCode(code - 0xfee0)
    return { kind: "look-alike", name: `${numberOf(code)}, the full-width form of \`${plain}\``, plain }
  }
  return known.get(code)
}

/** The finding about an odd character: the end of a detail, and the remedy. */
export function tellOdd(
  text: string,
  offset: number,
): { readonly detail: string; readonly help: string } | undefined {
  const odd = oddCharacterAt(text, offset)
  if (odd === undefined) return undefined
  const { kind, name, plain } = odd
  if (kind === "space")
    return {
      detail: `${name} looks like a space but is a different character`,
      help: "Replace it with a plain space.",
    }
  if (kind === "hidden") return { detail: `there is an invisible ${name} here`, help: "Remove it." }
  const detail = `\`${text[offset]}\` is ${name}; it looks like \`${plain}\``
  return { detail, help: `Replace it with the plain \`${plain}\`.` }
}

/** A name as displayed: odd characters are replaced by the characters they look like. */
export function asItLooks(name: string): string {
  return /^[ -~]*$/.test(name)
    ? name
    : [...name].map((sign) => oddCharacterAt(sign, 0)?.plain ?? sign).join("")
}

/** `U+00A0`. */
export function numberOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
}
