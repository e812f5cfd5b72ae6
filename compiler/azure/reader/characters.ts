/** The five entities of XML. A document can't declare others. */
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** A decoded character, and its length in the text. */
export interface Character {
  readonly character: string
  readonly length: number
}

/**
 * The character at a place, with entities decoded (`&lt;`, `&#60;`, `&#x3C;`). Tools that export documents escape text twice, so with `twice`
 * `&amp;quot;` counts as `"` too.
 */
export function characterAt(text: string, at: number, twice = true): Character {
  const character = text[at] ?? ""
  if (character !== "&") return { character, length: character === "" ? 0 : 1 }
  return readEntity(text, at, twice) ?? { character, length: 1 }
}

/** The entity at a place, if there is one. */
export function readEntity(text: string, at: number, twice: boolean): Character | undefined {
  const found = /^&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|([a-z]{2,4}));/.exec(text.slice(at, at + 12))
  if (found === null) return undefined
  const [written, decimal, hex, name] = found
  if (name !== undefined) {
    const character = entities[name]
    if (character === undefined) return undefined
    const inner =
      twice && name === "amp" ? readEntity(`&${text.slice(at + 5, at + 17)}`, 0, false) : undefined
    // With `twice`, `&amp;` before the rest of an entity belongs to a double escape: code never contains an escaped entity on purpose.
    if (inner !== undefined) return { character: inner.character, length: 4 + inner.length }
    return { character, length: written.length }
  }
  const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number.parseInt(decimal, 10)
  const character = characterOf(code)
  return character === undefined ? undefined : { character, length: written.length }
}

/** Undefined for a code that is not a character of XML 1.0 (section 2.2). */
function characterOf(code: number): string | undefined {
  const allowed =
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff))
  return allowed && code !== 0xfffe && code !== 0xffff ? String.fromCodePoint(code) : undefined
}
