/** A key that stands twice in one object: JSON.parse keeps the last and says nothing. */
export interface DuplicateKey {
  readonly key: string
  /** From 1. */
  readonly line: number
}

/** The first key of `text`, which is JSON, that its object has already. */
export function duplicateKey(text: string): DuplicateKey | undefined {
  /** Keys of the objects around the place; undefined for a list. */
  const around: (Set<string> | undefined)[] = []
  let keyFollows = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === "{" || sign === "[") around.push(sign === "{" ? new Set() : undefined)
    else if (sign === "}" || sign === "]") around.pop()
    if (sign === "{" || sign === ",") keyFollows = true
    if (sign !== '"') continue
    const end = endOfString(text, at)
    const keys = around.at(-1)
    if (keyFollows && keys !== undefined) {
      const key: string = JSON.parse(text.slice(at, end))
      if (keys.has(key)) return { key, line: text.slice(0, at).split("\n").length }
      keys.add(key)
    }
    keyFollows = false
    at = end - 1
  }
  return undefined
}

/** The place behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === "\\") backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
}
