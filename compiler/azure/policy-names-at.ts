import { policies } from "./elements/table.ts"
import type { Shape } from "./shape.ts"
import type { DocumentSection } from "./site.ts"

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

const sections: readonly DocumentSection[] = ["inbound", "backend", "outbound", "on-error"]

/** A tag, a comment or CDATA. The last tag may be unfinished. */
const token =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<(\/?)([\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)(\s*[\w:.-]*(?:\s*=\s*(?:"[^"]*|'[^']*)?)?)(\/?>)?/g

/** Elements, attributes and values that a policy document can have at an offset, from the tables by which documents are read. */
export function policyNamesAt(text: string, offset: number): PolicyNamesAt {
  const open: string[] = []
  for (const match of text.slice(0, offset).matchAll(token)) {
    const [whole, closes, name, attributes = "", rest = "", end] = match
    if (name === undefined) {
      // A comment or CDATA that does not end before the offset.
      if (match.index + whole.length === offset && !/(?:-->|\]\]>)$/.test(whole))
        return { start: offset, names: [] }
    } else if (end === undefined && match.index + whole.length === offset) {
      if (closes === "/") return closing(open, name, offset)
      if (attributes === "" && rest === "") return { start: offset - name.length, names: elementsIn(open) }
      return attributesAt([...open, name], attributes, rest, offset)
    } else if (closes === "/") open.pop()
    else if (end === ">") open.push(name)
  }
  return { start: offset, names: elementsIn(open) }
}

function closing(open: readonly string[], written: string, offset: number): PolicyNamesAt {
  const last = open.at(-1)
  const names: PolicyName[] = last === undefined ? [] : [{ kind: "element", name: last, detail: "" }]
  return { start: offset - written.length, names }
}

function attributesAt(path: readonly string[], before: string, rest: string, offset: number): PolicyNamesAt {
  const { attributes = {} } = shapeOf(path) ?? {}
  const [, name = "", value] = /^\s*([\w:.-]*)(?:\s*=\s*(?:["']([^"']*))?)?$/.exec(rest) ?? []
  if (rest.includes("=")) {
    const values = attributes[name]?.values ?? []
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
  if (root === undefined) return [element("policies", "a document"), element("fragment", "a fragment")]
  if (open.length === 1 && root === "policies") return sections.map((name) => element(name, "section"))
  const shape = open.length > 1 || root === "fragment" ? shapeOf(open) : undefined
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
  ]
}

/** The shape of the innermost element of a path from the root. */
function shapeOf([root, ...path]: readonly string[]): Shape | undefined {
  const inside = root === "policies" ? path.slice(1) : path
  const start: Shape | undefined = root === "policies" || root === "fragment" ? { policies: true } : undefined
  return inside.reduce<Shape | undefined>((shape, name) => {
    if (shape?.policies === true && Object.hasOwn(policies, name)) return policies[name]
    return Object.hasOwn(shape?.children ?? {}, name) ? shape?.children?.[name] : undefined
  }, start)
}
