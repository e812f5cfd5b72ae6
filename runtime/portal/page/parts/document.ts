import type { DocumentObject, DocumentValue } from "../../api.ts"

/** A value as an object; empty for anything else: documents are texts of others. */
export function objectOf(value: DocumentValue | undefined): DocumentObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as DocumentObject) : {}
}

/** A value as a list; empty for anything else. */
export function listOf(value: DocumentValue | undefined): readonly DocumentValue[] {
  return Array.isArray(value) ? value : []
}

/** A value as text; undefined for anything else. */
export function wordOf(value: DocumentValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** What `$ref` names among these components, with what stands beside `$ref`. A reference that leads nowhere stays as it is. */
export function resolved(value: DocumentValue | undefined, components: DocumentObject): DocumentObject {
  let found = objectOf(value)
  for (let hops = 0; hops < 20; hops += 1) {
    const name = nameOf(found)
    if (name === undefined || components[name] === undefined) return found
    const { $ref: _, ...beside } = found
    found = { ...objectOf(components[name]), ...beside }
  }
  return found
}

/** The name in a `$ref`; undefined: it is no reference. */
export function nameOf(value: DocumentObject): string | undefined {
  return /\/([^/]+)$/.exec(wordOf(value["$ref"]) ?? "")?.[1]
}

/** An example of a media type, a parameter or a header. `title`: what its document calls it. */
export interface NamedExample {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly value: DocumentValue
}

/** `example`, or the values of `examples`. Examples in other files are not in published documents. */
export function examplesOf(value: DocumentObject): readonly NamedExample[] {
  const { example } = value
  if (example !== undefined) return [{ title: undefined, description: undefined, value: example }]
  return Object.entries(objectOf(value["examples"])).flatMap(([name, each]) => {
    const found = objectOf(each)
    if (found["value"] === undefined) return []
    const title = wordOf(found["summary"]) ?? name
    return [{ title, description: wordOf(found["description"]), value: found["value"] }]
  })
}
