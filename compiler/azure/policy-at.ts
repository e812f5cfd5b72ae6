import { combining, roots, sectionRows } from "./elements/structure.ts"
import { policies } from "./elements/table.ts"
import type { Shape } from "./shape.ts"
import type { DocumentSection } from "./site.ts"

/** A tag, a comment or CDATA. The last tag may be unfinished. */
const token =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<(\/?)([\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)(\s*[\w:.-]*(?:\s*=\s*(?:"[^"]*|'[^']*)?)?)(\/?>)?/g

/** A tag of a policy document, or a comment or CDATA (without a name). */
export interface DocumentTag {
  readonly start: number
  readonly text: string
  /** It ends an element. */
  readonly closes: boolean
  readonly name: string | undefined
  /** Its whole attributes, and what stands behind them. */
  readonly attributes: string
  readonly rest: string
  readonly isFinished: boolean
  /** The elements around it, from the root; for a tag that ends an element also this one. */
  readonly open: readonly string[]
}

/** The tags of a text, which may have mistakes anywhere. */
export function* tokensOf(text: string): Generator<DocumentTag, readonly string[]> {
  const open: string[] = []
  for (const match of text.matchAll(token)) {
    const [whole, slash, name, attributes = "", rest = "", end] = match
    const isFinished = name === undefined ? /(?:-->|\]\]>)$/.test(whole) : end !== undefined
    yield {
      ...{ start: match.index, text: whole, closes: slash === "/", name, attributes, rest, isFinished },
      open: [...open],
    }
    if (name === undefined) continue
    if (slash === "/") open.pop()
    else if (end === ">") open.push(name)
  }
  return open
}

/** What is known of an element. */
export interface KnownElement {
  readonly shape: Shape
  /** What it does, for roots, sections and policies. */
  readonly about?: string
  /** The sections that allow it, for policies. */
  readonly sections?: readonly DocumentSection[]
}

/** The innermost element of a path from the root, from the tables by which documents are read. */
export function elementAt([root = "", ...path]: readonly string[]): KnownElement | undefined {
  if (!isOf(roots, root)) return undefined
  const start: KnownElement = { shape: roots[root], about: roots[root].about }
  return path.reduce<KnownElement | undefined>((outer, name, depth) => {
    if (outer === undefined) return undefined
    if (root === "policies" && depth === 0)
      return isOf(sectionRows, name)
        ? { shape: sectionRows[name], about: sectionRows[name].about }
        : undefined
    if (outer.shape.policies === true) {
      const row = Object.hasOwn(policies, name) ? policies[name] : undefined
      if (row !== undefined) return { shape: row, about: row.about, sections: row.sections }
      if (isOf(combining, name)) return { shape: combining[name], about: combining[name].about }
    }
    const child = Object.hasOwn(outer.shape.children ?? {}, name) ? outer.shape.children?.[name] : undefined
    return child === undefined ? undefined : { shape: child }
  }, start)
}

function isOf<Table extends object>(table: Table, name: string): name is Extract<keyof Table, string> {
  return Object.hasOwn(table, name)
}
