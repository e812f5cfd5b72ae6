import type { Expression, Text } from "../../runtime/plan/text.ts"

/**
 * Parts of a request that a step may have filled itself, with the step's place in the text (`api.xml:12`). Keys: `header NAME`, `query NAME`,
 * `variable NAME`, `body`, `path`; `header *` is every header. A part that is not a key has the caller's value, or no value.
 */
export type Own = ReadonlyMap<string, string>

/** A text of the document that may be a credential: the shortest signed token is longer. Words with spaces, header names and patterns do not match. */
const credential = /[A-Za-z0-9._~+/=-]{41}/
/** The same for a text that may be the whole value: an opaque token is shorter. */
const opaque = /[A-Za-z0-9._~+/=-]{8}/

/** The step that filled a part of the request. Undefined when the caller did. `*`: any part of that kind. */
export function ownerOf(own: Own, place: string): string | undefined {
  const [kind = "", name] = place.split(" ", 2)
  const found = own.get(place) ?? own.get(`${kind} *`)
  if (found !== undefined || name !== "*") return found
  for (const [other, origin] of own) if (other.startsWith(`${kind} `)) return origin
  return undefined
}

type Written = Text | { readonly expression: Expression }

/**
 * Whether a text consists only of caller input, and of nothing that could act as a credential: no named value, no long text, no variable that
 * the document filled itself.
 */
export function isCallers(text: Written, own: Own): boolean {
  return ownSource(text, own, "") === undefined
}

/**
 * For a text that is not the caller's: the place of the step that supplied its content, or `here` when the text itself did. Undefined when the
 * text is the caller's.
 */
export function ownSource(text: Written, own: Own, here: string): string | undefined {
  if (typeof text === "string") return here
  const parts = "expression" in text ? [text] : text.text
  let read = false
  for (const part of parts) {
    if (typeof part === "string") {
      if (credential.test(part)) return here
      continue
    }
    if (!("expression" in part)) return here
    const source = ownExpression(part.expression, own, here)
    if (source !== undefined) return source
    read = true
  }
  return read ? undefined : here
}

/** The same for an expression. A CEL expression is not analysed: it counts as the document's own. */
function ownExpression(expression: Expression, own: Own, here: string): string | undefined {
  if (expression.lang !== "cs") return here
  const sources = new Sources(own, here)
  sources.look(expression.program.body)
  return sources.own ?? (sources.callers ? undefined : here)
}

/** A node of a compiled program, with the fields of any kind: this search looks at all kinds in the same way. */
interface Node {
  readonly k?: unknown
  readonly s?: unknown
  readonly op?: unknown
  readonly member?: unknown
  readonly value?: unknown
  readonly on?: unknown
  readonly args?: readonly unknown[]
}

/** Parts that whole-object members of `context.Request` read. Names are those of the library. */
const places: Readonly<Record<string, readonly string[]>> = {
  "IRequest.Headers": ["header *"],
  "IRequest.Url": ["path", "query *"],
  "IRequest.Body": ["body"],
  "IUrl.Query": ["query *"],
  "IUrl.QueryString": ["query *"],
  "IUrl.Path": ["path"],
  "IProxyContext.Variables": ["variable *"],
}

/** Members that no step changes. */
const unchanged: ReadonlySet<string> = new Set([
  "IRequest.OriginalUrl",
  "IRequest.IpAddress",
  "IRequest.MatchedParameters",
  "IRequest.Certificate",
  "IRequest.Method",
])

/** Dictionaries whose entries are tracked separately. */
const dictionaries: Readonly<Record<string, string>> = {
  "IRequest.Headers": "header",
  "IUrl.Query": "query",
  "IProxyContext.Variables": "variable",
}

/** Collects what a C# program reads. */
class Sources {
  readonly #own: Own
  readonly #here: string
  callers = false
  /** The place of the first source that is the document's own. */
  own: string | undefined

  constructor(own: Own, here: string) {
    this.#own = own
    this.#here = here
  }

  look(node: unknown): void {
    if (Array.isArray(node)) for (const each of node) this.look(each)
    else if (typeof node === "object" && node !== null && !this.#known(node))
      for (const each of Object.values(node)) this.look(each)
  }

  /** Whether the content of a node needs no further analysis. */
  #known(node: Node): boolean {
    if (node.k === "if" || node.op === "??" || node.s === "if" || node.s === "while" || node.s === "return") {
      const { test, ...rest } = node as Readonly<Record<string, unknown>>
      // The condition is not part of the result, unless it writes a local.
      if (test !== undefined && /"k":"(?:out|set|safe)"|"slot":/.test(JSON.stringify(test))) this.look(test)
      for (const each of Object.values(rest)) this.#value(each)
      return true
    }
    if (node.k === "named" || node.k === "context") this.own ??= this.#here
    if (node.k === "const" && typeof node.value === "string" && credential.test(node.value))
      this.own ??= this.#here
    if (node.k !== "call") return false
    const member = String(node.member)
    const on = memberOf(node.on)
    const kind = on === undefined ? undefined : dictionaries[on]
    if (kind !== undefined && !isOriginal(node.on)) this.#entry(kind, node)
    else if (isOriginal(node)) this.callers = true
    else if (places[member] !== undefined) for (const place of places[member]) this.#read(place)
    else if (member.startsWith("IProxyContext.") || member === "IRequest.PrivateEndpointConnection")
      this.own ??= this.#here
    else return false
    return true
  }

  /** A part that may become the result unchanged: a branch, a returned value, or a default. */
  #value(node: unknown): void {
    const { k, value } = (node ?? {}) as Node
    if (k === "const" && typeof value === "string" && opaque.test(value)) this.own ??= this.#here
    this.look(node)
  }

  #entry(kind: string, { args = [] }: Node): void {
    const [name, ...more] = args as readonly Node[]
    const isName = name?.k === "const" && typeof name.value === "string"
    const text = isName ? String(name.value) : "*"
    this.#read(`${kind} ${kind === "variable" ? text : text.toLowerCase()}`)
    if (!isName) this.look(name)
    for (const each of more) this.#value(each)
  }

  #read(place: string): void {
    const owner = ownerOf(this.#own, place)
    if (owner === undefined) this.callers = true
    else this.own ??= owner
  }
}

function memberOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("member" in node)) return undefined
  return String(node.member)
}

/** Whether it is a part of the request as the client sent it. */
function isOriginal(node: unknown): boolean {
  const member = memberOf(node)
  if (member === undefined) return false
  return unchanged.has(member) || (member.startsWith("IUrl.") && isOriginal((node as Node).on))
}
