/** Receives mistakes. */
export interface Reporter {
  /** A mistake between two offsets. */
  mistake(message: string, start: number, end: number): void
}

/** A literal and its end in the source. */
export interface Literal {
  readonly value: unknown
  readonly end: number
}

/** Letters, digits and the underscore of ASCII, by code. */
const nameCodes = new Uint8Array(128)
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
  nameCodes[character.charCodeAt(0)] = 1
for (const digit of "0123456789") nameCodes[digit.charCodeAt(0)] = 2

/** Whether a name can start with this UTF-16 unit. */
export function isNameStart(code: number): boolean {
  return code < 128 && nameCodes[code] === 1
}

/** Whether a name can contain this UTF-16 unit. */
export function isNamePart(code: number): boolean {
  return code < 128 && nameCodes[code] !== 0
}

/** The end of the name or number that continues at `from`. */
export function nameEnd(source: string, from: number): number {
  let end = from
  while (isNamePart(source.charCodeAt(end))) end++
  return end
}

/** Words that the language reserves for host languages. They can name fields, and variables if a place declares them. */
export const reservedWords: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
)

/** A part of a source for a message: shortened and on one line. */
export function excerpt(part: string): string {
  const line = part.replace(/\s+/g, " ")
  return line.length > 40 ? `${line.slice(0, 39)}…` : line
}
