/**
 * AuthZEN's ids are any text, an object's id in the engine is not: no white space, no `:`, no `#`. Those characters, NUL, and a `*` that is the whole id are written as
 * `%XX`; so is a `%` that would otherwise read as one of those. Everything else stays as it is (`rick@the-citadel.com`), so that ids that were written as tuples
 * are found as they are.
 */
export function encodeId(id: string): string {
  if (id === "*") return "%2A"
  return /[\t\n\f\r #:%\0]/.test(id) ? id.replace(unwritable, escaped) : id
}

/** The other way round: what `encodeId` made of an id is that id again. */
export function decodeId(text: string): string {
  if (!text.includes("%")) return text
  return text.replace(/%([0-9A-Fa-f]{2})/g, (whole, digits: string) => {
    const code = Number.parseInt(digits, 16)
    return code < 0x80 ? String.fromCharCode(code) : whole
  })
}

const unwritable = /[\t\n\f\r #:\0]|%(?=[0-7][0-9A-Fa-f])/g

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
}
