import type { DocumentObject, DocumentValue, OperationSummary } from "./api.ts"

/** An operation of a document, with its Operation Object. */
export interface DocumentedOperation extends OperationSummary {
  readonly operation: DocumentObject
}

const methods = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]
const idMax = 100

/** An OpenAPI document that the compiler wrote. Its schemas are resolved for one operation at a time. */
export class PublishedDocument {
  readonly title: string
  readonly description: string | null
  /** In the order of the document. */
  readonly operations: readonly DocumentedOperation[]
  readonly json: DocumentObject

  /** `text`: JSON. @throws SyntaxError for a text that is not JSON */
  constructor(text: string) {
    this.json = objectOf(JSON.parse(text) as DocumentValue)
    const info = objectOf(this.json["info"])
    this.title = textOf(info["title"]) ?? ""
    this.description = textOf(info["description"])
    this.operations = operationsOf(this.json)
  }

  /** The components of one kind that a part of the document refers to, directly or through others. */
  componentsOf(part: DocumentValue, kind: "schemas" | "responses" | "securitySchemes"): DocumentObject {
    const all = objectOf(objectOf(this.json["components"])[kind])
    if (kind === "securitySchemes") {
      const names = schemesOf(part)
      return pick(all, (name) => names.has(name))
    }
    const found = new Set<string>()
    const waiting: DocumentValue[] = [part]
    // Responses that are components have schemas, too.
    if (kind === "schemas") waiting.push(this.componentsOf(part, "responses"))
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      for (const reference of referencesIn(next)) {
        const name = nameIn(reference, kind)
        if (name === undefined || found.has(name) || !Object.hasOwn(all, name)) continue
        found.add(name)
        waiting.push(all[name] as DocumentValue)
      }
    return pick(all, (name) => found.has(name))
  }
}

/** A JSON value as an object; empty for any other value. */
export function objectOf(value: DocumentValue | undefined): DocumentObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as DocumentObject) : {}
}

/** A JSON value as a list; empty for any other value. */
export function listOf(value: DocumentValue | undefined): readonly DocumentValue[] {
  return Array.isArray(value) ? value : []
}

/** A JSON value as text; null for any other value. */
export function textOf(value: DocumentValue | undefined): string | null {
  return typeof value === "string" ? value : null
}

function operationsOf(json: DocumentObject): DocumentedOperation[] {
  const taken = new Set<string>()
  return Object.entries(objectOf(json["paths"])).flatMap(([template, item]) =>
    methods.flatMap((method) => {
      const operation = objectOf(item)[method]
      if (operation === undefined) return []
      const found = objectOf(operation)
      const id = uniqueId(idOf(found, method, template), taken)
      return [
        {
          ...{ id, method: method.toUpperCase(), template, operation: found },
          summary: textOf(found["summary"]),
          tags: listOf(found["tags"]).filter((tag) => typeof tag === "string"),
          deprecated: found["deprecated"] === true,
        },
      ]
    }),
  )
}

/** The `operationId`, or a name from method and path. It is part of URLs, so it must not change when other operations are added. */
function idOf(operation: DocumentObject, method: string, template: string): string {
  const own = textOf(operation["operationId"])
  if (own !== null && /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(own)) return own.slice(0, idMax)
  const words = template.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "")
  return `${method}-${words}`.replace(/-$/, "").slice(0, idMax)
}

function uniqueId(id: string, taken: Set<string>): string {
  let found = id
  for (let count = 2; taken.has(found); count += 1) found = `${id}-${count}`
  taken.add(found)
  return found
}

/** Every `$ref` inside of a value. */
function referencesIn(value: DocumentValue): string[] {
  const found: string[] = []
  const waiting: DocumentValue[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== "object" || next === null) continue
    for (const [name, inner] of Object.entries(next)) {
      if (name === "$ref" && typeof inner === "string") found.push(inner)
      else waiting.push(inner as DocumentValue)
    }
  }
  return found
}

/** The name of a component of this kind: `#/components/schemas/Order`. */
function nameIn(reference: string, kind: string): string | undefined {
  const prefix = `#/components/${kind}/`
  if (!reference.startsWith(prefix)) return undefined
  const name = reference.slice(prefix.length).split("/", 1)[0] as string
  return name.replaceAll("~1", "/").replaceAll("~0", "~")
}

function schemesOf(operation: DocumentValue): ReadonlySet<string> {
  return new Set(listOf(objectOf(operation)["security"]).flatMap((way) => Object.keys(objectOf(way))))
}

function pick(all: DocumentObject, wanted: (name: string) => boolean): DocumentObject {
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted(name)))
}
