import type { Exchange } from "../policies/exchange.ts"
import { fieldText, type HeaderList, usualSpelling } from "../policies/messages/header-list.ts"
import { allFields, ownField } from "../policies/messages/own-fields.ts"
import type { PolicyLists } from "./csharp/ports.ts"

/** The fields of a message for `Headers` of a program. */
export class Headers implements PolicyLists {
  readonly #flat: readonly string[]

  constructor({ flat }: Pick<HeaderList, "flat">) {
    this.#flat = flat
  }
  // No map: a program asks for one or two of a few dozen fields.
  get(name: string): readonly string[] | undefined {
    const flat = this.#flat
    const lower = name.toLowerCase()
    let found: string[] | undefined
    for (let at = 0; at < flat.length; at += 2) {
      if (flat[at] !== lower) continue
      const text = fieldText(flat[at + 1] as string)
      if (found === undefined) found = [text]
      else found.push(text)
    }
    return found
  }
  joined(name: string): string | undefined {
    const flat = this.#flat
    const lower = name.toLowerCase()
    let found: string | undefined
    for (let at = 0; at < flat.length; at += 2) {
      if (flat[at] !== lower) continue
      const text = fieldText(flat[at + 1] as string)
      found = found === undefined ? text : `${found},${text}`
    }
    return found
  }
  *entries(): Iterable<readonly [string, readonly string[]]> {
    // Names and values alternate in the list; names are in lower case.
    const names = new Set(this.#flat.filter((_, index) => index % 2 === 0))
    for (const name of names) yield [usualSpelling(name), this.get(name) ?? []]
  }
}

/** The fields of the request, including those that the exchange keeps separately. */
export class RequestHeaders extends Headers {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    super(exchange.headers)
    this.#exchange = exchange
  }
  override get(name: string): readonly string[] | undefined {
    // Fields that the exchange keeps separately (Host, X-Forwarded-For) come first: they replace those of the list.
    const own = ownField(this.#exchange, name)
    return own === undefined ? super.get(name) : [own]
  }
  override joined(name: string): string | undefined {
    return ownField(this.#exchange, name) ?? super.joined(name)
  }
  override *entries(): Iterable<readonly [string, readonly string[]]> {
    yield* new Headers({ flat: allFields(this.#exchange) }).entries()
  }
}
