/** The five entities of XML. There are no others: a document can't declare any. */
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** A character as it is meant, and how many characters it is written with. */
export interface Character {
  readonly character: string
  readonly length: number
}

/**
 * The character at a place, an entity (`&lt;`, `&#60;`, `&#x3C;`) being the character it stands for. Tools that export documents escape what is
 * escaped already, so `&amp;quot;` counts as `"` too where `twice`.
 */
export function characterAt(text: string, at: number, twice = true): Character {
  const character = text[at] ?? ""
  if (character !== "&") return { character, length: character === "" ? 0 : 1 }
  return readEntity(text, at, twice) ?? { character, length: 1 }
}

/** The entity at a place, if one is there. */
export function readEntity(text: string, at: number, twice: boolean): Character | undefined {
  const found = /^&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|([a-z]{2,4}));/.exec(text.slice(at, at + 12))
  if (found === null) return undefined
  const [written, decimal, hex, name] = found
  if (name !== undefined) {
    const character = entities[name]
    if (character === undefined) return undefined
    const inner =
      twice && name === "amp" ? readEntity(`&${text.slice(at + 5, at + 17)}`, 0, false) : undefined
    // `&amp;amp;` stays `&amp;` + `;`-less text only where nobody escaped twice; in code `&amp;` is never meant.
    if (inner !== undefined) return { character: inner.character, length: 4 + inner.length }
    return { character, length: written.length }
  }
  const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number.parseInt(decimal, 10)
  const character = characterOf(code)
  return character === undefined ? undefined : { character, length: written.length }
}

/** Undefined for what is no character of XML 1.0 (section 2.2). */
function characterOf(code: number): string | undefined {
  const allowed =
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff))
  return allowed && code !== 0xfffe && code !== 0xffff ? String.fromCodePoint(code) : undefined
}
