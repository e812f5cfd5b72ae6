/** A range of a text: from `start` up to, but not including, `end`. */
interface Range {
  readonly start: number
  readonly end: number
}

interface Member extends Range {
  readonly name: string
  /** Where the value of the member begins; it ends with the member. */
  readonly value: number
}

/** Members next to the array that contain its number of items. */
const counts: ReadonlySet<string> = new Set(["count", "total", "totalcount", "size", "length"])

/**
 * Whether every name of `path` occurs exactly once in its object. RFC 8259 §4 does not define which of two members counts, so another reader may find
 * another value. `text` must be JSON that contains the path.
 */
export function isNamedOnce(text: string, path: readonly string[]): boolean {
  let at = skipBlank(text, 0)
  for (const name of path) {
    const [member, second] = membersOf(text, at).filter((each) => each.name === name)
    if (member === undefined || second !== undefined) return false
    at = member.value
  }
  return true
}

/**
 * Removes items from the array at `path` (names of members, outermost first). Everything else stays as written, including numbers that JavaScript
 * cannot represent. A count next to the array gets the new length when it was the old length; any other count is removed, because its new value is
 * not known. `text` must be JSON (RFC 8259) with that array, named once; `keep` has one entry per item.
 */
export function withoutItems(text: string, path: readonly string[], keep: readonly boolean[]): string {
  return spliced(text, skipBlank(text, 0), path, keep)
}

/** The text with a new value at `start`. */
function spliced(text: string, start: number, path: readonly string[], keep: readonly boolean[]): string {
  const [name, ...rest] = path
  if (name === undefined) {
    const items = itemsOf(text, start)
    const left = items.map(({ start: from, end }, index) =>
      keep[index] === true ? text.slice(from, end) : undefined,
    )
    return text.slice(0, start) + joined(text, start, items, left)
  }
  const members = membersOf(text, start)
  const left = members.map((each) => {
    if (each.name === name) return spliced(text.slice(0, each.end), each.value, rest, keep).slice(each.start)
    return rest.length === 0 ? corrected(text, each, keep) : text.slice(each.start, each.end)
  })
  return text.slice(0, start) + joined(text, start, members, left)
}

/** A member next to the array; undefined for a count whose new value is not known. */
function corrected(
  text: string,
  { name, start, value, end }: Member,
  keep: readonly boolean[],
): string | undefined {
  const written = text.slice(value, end)
  if (!/^[-\d]/.test(written) || !counts.has(name.toLowerCase().replaceAll("_", "")))
    return text.slice(start, end)
  if (Number(written) !== keep.length) return undefined
  return text.slice(start, value) + String(keep.filter((stays) => stays).length)
}

/** The array or object at `open` with the given elements, and the text after it. Each element except the first keeps the comma and the spaces before it. */
function joined(
  text: string,
  open: number,
  elements: readonly Range[],
  left: readonly (string | undefined)[],
): string {
  const [first] = elements
  const last = elements.at(-1)
  if (first === undefined || last === undefined) return text.slice(open)
  let inside = ""
  let before = first
  for (const [index, element] of elements.entries()) {
    const written = left[index]
    if (written !== undefined)
      inside +=
        inside === ""
          ? text.slice(open + 1, first.start) + written
          : text.slice(before.end, element.start) + written
    before = element
  }
  const close = skipBlank(text, last.end)
  return (text[open] as string) + inside + text.slice(inside === "" ? close : last.end)
}

/** The ranges of an array's items. The text was parsed before, so it is valid JSON. */
function itemsOf(text: string, open: number): Range[] {
  const items: Range[] = []
  let at = skipBlank(text, open + 1)
  while (text[at] !== "]") {
    const end = endOfValue(text, at)
    items.push({ start: at, end })
    at = behindComma(text, end)
  }
  return items
}

/** The members of an object with the ranges of their names and values. */
function membersOf(text: string, open: number): Member[] {
  const members: Member[] = []
  let at = skipBlank(text, open + 1)
  while (text[at] !== "}") {
    const endOfName = endOfString(text, at)
    const value = skipBlank(text, skipBlank(text, endOfName) + 1)
    const end = endOfValue(text, value)
    members.push({ start: at, name: JSON.parse(text.slice(at, endOfName)) as string, value, end })
    at = behindComma(text, end)
  }
  return members
}

function behindComma(text: string, end: number): number {
  const at = skipBlank(text, end)
  return text[at] === "," ? skipBlank(text, at + 1) : at
}

function skipBlank(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at += 1
  }
}

/** The offset after a string; a quote behind an odd number of backslashes does not end it. */
function endOfString(text: string, open: number): number {
  let at = open + 1
  for (;;) {
    at = text.indexOf('"', at) + 1
    let backslashes = at - 2
    while (text[backslashes] === "\\") backslashes -= 1
    if ((at - 2 - backslashes) % 2 === 0) return at
  }
}

const scalarEnd = /[\s,\]}]|$/g

/** The offset after a value. */
function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== "{" && first !== "[") {
    scalarEnd.lastIndex = start
    return scalarEnd.exec(text)?.index ?? text.length
  }
  let depth = 0
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = endOfString(text, at)
      continue
    }
    at += 1
    if (code === 0x7b || code === 0x5b) depth += 1
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at
  }
}
