/**
 * What one segment of a route's path matches. `static`: itself. `parameter`: any segment. `tail`: all remaining segments. `mixed`: literals with
 * non-empty parameters between them.
 */
export interface SegmentTemplate {
  readonly kind: "static" | "mixed" | "parameter" | "tail"
  /** One more than there are names: the text before, between and after the parameters. It is never empty between two parameters. */
  readonly literals: readonly string[]
  readonly names: readonly string[]
}

/** The template of a segment as written; undefined if it is invalid. */
export function segmentTemplate(segment: string): SegmentTemplate | undefined {
  if (!segment.includes("{") && !segment.includes("}"))
    return { kind: "static", literals: [segment], names: [] }
  const literals = segment.split(/\{\w+\*?\}/)
  const names = [...segment.matchAll(/\{(\w+\*?)\}/g)].map(([, name]) => name as string)
  if (literals.some((literal) => /[{}]/.test(literal))) return undefined
  if (literals.slice(1, -1).includes("")) return undefined
  const whole = literals.length === 2 && literals.every((literal) => literal === "")
  if (!names.some((name) => name.endsWith("*")))
    return { kind: whole ? "parameter" : "mixed", literals, names }
  return whole ? { kind: "tail", literals, names: names.map((name) => name.slice(0, -1)) } : undefined
}

/** The templates of a path of the plan, which starts with `/`; a trailing slash is ignored. Undefined if a segment is invalid. */
export function pathTemplates(path: string): SegmentTemplate[] | undefined {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  const templates: SegmentTemplate[] = []
  for (const segment of trimmed === "/" ? [] : trimmed.slice(1).split("/")) {
    const template = segmentTemplate(segment)
    if (template === undefined) return undefined
    templates.push(template)
  }
  return templates.some(({ kind }, at) => kind === "tail" && at < templates.length - 1)
    ? undefined
    : templates
}

/** The segment without the names of its parameters: segments of equal shape match the same. */
export function shapeOfSegment({ kind, literals }: SegmentTemplate): string {
  return kind === "tail" ? "{*}" : literals.join("{}")
}

const precedence = { static: 0, mixed: 1, parameter: 2, tail: 3 } as const

/** Order of two segments that match the same text: negative if `a` goes first, 0 if neither. Of mixed ones, the one with more literal text goes first. */
export function compareSegments(a: SegmentTemplate, b: SegmentTemplate): number {
  const order = precedence[a.kind] - precedence[b.kind]
  if (order !== 0 || a.kind !== "mixed") return order
  return textLength(b) - textLength(a)
}

function textLength({ literals }: SegmentTemplate): number {
  return literals.reduce((sum, { length }) => sum + length, 0)
}

/**
 * The values of a segment's parameters, each as short as possible, from the left; undefined if the text does not match. `least`: minimum length of a
 * value. It looks at each character at most once for each literal.
 */
export function firstReading(
  literals: readonly string[],
  text: string,
  least: 0 | 1 = 1,
): string[] | undefined {
  const inside = insideOf(literals, text, least)
  if (inside === undefined) return undefined
  let { from } = inside
  const values: string[] = []
  for (let at = 1; at < literals.length - 1; at += 1) {
    const literal = literals[at] as string
    const found = text.indexOf(literal, from + least)
    if (found < 0 || found + literal.length + least > inside.end) return undefined
    values.push(text.slice(from, found))
    from = found + literal.length
  }
  values.push(text.slice(from, inside.end))
  return values
}

/** The values of a segment's parameters, each as short as possible, from the right. If this equals the first reading, there is no other. */
export function lastReading(literals: readonly string[], text: string): string[] | undefined {
  const inside = insideOf(literals, text, 1)
  if (inside === undefined) return undefined
  let { end } = inside
  const values: string[] = []
  for (let at = literals.length - 2; at > 0; at -= 1) {
    const literal = literals[at] as string
    const before = end - 1 - literal.length
    const found = before < 0 ? -1 : text.lastIndexOf(literal, before)
    if (found <= inside.from) return undefined
    values.push(text.slice(found + literal.length, end))
    end = found
  }
  values.push(text.slice(inside.from, end))
  return values.reverse()
}

/** The text between the first and the last literal; undefined if the text does not start and end with them. */
function insideOf(
  literals: readonly string[],
  text: string,
  least: 0 | 1,
): { readonly from: number; readonly end: number } | undefined {
  const first = literals[0] as string
  const last = literals[literals.length - 1] as string
  const end = text.length - last.length
  if (end < first.length + least || !text.startsWith(first) || !text.endsWith(last)) return undefined
  return { from: first.length, end }
}
