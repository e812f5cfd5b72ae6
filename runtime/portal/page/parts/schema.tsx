import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Badge } from "../../../control/console/page/parts/basic.tsx"
import type { DocumentObject, DocumentValue } from "../../api.ts"
import { listOf, nameOf, objectOf, resolved, wordOf } from "./document.ts"
import { Markdown } from "./markdown.tsx"
import { combinations, limitsOf, typeText } from "./schema-words.ts"

/** Lists of values are cut here. */
const valuesMax = 30
/** An array may contain itself. */
const arrayDepthMax = 20

interface SchemaProps {
  readonly schema: DocumentValue | undefined
  readonly schemas: DocumentObject
}

/** What is inside of a schema, as a tree. What is below a property is made when it is opened, so a schema may contain itself. */
export function Schema({ schema, schemas }: SchemaProps) {
  const found = resolved(schema, schemas)
  const members = membersOf(found, schemas)
  if (members.length === 0) return null
  return (
    <>
      <Discriminator schema={found} />
      <Members members={members} schemas={schemas} />
    </>
  )
}

/** A named part of something: a property, an alternative, or a header. */
export interface MemberProps {
  readonly name: string
  readonly value: DocumentValue
  readonly required: boolean
}

/** Named schemas below each other. */
export function Members(props: {
  readonly members: readonly MemberProps[]
  readonly schemas: DocumentObject
}) {
  return (
    <ul class="schema">
      {props.members.map((member) => (
        <Member key={member.name} {...member} schemas={props.schemas} />
      ))}
    </ul>
  )
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
      <TypeLine schema={value} schemas={schemas} /> {required && <span class="required">required</span>}{" "}
      <Marks schema={schema} />
      {description !== undefined && <Markdown text={description} />}
      {isOpen.value && <Schema schema={value} schemas={schemas} />}
    </li>
  )
}

/** What changes how a value is used. */
export function Marks({ schema }: { readonly schema: DocumentObject }) {
  return (
    <>
      {schema["deprecated"] === true && <Badge tone="warn">deprecated</Badge>}{" "}
      {schema["readOnly"] === true && <Badge tone="plain">read-only</Badge>}{" "}
      {schema["writeOnly"] === true && <Badge tone="plain">write-only</Badge>}
    </>
  )
}

/** Which property says what a value is, and which of its values stand for which schema. */
function Discriminator({ schema }: { readonly schema: DocumentObject }) {
  const { propertyName, mapping } = objectOf(schema["discriminator"])
  const name = wordOf(propertyName)
  if (name === undefined) return null
  const entries = Object.entries(objectOf(mapping))
  return (
    <p class="quiet">
      <code>{name}</code> says which of these it is
      {entries.map(([value, target], at) => (
        <>
          {at === 0 ? ": " : ", "}
          <code>{value}</code> is {nameOf({ $ref: target }) ?? String(target)}
        </>
      ))}
      .
    </p>
  )
}

/** The type in a few words, and what a value must be: `integer · at least 1`, one of its values. */
export function TypeLine({ schema, schemas }: SchemaProps) {
  const found = resolved(schema, schemas)
  const items = found["type"] === "array" ? rulesOf(resolved(found["items"], schemas)) : []
  const rules = [typeText(objectOf(schema)), ...rulesOf(found)].filter((each) => each !== "")
  return (
    <span class="quiet">
      <Dotted parts={rules} />
      {items.length > 0 && (
        <>
          ; each item: <Dotted parts={items} />
        </>
      )}
    </span>
  )
}

function Dotted({ parts }: { readonly parts: readonly ComponentChildren[] }) {
  return (
    <>
      {parts.map((part, at) => (
        <>
          {at > 0 && " · "}
          {part}
        </>
      ))}
    </>
  )
}

function rulesOf(schema: DocumentObject): readonly ComponentChildren[] {
  const { const: only, default: usual, examples, example } = schema
  const values = only === undefined ? listOf(schema["enum"]) : [only]
  const samples = (example === undefined ? listOf(examples).slice(0, 3) : [example]).filter(isShort)
  const limits = limitsOf(schema)
  return [
    values.length > 0 && <Values words={values.length > 1 ? "one of" : "always"} values={values} />,
    limits.length > 0 && limits.join(", "),
    usual !== undefined && <Values words="default" values={[usual]} />,
    samples.length > 0 && <Values words="for example" values={samples} />,
  ].filter((each) => each !== false)
}

/** Whole objects would hide the type that they are beside. */
function isShort(value: DocumentValue): boolean {
  return JSON.stringify(value).length <= 80
}

/** Words, and values as JSON. */
export function Values(props: { readonly words: string; readonly values: readonly DocumentValue[] }) {
  const { words, values } = props
  return (
    <>
      {words}{" "}
      {values.slice(0, valuesMax).map((value, at) => (
        <>
          {at > 0 && ", "}
          <code>{JSON.stringify(value)}</code>
        </>
      ))}
      {values.length > valuesMax && ` and ${values.length - valuesMax} more`}
    </>
  )
}

/** What is inside: properties, or the alternatives, or those of the items. */
function membersOf(schema: DocumentObject, schemas: DocumentObject, depth = 0): readonly MemberProps[] {
  const required = new Set(listOf(schema["required"]).map(String))
  const own = Object.entries(objectOf(schema["properties"])).map(([name, value]) => ({
    ...{ name, value, required: required.has(name) },
  }))
  const all = [...own, ...alternativesOf(schema, schemas), ...otherNamesOf(schema), ...placesOf(schema)]
  if (all.length > 0 || schema["items"] === undefined || depth === arrayDepthMax) return all
  return membersOf(resolved(schema["items"], schemas), schemas, depth + 1)
}

function alternativesOf(schema: DocumentObject, schemas: DocumentObject): readonly MemberProps[] {
  return combinations.flatMap(([key]) =>
    listOf(schema[key]).map((value, at) => ({
      name: wordOf(resolved(value, schemas)["title"]) ?? nameOf(objectOf(value)) ?? `${key} ${at + 1}`,
      ...{ value, required: false },
    })),
  )
}

/** Properties whose names are not fixed. */
function otherNamesOf(schema: DocumentObject): readonly MemberProps[] {
  const patterns = Object.entries(objectOf(schema["patternProperties"])).map(([pattern, value]) => ({
    ...{ name: `names that match ${pattern}`, value, required: false },
  }))
  const extra = objectOf(schema["additionalProperties"])
  if (Object.keys(extra).length === 0) return patterns
  return [...patterns, { name: "any other name", value: extra, required: false }]
}

/** Items by their place in an array. */
function placesOf(schema: DocumentObject): readonly MemberProps[] {
  return listOf(schema["prefixItems"]).map((value, at) => ({
    ...{ name: `item ${at + 1}`, value, required: false },
  }))
}
