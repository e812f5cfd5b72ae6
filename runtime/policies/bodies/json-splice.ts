/** Where something stands in a text: from `start` up to `end`. */
interface Range {
  readonly start: number
  readonly end: number
}

interface Member extends Range {
  readonly name: string
  /** Where its value begins; it ends with the member. */
  readonly value: number
}

/** Members beside the array that tell how many there are. */
const counts: ReadonlySet<string> = new Set(["count", "total", "totalcount", "size", "length"])

/**
 * Whether every name of `path` is there once in its object. RFC 8259 §4 leaves it to the reader which of two members counts: another one than this may
 * find another value there. `text` is known to be JSON that has the path.
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
 * A JSON text without some items of the array at `path` (names of members, from the outside). Everything else stays as it is written, numbers that
 * JavaScript could not hold too. A count beside the array that was its length is the new one; another one, which nobody can correct, is left
 * out. `text` is known to be JSON (RFC 8259) with that array, named once; `keep` says for each of its items whether it stays.
 */
export function withoutItems(text: string, path: readonly string[], keep: readonly boolean[]): string {
  return spliced(text, skipBlank(text, 0), path, keep)
}

/** The text with the value at `start` replaced. */
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

/** A member beside the array; undefined for a count that is not known any more. */
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

/** The array or object at `open` and what follows it, with its elements as given; each keeps the comma and blanks before it, but the first that is left. */
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
