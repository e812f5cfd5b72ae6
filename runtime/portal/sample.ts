import type { DocumentObject, DocumentValue } from "./api.ts"
import { listOf, objectOf, textOf } from "./document.ts"

const depthMax = 6
const valuesMax = 300

/** A value that fits a schema, as far as examples need it: its own examples come first. `schemas`: those that it may refer to. */
export function sampleOf(schema: DocumentValue | undefined, schemas: DocumentObject): DocumentValue {
  return new Sampler(schemas).of(schema, 0)
}

const formats: Readonly<Record<string, string>> = {
  date: "2027-01-31",
  "date-time": "2027-01-31T12:00:00Z",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "ann@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
}

class Sampler {
  readonly #schemas: DocumentObject
  #left = valuesMax

  constructor(schemas: DocumentObject) {
    this.#schemas = schemas
  }

  of(value: DocumentValue | undefined, depth: number): DocumentValue {
    this.#left -= 1
    if (depth > depthMax || this.#left < 0) return null
    const schema = objectOf(value)
    const reference = textOf(schema["$ref"])
    if (reference !== null) return this.of(this.#schemas[reference.split("/").at(-1) ?? ""], depth + 1)
    for (const given of [
      schema["example"],
      listOf(schema["examples"])[0],
      schema["const"],
      schema["default"],
    ])
      if (given !== undefined) return given
    const [first] = listOf(schema["enum"])
    if (first !== undefined) return first
    const [choice] = [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])]
    if (choice !== undefined) return this.of(choice, depth + 1)
    const parts = listOf(schema["allOf"])
    if (parts.length > 0) return this.#joined(schema, parts, depth)
    return this.#byType(schema, depth)
  }

  #joined(schema: DocumentObject, parts: readonly DocumentValue[], depth: number): DocumentValue {
    const { allOf: _, ...own } = schema
    const all = [...parts.map((part) => this.of(part, depth + 1)), this.#byType(own, depth)]
    const objects = all.filter((each) => typeof each === "object" && each !== null && !Array.isArray(each))
    return objects.length > 0 ? Object.assign({}, ...objects) : (all[0] ?? null)
  }

  #byType(schema: DocumentObject, depth: number): DocumentValue {
    const types = [schema["type"] ?? []].flat() as DocumentValue[]
    const type = types.find((each) => each !== "null") ?? (schema["properties"] === undefined ? "" : "object")
    if (type === "object") return this.#object(schema, depth)
    if (type === "array") return [this.of(schema["items"], depth + 1)]
    if (type === "integer" || type === "number")
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1
    if (type === "boolean") return true
    if (type === "string") return formats[textOf(schema["format"]) ?? ""] ?? "text"
    return type === "" ? {} : null
  }

  /** Required members, and the others as long as there is room. What only responses have is left out. */
  #object(schema: DocumentObject, depth: number): DocumentValue {
    const members = Object.entries(objectOf(schema["properties"])).filter(
      ([name, member]) => objectOf(member)["readOnly"] !== true && name !== "__proto__",
    )
    return Object.fromEntries(members.map(([name, member]) => [name, this.of(member, depth + 1)]))
  }
}
