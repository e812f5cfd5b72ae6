import { refusalOf, refusalOfAttribute } from "./elements/refused.ts"
import { type DocumentTag, elementAt, type KnownElement, tokensOf } from "./policy-at.ts"
import type { AttributeRow, Shape } from "./shape.ts"

/** What is known of the element or attribute from `start` to `end`. */
export interface PolicyHelpAt {
  readonly start: number
  readonly end: number
  /** How it is written. */
  readonly syntax: string
  /** Sentences in Markdown: what it does, where it may stand, its attributes and content. */
  readonly facts: readonly string[]
}

/** What the tables by which documents are read say about the element or attribute at an offset; undefined where there is neither. */
export function policyHelpAt(text: string, offset: number): PolicyHelpAt | undefined {
  for (const token of tokensOf(text)) {
    if (token.start > offset) return undefined
    if (offset <= token.start + token.text.length) return helpIn(token, offset)
  }
  return undefined
}

function helpIn({ start, name, closes, attributes, rest, open }: DocumentTag, offset: number) {
  if (name === undefined) return undefined
  const path = closes ? open : [...open, name]
  const nameStart = start + (closes ? 2 : 1)
  const nameEnd = nameStart + name.length
  if (offset < nameStart) return undefined
  if (offset <= nameEnd) return helpOfElement(path, name, nameStart)
  for (const match of `${attributes}${rest}`.matchAll(/([\w:.-]+)(\s*=\s*(?:"[^"]*"?|'[^']*'?)?)/g)) {
    const [, attribute = ""] = match
    const from = nameEnd + match.index
    if (offset >= from && offset <= from + attribute.length) return helpOfAttribute(path, attribute, from)
  }
  return undefined
}

function helpOfElement(path: readonly string[], name: string, start: number): PolicyHelpAt | undefined {
  const place = { start, end: start + name.length }
  const known = elementAt(path)
  if (known !== undefined) return { ...place, syntax: syntaxOf(name, known.shape), facts: factsOf(known) }
  const refusal = refusalOf(name)
  if (refusal === undefined) return undefined
  return { ...place, syntax: `<${name} />`, facts: [`Not supported: ${refusal.why}. ${refusal.instead}`] }
}

function helpOfAttribute(path: readonly string[], name: string, start: number): PolicyHelpAt | undefined {
  const place = { start, end: start + name.length, syntax: `${name}="…"` }
  const row = elementAt(path)?.shape.attributes?.[name]
  if (row !== undefined) return { ...place, facts: [attributeText(row)] }
  const refusal = refusalOfAttribute(path.at(-1) ?? "", name)
  return refusal && { ...place, facts: [`Not supported: ${refusal.why}. ${refusal.instead}`] }
}

/** The tag with its required attributes. */
function syntaxOf(name: string, shape: Shape): string {
  const needed = Object.entries(shape.attributes ?? {}).flatMap(([each, { required }]) =>
    required === true ? [` ${each}="…"`] : [],
  )
  const isEmpty = shape.children === undefined && shape.text === undefined && shape.policies === undefined
  return `<${name}${needed.join("")}${isEmpty ? " />" : ">"}`
}

function factsOf({ about, sections, shape }: KnownElement): string[] {
  const { attributes = {}, children = {}, text, policies } = shape
  const rows = Object.entries(attributes).map(([name, row]) => `- \`${name}\`: ${attributeText(row)}`)
  const inside = Object.entries(children).map(([name, { required, many }]) => {
    const facts = [required === true ? "required" : "", many === true ? "any number" : ""].filter(
      (each) => each !== "",
    )
    return `\`<${name}>\`${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`
  })
  return [
    ...(about === undefined ? [] : [about]),
    ...(sections === undefined ? [] : [`Allowed in ${sections.map((each) => `\`${each}\``).join(", ")}.`]),
    ...(rows.length === 0 ? [] : [rows.join("\n")]),
    ...(policies === true ? ["Contains policies."] : []),
    ...(text === undefined ? [] : [texts[text]]),
    ...(inside.length === 0 ? [] : [`Contains ${inside.join(", ")}.`]),
  ]
}

const texts: Readonly<Record<NonNullable<Shape["text"]>, string>> = {
  literal: "Contains text that is known when the plan is made.",
  value: "Contains text, which may be an expression: `@(…)`.",
  body: "Contains any text or markup, or an expression: `@(…)`, `@{…}`.",
}

function attributeText({ required, dynamic, values, whole, flag, byDefault }: AttributeRow): string {
  const words = values ?? (flag === true ? ["true", "false"] : undefined)
  const facts = [
    required === true ? "required" : "optional",
    words === undefined ? undefined : `one of ${words.map((each) => `\`${each}\``).join(", ")}`,
    whole === undefined ? undefined : `a whole number from ${whole.min} to ${whole.max}`,
    byDefault === undefined || required === true ? undefined : `default \`${byDefault}\``,
    dynamic === true ? "an expression `@(…)` is allowed" : "must be known when the plan is made",
  ]
  return `${facts.filter((fact) => fact !== undefined).join("; ")}.`
}
