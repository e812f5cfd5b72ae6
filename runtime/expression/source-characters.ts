/** Takes note of mistakes. */
export interface Reporter {
  /** A mistake between two offsets. */
  mistake(message: string, start: number, end: number): void
}

/** A literal read from a source, and where it ends. */
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

/** Whether this UTF-16 unit can be inside of a name. */
export function isNamePart(code: number): boolean {
  return code < 128 && nameCodes[code] !== 0
}

/** Where the name or number that goes through `from` ends. */
export function nameEnd(source: string, from: number): number {
  let end = from
  while (isNamePart(source.charCodeAt(end))) end++
  return end
}

/** The words the language keeps for the languages around it. They can name fields, and variables where a place declares them. */
export const reservedWords: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
)

/** A part of a source for a message: one line, not long. */
export function excerpt(part: string): string {
  const line = part.replace(/\s+/g, " ")
  return line.length > 40 ? `${line.slice(0, 39)}…` : line
}
