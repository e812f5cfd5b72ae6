const beyondAscii = /[\x80-\xff]/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
/**
 * Header fields in order, as a flat array in which lower-case names and values alternate: the format of Node and undici, so that an unchanged message
 * is forwarded without a copy. Methods expect lower-case names (those in the plan are).
 */
export class HeaderList {
  /** May be read and passed on; changes go only through the methods. */
  readonly flat: string[]

  constructor(flat: string[] = []) {
    this.flat = flat
  }

  /** Value of the first line with this name. */
  get(name: string): string | undefined {
    const { flat } = this
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) return flat[at + 1]
    return undefined
  }

  /** Number of lines with this name. */
  count(name: string): number {
    const { flat } = this
    let found = 0
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) found += 1
    return found
  }

  /** Replaces all lines with this name by one, at the position of the first. */
  set(name: string, value: string): void {
    const { flat } = this
    for (let at = 0; at < flat.length; at += 2) {
      if (flat[at] !== name) continue
      flat[at + 1] = value
      this.#removeFrom(name, at + 2)
      return
    }
    flat.push(name, value)
  }

  /** Adds a line. */
  append(name: string, value: string): void {
    this.flat.push(name, value)
  }

  remove(name: string): void {
    this.#removeFrom(name, 0)
  }

  /** Removes all fields of a name from an index on, in place. */
  #removeFrom(name: string, from: number): void {
    const { flat } = this
    let to = from
    for (let at = from; at < flat.length; at += 2) {
      if (flat[at] === name) continue
      if (to !== at) {
        flat[to] = flat[at] as string
        flat[to + 1] = flat[at + 1] as string
      }
      to += 2
    }
    flat.length = to
  }
}

/** A name in its usual spelling (`Content-Type`): published policy documents compare names case-sensitively. */
export function usualSpelling(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
}

/**
 * A field's value as text. Fields are bytes (RFC 9110 §5.5), which Node returns as Latin-1. Valid UTF-8 is decoded, anything else stays Latin-1.
 * Written fields are UTF-8 (`headerText` of grammars.ts), so a value that was read goes out unchanged.
 */
export function fieldText(value: string): string {
  if (!beyondAscii.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}
