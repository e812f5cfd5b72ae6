import type { ErrorObject } from "ajv/dist/2020.js"

/** A violation of a value: where (JSON Pointer, RFC 6901, empty for the whole) and what. */
export interface Violation {
  readonly pointer: string
  readonly message: string
}

const shownMax = 100

/** A violation at a property of an object. */
export function atProperty(name: string, message: string): Violation {
  return { pointer: `/${escaped(name.slice(0, shownMax))}`, message }
}

/** An error of ajv, in words for the sender of the value. Missing and additional properties are reported at their own place. */
export function violationOf({ instancePath, keyword, params, message }: ErrorObject): Violation {
  const name = nameOf(params as Readonly<Record<string, unknown>>)
  if (keyword === "required" && name !== undefined)
    return { pointer: `${instancePath}/${escaped(name)}`, message: "is required" }
  if ((keyword === "additionalProperties" || keyword === "unevaluatedProperties") && name !== undefined)
    return { pointer: `${instancePath}/${escaped(name)}`, message: "is not expected" }
  if (keyword === "uniqueItems") return { pointer: instancePath, message: "must not have two equal items" }
  if (keyword === "false schema") return { pointer: instancePath, message: "is not expected" }
  if (keyword === "enum")
    return { pointer: instancePath, message: `must be one of ${listed(params["allowedValues"])}` }
  if (keyword === "const")
    return { pointer: instancePath, message: `must be ${shown(params["allowedValue"])}` }
  return { pointer: instancePath, message: message ?? "does not fit" }
}

function nameOf(params: Readonly<Record<string, unknown>>): string | undefined {
  const name = params["missingProperty"] ?? params["additionalProperty"] ?? params["unevaluatedProperty"]
  return typeof name === "string" ? name.slice(0, shownMax) : undefined
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1")
}

function listed(values: unknown): string {
  const all = Array.isArray(values) ? values : []
  const some = all.slice(0, 10).map(shown).join(", ")
  return all.length > 10 ? `${some}, …` : some
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? ""
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}
