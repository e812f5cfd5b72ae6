const beyondAscii = /[\x80-\xff]/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
/**
 * Header fields in order, as a flat array of lower-case names and values in turn: the form that Node and undici take, so that an untouched
 * message is passed on without a copy. Names given to the methods are lower-case (the plan's are).
 */
export class HeaderList {
  /** Read it, hand it on; change it by the methods only. */
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

  /** How many lines have this name. */
  count(name: string): number {
    const { flat } = this
    let found = 0
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) found += 1
    return found
  }

  /** One line instead of all there were, in the place of the first. */
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

  /** One more line. */
  append(name: string, value: string): void {
    this.flat.push(name, value)
  }

  remove(name: string): void {
    this.#removeFrom(name, 0)
  }

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

/** A name as it is usually written (`Content-Type`): what is published compares names it goes through letter by letter. */
export function usualSpelling(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
}

/**
 * A field's value as text. Fields are bytes (RFC 9110 §5.5), which Node gives as Latin-1: where the bytes are UTF-8, as nearly everybody writes them, that is what they mean, else
 * they are Latin-1. What is written into a field is UTF-8 (`headerText` of grammars.ts), so that a value that was read goes out as it came.
 */
export function fieldText(value: string): string {
  if (!beyondAscii.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}
