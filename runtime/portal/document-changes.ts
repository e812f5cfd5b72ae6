import type { ChangeNote, DocumentObject, DocumentValue } from "./api.ts"
import { type DocumentedOperation, listOf, objectOf, type PublishedDocument, textOf } from "./document.ts"

/** A change without the API that it is of. */
export type DocumentChange = Pick<ChangeNote, "kind" | "operation" | "text">

/** What two documents of one API version mean to its callers. Descriptions alone are one `changed` for each operation. */
export function documentChanges(before: PublishedDocument, after: PublishedDocument): DocumentChange[] {
  const [old, next] = [byKey(before), byKey(after)]
  const found: DocumentChange[] = []
  for (const [key, operation] of old)
    if (!next.has(key)) found.push({ kind: "breaking", operation: key, text: `${key} was removed` })
    else
      found.push(
        ...operationChanges(
          key,
          { document: before, operation },
          { document: after, operation: next.get(key) as DocumentedOperation },
        ),
      )
  for (const [key] of next)
    if (!old.has(key)) found.push({ kind: "added", operation: key, text: `${key} is new` })
  return found
}

interface Side {
  readonly document: PublishedDocument
  readonly operation: DocumentedOperation
}

function byKey(document: PublishedDocument): Map<string, DocumentedOperation> {
  return new Map(document.operations.map((each) => [`${each.method} ${each.template}`, each]))
}

function operationChanges(key: string, old: Side, next: Side): DocumentChange[] {
  const texts = new Found(key)
  if (next.operation.deprecated && !old.operation.deprecated) texts.add("deprecated", "is deprecated")
  parameterChanges(old.operation.operation, next.operation.operation, texts)
  const [body, nextBody] = [old, next].map(({ operation }) => objectOf(operation.operation["requestBody"]))
  if (nextBody?.["required"] === true && body?.["required"] !== true) texts.add("breaking", "needs a body")
  compareContents("request", side(old, body), side(next, nextBody), texts)
  responseChanges(old, next, texts)
  const demands = ({ operation }: Side) => JSON.stringify(operation.operation["security"] ?? [])
  if (demands(old) !== demands(next)) texts.add("breaking", "needs other credentials")
  const [limits, nextLimits] = [old, next].map(limitWords)
  if (limits !== nextLimits)
    texts.add("changed", `allows ${nextLimits ?? "any number of calls"} (before: ${limits ?? "any number"})`)
  if (texts.list.length === 0 && whole(old) !== whole(next)) texts.add("changed", "is described differently")
  return texts.list
}

/** The limits that the compiler writes into a document; undefined: there are none. */
function limitWords({ operation: { operation } }: Side): string | undefined {
  const limits = listOf(operation["x-rate-limits"]).map(objectOf)
  if (limits.length === 0) return undefined
  return limits.map(({ calls, periodSeconds }) => `${calls} calls in ${periodSeconds} s`).join(" and ")
}

function whole({ document, operation }: Side): string {
  const { operation: own } = operation
  return JSON.stringify([own, document.componentsOf(own, "schemas"), document.componentsOf(own, "responses")])
}

/** Changes of one operation, each once. */
class Found {
  readonly list: DocumentChange[] = []
  readonly #key: string

  constructor(key: string) {
    this.#key = key
  }

  add(kind: DocumentChange["kind"], what: string): void {
    const text = `${this.#key} ${what}`
    if (this.list.length < 50 && !this.list.some((each) => each.text === text))
      this.list.push({ kind, operation: this.#key, text })
  }
}

function parameterChanges(old: DocumentObject, next: DocumentObject, texts: Found): void {
  const table = (operation: DocumentObject) =>
    new Map(
      listOf(operation["parameters"])
        .map(objectOf)
        .map((each) => [`${textOf(each["in"])} parameter \`${textOf(each["name"])}\``, each] as const),
    )
  const [before, after] = [table(old), table(next)]
  for (const [name, parameter] of after) {
    const required = parameter["required"] === true
    const known = before.get(name)
    if (known === undefined)
      texts.add(required ? "breaking" : "added", `${required ? "needs" : "has"} the new ${name}`)
    else if (required && known["required"] !== true)
      texts.add("breaking", `needs the ${name}, which was optional`)
  }
  for (const name of before.keys()) if (!after.has(name)) texts.add("changed", `no longer has the ${name}`)
}

function responseChanges(old: Side, next: Side, texts: Found): void {
  const responses = ({ operation }: Side) => objectOf(operation.operation["responses"])
  const [before, after] = [responses(old), responses(next)]
  for (const [status, response] of Object.entries(before)) {
    if (!/^2/.test(status)) continue
    if (after[status] === undefined) texts.add("breaking", `no longer responds with ${status}`)
    else
      compareContents("response", side(old, objectOf(response)), side(next, objectOf(after[status])), texts)
  }
  for (const status of Object.keys(after))
    if (/^2/.test(status) && before[status] === undefined) texts.add("changed", `may respond with ${status}`)
}

/** A part with contents, and the schemas of its document. */
interface Part {
  readonly content: DocumentObject
  readonly schemas: DocumentObject
}

function side({ document, operation }: Side, part: DocumentObject | undefined): Part {
  return {
    content: objectOf(part?.["content"]),
    schemas: document.componentsOf(operation.operation, "schemas"),
  }
}

type Direction = "request" | "response"

function compareContents(direction: Direction, old: Part, next: Part, texts: Found): void {
  for (const [media, content] of Object.entries(old.content)) {
    const now = next.content[media]
    if (now === undefined) texts.add("breaking", `no longer has \`${media}\` as ${direction}`)
    else
      new SchemaComparison(direction, old.schemas, next.schemas, texts).compare(
        objectOf(content)["schema"],
        objectOf(now)["schema"],
        "",
        0,
      )
  }
}

const depthMax = 8
const comparedMax = 2_000

/** Compares members, types and required members of two schemas. What else they demand is not compared. */
class SchemaComparison {
  readonly #direction: Direction
  readonly #old: DocumentObject
  readonly #next: DocumentObject
  readonly #texts: Found
  #left = comparedMax

  constructor(direction: Direction, old: DocumentObject, next: DocumentObject, texts: Found) {
    this.#direction = direction
    this.#old = old
    this.#next = next
    this.#texts = texts
  }

  compare(
    before: DocumentValue | undefined,
    after: DocumentValue | undefined,
    path: string,
    depth: number,
  ): void {
    this.#left -= 1
    if (depth > depthMax || this.#left < 0) return
    const [old, next] = [resolved(before, this.#old), resolved(after, this.#next)]
    const where = path === "" ? `the ${this.#direction}` : `\`${path}\` of the ${this.#direction}`
    const types = (schema: DocumentObject) => JSON.stringify([schema["type"] ?? "any"].flat())
    if (types(old) !== types(next)) {
      this.#texts.add("breaking", `has another type for ${where}`)
      return
    }
    this.#members(old, next, path, depth)
    if (old["items"] !== undefined && next["items"] !== undefined)
      this.compare(old["items"], next["items"], `${path}[]`, depth + 1)
  }

  #members(old: DocumentObject, next: DocumentObject, path: string, depth: number): void {
    const [had, has] = [objectOf(old["properties"]), objectOf(next["properties"])]
    const [needed, needs] = [listOf(old["required"]), listOf(next["required"])]
    const isRequest = this.#direction === "request"
    const at = (name: string) => `\`${path === "" ? name : `${path}.${name}`}\` of the ${this.#direction}`
    for (const name of Object.keys(has)) {
      if (had[name] === undefined)
        this.#texts.add(
          isRequest && needs.includes(name) ? "breaking" : "added",
          `has the new member ${at(name)}`,
        )
      else if (isRequest && needs.includes(name) && !needed.includes(name))
        this.#texts.add("breaking", `needs ${at(name)}, which was optional`)
      else if (!isRequest && needed.includes(name) && !needs.includes(name))
        this.#texts.add("breaking", `may leave out ${at(name)}`)
    }
    for (const [name, member] of Object.entries(had))
      if (has[name] === undefined)
        this.#texts.add(isRequest ? "changed" : "breaking", `no longer has ${at(name)}`)
      else this.compare(member, has[name], path === "" ? name : `${path}.${name}`, depth + 1)
  }
}

function resolved(schema: DocumentValue | undefined, schemas: DocumentObject): DocumentObject {
  let found = objectOf(schema)
  for (let hops = 0; hops < 10; hops += 1) {
    const reference = textOf(found["$ref"])
    if (reference === null) return found
    found = objectOf(schemas[reference.split("/").at(-1) ?? ""])
  }
  return {}
}
