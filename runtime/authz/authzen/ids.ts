/**
 * AuthZEN's ids are any text, an object's id in the engine is not: no white space, no `:`, no `#`. Those characters and NUL are written as `%XX`, and so that such text means only
 * that, a `%` before it gets `25` behind it. Everything else stays as it is (`rick@the-citadel.com`, `50%`, `%41`), so that ids that were written as tuples are found as they
 * are. Every id of the engine is that of one AuthZEN id: a list never tells two under one name.
 */
export function encodeId(id: string): string {
  return /[\t\n\f\r #:%\0]/.test(id) ? id.replace(unwritable, escaped) : id
}

/** The other way round. */
export function decodeId(text: string): string {
  return text.includes("%") ? text.replace(written, unescaped) : text
}

/** As `encodeId`, for what `*` is an id like others of: in a tuple it would mean everybody. */
export function encodeResourceId(id: string): string {
  if (id === "*") return "%2A"
  return wholeStar.test(id) ? `%25${id.slice(1)}` : encodeId(id)
}

/** The other way round. */
export function decodeResourceId(text: string): string {
  if (text === "%2A") return "*"
  return wholeStar.test(text) ? `%${text.slice(3)}` : decodeId(text)
}

const wholeStar = /^%(?:25)*2A$/
const unwritable = /[\t\n\f\r #:\0]|%(?=(?:25)*(?:00|09|0A|0C|0D|20|23|3A))/g
const written = /%(?:00|09|0A|0C|0D|20|23|3A|25(?=(?:25)*(?:00|09|0A|0C|0D|20|23|3A)))/g

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
}

function unescaped(text: string): string {
  return String.fromCharCode(Number.parseInt(text.slice(1), 16))
}
