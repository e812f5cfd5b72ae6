/** One attribute of a name: its type in capital letters (`CN`, or a dotted OID) and its value. */
interface Attribute {
  readonly type: string
  readonly value: string
}

const typePattern = /^(?:[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)$/
const utf8 = new TextDecoder("utf-8", { fatal: true })

/**
 * A distinguished name in one spelling, so that names can be compared as texts: types in capital letters, no blanks around separators, the fewest
 * escapes. Values are compared exactly, with their letter case. Undefined when the text is no name in the form of RFC 4514 (`CN=ci,O=Acme`).
 */
export function canonicalName(text: string): string | undefined {
  const names: Attribute[][] = [[]]
  const scan = new Scan(text)
  for (;;) {
    const attribute = scan.attribute()
    if (attribute === undefined) return undefined
    names.at(-1)?.push(attribute)
    const separator = scan.separator()
    if (separator === "") break
    if (separator === ",") names.push([])
  }
  return names.map(relativeName).join(",")
}

/**
 * The name of a certificate in the same spelling. `lines`: the subject or issuer as Node gives it, with one relative name a line, the most general
 * first, and escapes of RFC 2253. Undefined when a value has no text.
 */
export function canonicalNameOf(lines: string): string | undefined {
  return canonicalName(lines.split("\n").toReversed().join(","))
}

/** The attributes of one relative name have no order (RFC 4514 §2.2). */
function relativeName(attributes: readonly Attribute[]): string {
  return attributes
    .map(({ type, value }) => `${type}=${escaped(value)}`)
    .toSorted()
    .join("+")
}

function escaped(value: string): string {
  return value
    .replace(/[\\,+"<>;]/g, "\\$&")
    .replace(/^[ #]/, "\\$&")
    .replace(/ $/, "\\ ")
    .replace(/\p{Cc}/gu, (control) =>
      [...new TextEncoder().encode(control)]
        .map((byte) => `\\${byte.toString(16).padStart(2, "0").toUpperCase()}`)
        .join(""),
    )
}

/** Reads a name from left to right (RFC 4514 §3). */
class Scan {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The character that ended an attribute; empty at the end of the text. */
  separator(): string {
    return this.#text[this.#at++] ?? ""
  }

  attribute(): Attribute | undefined {
    const equals = this.#text.indexOf("=", this.#at)
    const type = equals < 0 ? "" : this.#text.slice(this.#at, equals).trim()
    if (!typePattern.test(type)) return undefined
    this.#at = equals + 1
    const value = this.#value()
    return value === undefined ? undefined : { type: type.toUpperCase(), value }
  }

  /** Undefined for an empty value, a form in hexadecimal (`#…`) or quotes, and for invalid escapes. */
  #value(): string | undefined {
    while (this.#text[this.#at] === " ") this.#at += 1
    if (this.#text[this.#at] === "#") return undefined
    const bytes: number[] = []
    const encoder = new TextEncoder()
    // Blanks at the end belong to the value only when they are escaped.
    let end = 0
    for (; this.#at < this.#text.length; this.#at += 1) {
      const character = this.#text[this.#at] as string
      if (character === "," || character === "+") break
      if ('"<>;'.includes(character)) return undefined
      if (character === "\\") {
        const byte = this.#escape()
        if (byte === undefined) return undefined
        bytes.push(byte)
        end = bytes.length
        continue
      }
      const whole = String.fromCodePoint(this.#text.codePointAt(this.#at) as number)
      this.#at += whole.length - 1
      bytes.push(...encoder.encode(whole))
      if (whole !== " ") end = bytes.length
    }
    try {
      return end === 0 ? undefined : utf8.decode(Uint8Array.from(bytes.slice(0, end)))
    } catch {
      return undefined
    }
  }

  /** The byte of an escape: two digits in hexadecimal, or a character that has a meaning. Stops at its last character. */
  #escape(): number | undefined {
    const digits = this.#text.slice(this.#at + 1, this.#at + 3)
    if (/^[0-9A-Fa-f]{2}$/.test(digits)) {
      this.#at += 2
      return Number.parseInt(digits, 16)
    }
    this.#at += 1
    const character = this.#text[this.#at]
    return character !== undefined && ' #=\\,+"<>;'.includes(character) ? character.charCodeAt(0) : undefined
  }
}
