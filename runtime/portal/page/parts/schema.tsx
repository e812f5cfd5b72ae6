import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { DocumentValue } from "../../api.ts"
import { Markdown } from "./markdown.tsx"

/** An object of an OpenAPI document. */
export type DocumentObject = { readonly [name: string]: DocumentValue }

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

/** What `$ref` names, in the schemas of the operation. A reference that leads nowhere stays as it is. */
export function resolved(value: DocumentValue | undefined, components: DocumentObject): DocumentObject {
  let found = objectOf(value)
  for (let hops = 0; hops < 20; hops += 1) {
    const name = nameOf(found)
    if (name === undefined || components[name] === undefined) return found
    found = objectOf(components[name])
  }
  return found
}

function nameOf(schema: DocumentObject): string | undefined {
  return /\/([^/]+)$/.exec(wordOf(schema["$ref"]) ?? "")?.[1]
}

interface SchemaProps {
  readonly schema: DocumentValue | undefined
  readonly schemas: DocumentObject
}

/** A schema as a tree. What is below a property is made when it is opened, so a schema may contain itself. */
export function Schema({ schema, schemas }: SchemaProps) {
  const found = resolved(schema, schemas)
  const members = membersOf(found, schemas)
  if (members.length === 0) return <TypeLine schema={schema} schemas={schemas} />
  return (
    <ul class="schema">
      {members.map((member) => (
        <Member key={member.name} {...member} schemas={schemas} />
      ))}
    </ul>
  )
}

interface MemberProps {
  readonly name: string
  readonly value: DocumentValue
  readonly required: boolean
}

function Member({ name, value, required, schemas }: MemberProps & { readonly schemas: DocumentObject }) {
  const isOpen = useSignal(false)
  const schema = resolved(value, schemas)
  const hasMore = membersOf(schema, schemas).length > 0
  const description = wordOf(schema["description"])
  return (
    <li>
      {hasMore ? (
        <button
          type="button"
          class="expand"
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.value
          }}
        >
          <code class="strong">{name}</code>
        </button>
      ) : (
        <code class="strong">{name}</code>
      )}{" "}
      <TypeLine schema={value} schemas={schemas} /> {required && <span class="required">required</span>}
      {description !== undefined && <Markdown text={description} />}
      {isOpen.value && <Schema schema={value} schemas={schemas} />}
    </li>
  )
}

/** The type in a few words: `array of Order`, `string (date-time)`, one of its values. */
export function TypeLine({ schema, schemas }: SchemaProps) {
  const found = resolved(schema, schemas)
  const values = listOf(found["enum"])
  const notes = constraintsOf(found)
  return (
    <span class="quiet">
      {typeText(objectOf(schema), schemas)}
      {values.length > 0 && <> one of {joined(values)}</>}
      {notes.length > 0 && ` · ${notes.join(", ")}`}
    </span>
  )
}

function joined(values: readonly DocumentValue[]): ComponentChildren {
  return values.slice(0, 30).map((value, at) => (
    <>
      {at > 0 && ", "}
      <code>{JSON.stringify(value)}</code>
    </>
  ))
}

function typeText(schema: DocumentObject, schemas: DocumentObject): string {
  const named = nameOf(schema)
  if (named !== undefined) return named
  const type = schema["type"]
  const words = Array.isArray(type) ? type.map(String).join(" or ") : wordOf(type)
  if (words === "array") return `array of ${typeText(objectOf(schema["items"]), schemas)}`
  const format = wordOf(schema["format"])
  if (words !== undefined) return format === undefined ? words : `${words} (${format})`
  for (const [key, word] of combinations)
    if (listOf(schema[key]).length > 0)
      return listOf(schema[key])
        .map((each) => typeText(objectOf(each), schemas))
        .join(word)
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"])
  return schema["properties"] === undefined ? "any value" : "object"
}

const combinations = [
  ["oneOf", " or "],
  ["anyOf", " or "],
  ["allOf", " and "],
] as const

const limits = [
  ["minimum", "at least "],
  ["exclusiveMinimum", "more than "],
  ["maximum", "at most "],
  ["exclusiveMaximum", "less than "],
  ["minLength", "characters at least "],
  ["maxLength", "characters at most "],
  ["minItems", "items at least "],
  ["maxItems", "items at most "],
  ["pattern", "matches "],
  ["default", "default "],
] as const

function constraintsOf(schema: DocumentObject): string[] {
  return limits.flatMap(([name, words]) => {
    const value = schema[name]
    if (value === undefined || typeof value === "boolean" || typeof value === "object") return []
    return [`${words}${value}`]
  })
}

/** What is inside: properties, or the alternatives, or those of the items. */
function membersOf(schema: DocumentObject, schemas: DocumentObject): readonly MemberProps[] {
  const required = new Set(listOf(schema["required"]).map(String))
  const own = Object.entries(objectOf(schema["properties"])).map(([name, value]) => ({
    ...{ name, value, required: required.has(name) },
  }))
  const parts = combinations.flatMap(([key]) =>
    listOf(schema[key]).map((value, at) => ({
      ...{ name: wordOf(resolved(value, schemas)["title"]) ?? `${key} ${at + 1}`, value, required: false },
    })),
  )
  const extra = objectOf(schema["additionalProperties"])
  const rest =
    Object.keys(extra).length === 0 ? [] : [{ name: "any other name", value: extra, required: false }]
  const all = [...own, ...parts, ...rest]
  if (all.length > 0 || schema["items"] === undefined) return all
  return membersOf(resolved(schema["items"], schemas), schemas)
}
