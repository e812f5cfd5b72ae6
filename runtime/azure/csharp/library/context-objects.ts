import { CsDictionary, keyNotFound } from "../collections.ts"
import { argumentNull, CsException } from "../errors.ts"
import {
  type PolicyBody,
  type PolicyLists,
  type PolicyRequest,
  type PolicyResponse,
  type PolicyTexts,
  type PolicyUrl,
  urlText,
} from "../ports.ts"
import { CsObject } from "../values.ts"

/** An object of the host as an object of the library. */
abstract class Sourced<T> extends CsObject {
  readonly source: T
  constructor(source: T) {
    super()
    this.source = source
  }
}

/** `context.Request`. */
export class Request extends Sourced<PolicyRequest> {
  readonly typeName = "IRequest"
}

/** A response: of the backend, or one that `send-request` stored in a variable. */
export class Response extends Sourced<PolicyResponse> {
  readonly typeName = "IResponse"
}

export class Body extends Sourced<PolicyBody> {
  readonly typeName = "IMessageBody"
}

export class Url extends Sourced<PolicyUrl> {
  readonly typeName = "IUrl"
  override text(): string {
    return urlText(this.source)
  }
}

/** A dictionary of the host, read without copying: case-insensitive names, read-only. Operations over all entries make a copy. */
abstract class View extends CsDictionary {
  constructor() {
    super("ignore-case")
  }
  protected abstract value(name: string): unknown
  protected abstract pairs(): Iterable<readonly [string, unknown]>

  override get size(): number {
    return copyOf(this.pairs()).size
  }
  override has(key: unknown): boolean {
    return this.value(nameOf(key)) !== undefined
  }
  override find(key: unknown): { readonly value: unknown } | undefined {
    const value = this.value(nameOf(key))
    return value === undefined ? undefined : { value }
  }
  override get(key: unknown): unknown {
    const value = this.value(nameOf(key))
    if (value === undefined) throw keyNotFound(key)
    return value
  }
  override set(): never {
    throw readOnly()
  }
  override delete(): never {
    throw readOnly()
  }
  override clear(): never {
    throw readOnly()
  }
  override keys(): unknown[] {
    return copyOf(this.pairs()).keys()
  }
  override values(): unknown[] {
    return copyOf(this.pairs()).values()
  }
  override elements(): readonly unknown[] {
    return copyOf(this.pairs()).elements()
  }
}

function nameOf(key: unknown): string {
  if (typeof key !== "string") throw argumentNull("key")
  return key
}

function copyOf(pairs: Iterable<readonly [string, unknown]>): CsDictionary {
  const made = new CsDictionary("ignore-case")
  for (const [name, value] of pairs) made.set(name, value)
  return made
}

function readOnly(): CsException {
  return new CsException("NotSupportedException", "Collection is read-only.")
}

/** Headers or query parameters. */
export class Lists extends View {
  readonly source: PolicyLists
  constructor(source: PolicyLists) {
    super()
    this.source = source
  }
  /** `GetValueOrDefault`: several values are joined by commas. */
  joined(name: string, fallback: string | null): string | null {
    return this.source.joined(name) ?? fallback
  }
  protected override value(name: string): unknown {
    const found = this.source.get(name)
    return found === undefined ? undefined : [...found]
  }
  protected override *pairs(): Iterable<readonly [string, unknown]> {
    for (const [name, values] of this.source.entries()) yield [name, [...values]]
  }
}

/** Path parameters. */
export class Texts extends View {
  readonly source: PolicyTexts
  constructor(source: PolicyTexts) {
    super()
    this.source = source
  }
  protected override value(name: string): unknown {
    return this.source.get(name)
  }
  protected override pairs(): Iterable<readonly [string, unknown]> {
    return this.source.entries()
  }
}

/** One of the smaller objects of `context`. Only the members of its type read its fields; names of programs never do. */
export class Part<T> extends Sourced<T> {
  readonly typeName: string
  constructor(typeName: string, source: T) {
    super(source)
    this.typeName = typeName
  }
}
