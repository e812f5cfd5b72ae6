import { randomBytes } from "node:crypto"

/** The halves of a canary, joined by a character that URLs and forms escape. Each half is enough to recognize it, also where the rest was cut off. */
const halves = 2
const halfLength = 18

/** A text that occurs nowhere else: 37 characters that may stand in header fields, user infos of URLs and passwords. */
export function newCanary(): string {
  const half = () => randomBytes(halfLength).toString("hex").slice(0, halfLength)
  return Array.from({ length: halves }, half).join("+")
}

/**
 * The texts by which a secret is recognized: as it is or escaped (its halves), in hexadecimal, in Base64 and base64url at each of the three
 * positions in a longer text, and with every character escaped.
 */
export function formsOf(secret: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString("hex")
  const parts = secret.split("+").filter((part) => part.length >= halfLength)
  const forms: [string, string][] = parts.length === 0 ? [["raw", secret]] : []
  parts.forEach((part, at) => void forms.push([`raw, part ${at + 1}`, part]))
  forms.push(
    ["hexadecimal", hex],
    ["hexadecimal in upper case", hex.toUpperCase()],
    ["percent-encoded", hex.replace(/../g, (pair) => `%${pair}`)],
    ["percent-encoded in upper case", hex.toUpperCase().replace(/../g, (pair) => `%${pair}`)],
  )
  for (const before of [0, 1, 2]) {
    const text = base64Within(bytes, before)
    const url = text.replaceAll("+", "-").replaceAll("/", "_")
    forms.push([`Base64 after ${before} bytes`, text])
    if (url !== text) forms.push([`base64url after ${before} bytes`, url])
  }
  return new Map(forms)
}

/** The characters of Base64 that depend on these bytes alone, if `before` bytes precede them. */
function base64Within(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
  const skipped = [0, 2, 3][before] ?? 0
  return whole.slice(skipped, Math.floor(((before + bytes.length) * 8) / 6))
}

/** Everything that a process has written, sent or stored, by its place. */
export class Outputs {
  readonly #texts: { readonly place: string; readonly text: string }[] = []

  add(place: string, text: string): void {
    this.#texts.push({ place, text })
  }

  /** Number of characters. */
  get size(): number {
    return this.#texts.reduce((sum, { text }) => sum + text.length, 0)
  }

  get places(): readonly string[] {
    return [...new Set(this.#texts.map(({ place }) => place))]
  }

  /** Where a secret is, in which form, and with which text before it. */
  find(secret: string): readonly string[] {
    return [...formsOf(secret)].flatMap(([form, needle]) =>
      this.#texts.flatMap(({ place, text }) => {
        const at = text.indexOf(needle)
        return at < 0 ? [] : [`${place}: ${form}: …${text.slice(Math.max(0, at - 120), at + needle.length)}`]
      }),
    )
  }
}
