import { roots } from "./elements/structure.ts"
import { policies } from "./elements/table.ts"
import { type DocumentTag, elementAt, tokensOf } from "./policy-at.ts"
import { sections } from "./site.ts"

/** What can be written at an offset of a policy document: `start` is where the name or value that is being written begins. */
export interface PolicyNamesAt {
  readonly start: number
  readonly names: readonly PolicyName[]
}

/** An element, an attribute or a value of an attribute. */
export interface PolicyName {
  readonly kind: "element" | "attribute" | "value"
  readonly name: string
  /** What is known of it, e.g. `required`, `expression`. */
  readonly detail: string
}

/** Elements, attributes and values that a policy document can have at an offset, from the tables by which documents are read. */
export function policyNamesAt(text: string, offset: number): PolicyNamesAt {
  const tokens = tokensOf(text.slice(0, offset))
  for (;;) {
    const next = tokens.next()
    if (next.done === true) return { start: offset, names: elementsIn(next.value) }
    const found = namesIn(next.value, offset)
    if (found !== undefined) return found
  }
}

/** What can be written in a tag, a comment or CDATA that does not end before the offset. */
function namesIn(token: DocumentTag, offset: number): PolicyNamesAt | undefined {
  const { start, text, name, closes, attributes, rest, isFinished, open } = token
  if (isFinished || start + text.length !== offset) return undefined
  if (name === undefined) return { start: offset, names: [] }
  if (closes) return closing(open, name, offset)
  if (attributes === "" && rest === "") return { start: offset - name.length, names: elementsIn(open) }
  return attributesAt([...open, name], attributes, rest, offset)
}

function closing(open: readonly string[], written: string, offset: number): PolicyNamesAt {
  const last = open.at(-1)
  const names: PolicyName[] = last === undefined ? [] : [{ kind: "element", name: last, detail: "" }]
  return { start: offset - written.length, names }
}

function attributesAt(path: readonly string[], before: string, rest: string, offset: number): PolicyNamesAt {
  const { attributes = {} } = elementAt(path)?.shape ?? {}
  const [, name = "", value] = /^\s*([\w:.-]*)(?:\s*=\s*(?:["']([^"']*))?)?$/.exec(rest) ?? []
  if (rest.includes("=")) {
    const row = attributes[name]
    const values = row?.values ?? (row?.flag === true ? ["true", "false"] : [])
    return {
      start: offset - (value ?? "").length,
      names: values.map((each) => ({ kind: "value", name: each, detail: name })),
    }
  }
  const written = new Set([...before.matchAll(/([\w:.-]+)\s*=/g)].map(([, each]) => each))
  const names = Object.entries(attributes).flatMap(([each, { required, dynamic }]): PolicyName[] => {
    const facts = [required === true ? "required" : "", dynamic === true ? "may be an expression" : ""]
    return written.has(each)
      ? []
      : [{ kind: "attribute", name: each, detail: facts.filter((fact) => fact !== "").join(", ") }]
  })
  return { start: offset - name.length, names }
}

/** The elements that the innermost open element can contain. */
function elementsIn(open: readonly string[]): PolicyName[] {
  const element = (name: string, detail: string): PolicyName => ({ kind: "element", name, detail })
  const [root, section] = open
  if (root === undefined)
    return Object.keys(roots).map((name) => element(name, name === "policies" ? "a document" : "a fragment"))
  if (open.length === 1 && root === "policies") return sections.map((name) => element(name, "section"))
  const shape = elementAt(open)?.shape
  if (shape === undefined) return []
  if (shape.policies !== true)
    return Object.entries(shape.children ?? {}).map(([name, { required }]) =>
      element(name, required === true ? "required" : ""),
    )
  const within = root === "fragment" ? sections : sections.filter((each) => each === section)
  const fitting = Object.entries(policies).filter(([, row]) =>
    row.sections.some((each) => within.includes(each)),
  )
  return [
    ...fitting.map(([name]) => element(name, "policy")),
    ...(root === "policies" ? [element("base", "the outer policies")] : []),
    element("include-fragment", "the policies of a fragment"),
  ]
}
