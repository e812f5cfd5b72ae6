import { CodingError, codingsOf, decodeContent } from "../../http/content-coding.ts"
import { hasMoreValues, jsonValuesDefault } from "../../plan/json-scan.ts"
import { fieldsOfBody } from "../../plan/places.ts"
import type { MessageBody } from "../../policies/exchange.ts"
import { jsonTooLarge, problem, Refused } from "../../policies/messages/answer.ts"
import type { HeaderList } from "../../policies/messages/header-list.ts"

/** The message of a body, which decides the status for an invalid one. */
export type Sender = "request" | "response"

/** Reads a whole body that has not been read; rejects with Refused. */
export type ReadAll = () => Promise<Buffer>

/** What is known about a body before it is read. */
export interface BodyOptions {
  readonly sender: Sender
  readonly headers: HeaderList
  readonly present: boolean
  /** Maximum size, both encoded and decoded. */
  readonly bytesMax: number
  /** Maximum number of values and names in JSON. */
  readonly valuesMax?: number | undefined
  readonly read: ReadAll
}

const empty = Buffer.alloc(0)

/** The body of a message in an exchange: read on demand, decoded once, replaceable by policies. */
export class LiveBody implements MessageBody {
  readonly #options: BodyOptions
  #present: boolean
  /** The bytes as received. */
  #raw: Buffer | undefined
  #content: Buffer | undefined
  #loading: Promise<void> | undefined
  #text: string | undefined
  #textType: string | undefined
  #json: unknown
  #replaced = false

  constructor(options: BodyOptions) {
    this.#options = options
    this.#present = options.present
    if (!options.present) this.#content = empty
  }

  get present(): boolean {
    return this.#present
  }

  get content(): Buffer {
    if (this.#content === undefined)
      throw new Error(`the body of the ${this.#options.sender} is used before it was read`)
    return this.#content
  }

  /** The body to send instead of the stream: new content, or the bytes that were read. Undefined: it was not read. */
  get outgoing(): Buffer | undefined {
    return this.#replaced ? this.#content : this.#raw
  }

  get replaced(): boolean {
    return this.#replaced
  }

  load(): Promise<void> | undefined {
    if (this.#content !== undefined) return undefined
    this.#loading ??= this.#load()
    return this.#loading
  }

  get sentBytes(): Buffer {
    if (this.#raw !== undefined) return this.#raw
    if (!this.#options.present) return empty
    throw new Error(
      "the sent bytes of the body are used before they were read, or after the body was replaced",
    )
  }

  /** Reads the bytes as received for `sentBytes`; undefined when nothing has to be read. */
  loadBytes(): Promise<void> | undefined {
    return this.#raw !== undefined || !this.#present ? undefined : this.loadRaw()
  }

  /** Reads the bytes as received, without decoding them. */
  async loadRaw(): Promise<void> {
    if (this.#content !== undefined || this.#raw !== undefined) return
    const raw = await this.#options.read()
    if (!this.#replaced) this.#raw = raw
  }

  /** The content as text, in the charset of its media type. */
  text(): string {
    const type = this.#options.headers.get("content-type")
    // Policies may change the media type, so the text is cached with the type used to decode it.
    if (this.#text === undefined || this.#textType !== type) {
      this.#text = decodeText(this.content, type)
      this.#textType = type
    }
    return this.#text
  }

  /** The content as JSON, parsed once. Null without a body. */
  json(): unknown {
    if (this.#json !== undefined) return this.#json
    if (!this.#present) return null
    this.#checkSize()
    try {
      this.#json = JSON.parse(this.text())
    } catch (error) {
      throw this.#refused("is not JSON", error)
    }
    return this.#json
  }

  /** Checked before parsing, because parsing JSON blocks the event loop. */
  #checkSize(): void {
    const { valuesMax = jsonValuesDefault, sender } = this.#options
    if (!hasMoreValues(this.content, valuesMax)) return
    const cause = `the body of the ${sender} is JSON of more than ${valuesMax} values and names (\`limits { json-values }\`)`
    const name = sender === "request" ? "body-too-large" : "bad-gateway"
    throw new Refused(problem(name, { cause, reason: jsonTooLarge }))
  }

  /** Replaces the content; its fields are already right. */
  replaceAs(content: Buffer): void {
    this.#content = content
    this.#present = content.length > 0
    this.#text = undefined
    this.#json = undefined
    this.#replaced = true
  }

  replace(content: Buffer, media: string | null): void {
    const { headers, sender } = this.#options
    this.replaceAs(content)
    for (const name of fieldsOfBody[sender]) headers.remove(name)
    if (media !== null) headers.set("content-type", media)
  }

  /** Reads the whole body and removes its codings. */
  async #load(): Promise<void> {
    const { read, headers, bytesMax } = this.#options
    const raw = this.#raw ?? (await read())
    const codings = codingsOf(headers.get("content-encoding"))
    const content =
      codings.length === 0 || raw.length === 0 ? raw : await this.#decoded(raw, codings, bytesMax)
    // A policy may have replaced the content in the meantime.
    if (this.#replaced) return
    this.#raw = raw
    this.#content = content
    this.#present = raw.length > 0
  }

  /** The content without its codings, up to the limit: a small coded body can be a very large one. */
  async #decoded(raw: Buffer, codings: readonly string[], bytesMax: number): Promise<Buffer> {
    try {
      return await decodeContent(raw, codings, bytesMax)
    } catch (error) {
      if (!(error instanceof CodingError)) throw error
      if (this.#options.sender === "response") throw this.#refused(error.message, undefined)
      const names = {
        unknown: "unsupported-coding",
        damaged: "invalid-request",
        "too-large": "body-too-large",
      } as const
      throw new Refused(problem(names[error.reason], { cause: error.message }))
    }
  }

  #refused(what: string, error: unknown): Refused {
    const { sender } = this.#options
    const why = error instanceof Error ? `: ${error.message}` : ""
    const cause = `the body of the ${sender} ${what}${why}`
    return new Refused(problem(sender === "request" ? "invalid-request" : "bad-gateway", { cause }))
  }
}

/** Decodes by the charset of a media type; an unknown one counts as UTF-8. A byte order mark is removed. */
function decodeText(content: Buffer, type: string | undefined): string {
  const charset = type === undefined ? undefined : /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) {
    const text = content.toString("utf8")
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  try {
    return new TextDecoder(charset).decode(content)
  } catch {
    return content.toString("utf8")
  }
}
