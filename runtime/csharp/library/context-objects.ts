import { CsDictionary } from "../collections.ts"
import type { PolicyBody, PolicyHeaders, PolicyRequest, PolicyResponse, PolicyUrl } from "../ports.ts"
import { CsObject } from "../values.ts"

/** `context.Request`, and a response's counterpart: the host's object with a type of the library. */
export class Request extends CsObject {
  readonly typeName = "IRequest"
  readonly source: PolicyRequest
  constructor(source: PolicyRequest) {
    super()
    this.source = source
  }
}

/** A response: of the backend, or one a `send-request` put into a variable. */
export class Response extends CsObject {
  readonly typeName = "IResponse"
  readonly source: PolicyResponse
  constructor(source: PolicyResponse) {
    super()
    this.source = source
  }
}

export class Body extends CsObject {
  readonly typeName = "IMessageBody"
  readonly source: PolicyBody
  constructor(source: PolicyBody) {
    super()
    this.source = source
  }
}

export class Url extends CsObject {
  readonly typeName = "IUrl"
  readonly source: PolicyUrl
  constructor(source: PolicyUrl) {
    super()
    this.source = source
  }
  /** With the port where it is not the scheme's. */
  override text(): string {
    const { scheme, host, port, path, queryString } = this.source
    const usual = (scheme === "https" && port === 443) || (scheme === "http" && port === 80)
    return `${scheme}://${host}${usual ? "" : `:${port}`}${path}${queryString}`
  }
}

/** Headers, read where they stand: names in any case. */
export class Headers extends CsObject {
  readonly typeName = "IReadOnlyDictionary<string, string[]>"
  readonly source: PolicyHeaders
  constructor(source: PolicyHeaders) {
    super()
    this.source = source
  }
  dictionary(): CsDictionary {
    const made = new CsDictionary("ignore-case")
    for (const [name, values] of this.source.entries()) made.set(name, [...values])
    return made
  }
  override elements(): readonly unknown[] {
    return this.dictionary().elements()
  }
}

/** One of the smaller objects of `context`, its fields read by the members of its type and never by name. */
export class Part<T> extends CsObject {
  readonly typeName: string
  readonly source: T
  constructor(typeName: string, source: T) {
    super()
    this.typeName = typeName
    this.source = source
  }
}
