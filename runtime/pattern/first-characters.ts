import { type CharacterSet, characterSet, foldCase, union } from "./character-set.ts"
import type { PatternNode } from "./syntax-tree.ts"

/** Whether a match can stand at the beginning of a text only. */
export function beginsText(node: PatternNode): boolean {
  if (node.kind === "sequence") return node.items[0] !== undefined && beginsText(node.items[0])
  if (node.kind === "group" || node.kind === "atomic") return beginsText(node.item)
  return node.kind === "anchor" && node.anchor === "start"
}

/** Whether it may take nothing. Of references nobody knows before. */
export function mayBeEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case "character":
    case "set":
      return false
    case "sequence":
      return node.items.every(mayBeEmpty)
    case "choice":
      return node.items.some(mayBeEmpty)
    case "group":
    case "atomic":
      return mayBeEmpty(node.item)
    case "repeat":
      return node.min === 0 || mayBeEmpty(node.item)
    default:
      return true
  }
}

/** What a node takes first, as far as it takes something; undefined: nobody knows. */
export function firstOf(node: PatternNode): CharacterSet | undefined {
  switch (node.kind) {
    case "character": {
      const { code, ignoreCase } = node
      if (!ignoreCase) return characterSet([[code, code]], { negative: false, ignoreCase })
      return characterSet([(each) => foldCase(each) === foldCase(code)], {
        negative: false,
        ignoreCase: false,
      })
    }
    case "set":
      return node.set
    case "choice":
      return unionOf(node.items)
    case "sequence": {
      const end = node.items.findIndex((item) => !mayBeEmpty(item))
      return unionOf(end < 0 ? node.items : node.items.slice(0, end + 1))
    }
    case "group":
    case "atomic":
    case "repeat":
      return firstOf(node.item)
    case "reference":
      return undefined
    default:
      return nothing
  }
}

const nothing = characterSet([], { negative: false, ignoreCase: false })

function unionOf(items: readonly PatternNode[]): CharacterSet | undefined {
  const sets = items.map(firstOf)
  return sets.includes(undefined) ? undefined : union(sets as CharacterSet[])
}

/** What stands behind a node: what a character there must be, or that the pattern ends, with the text or not; undefined: nobody knows. */
export type Follow = CharacterSet | "end" | undefined

/** Whether it may judge the place it begins at by more than the next character: then fewer characters before it can be right. */
export function looksAround(node: PatternNode): boolean {
  switch (node.kind) {
    case "character":
    case "set":
      return false
    case "sequence": {
      const end = node.items.findIndex((item) => !mayBeEmpty(item))
      return (end < 0 ? node.items : node.items.slice(0, end + 1)).some(looksAround)
    }
    case "choice":
      return node.items.some(looksAround)
    case "group":
    case "atomic":
    case "repeat":
      return looksAround(node.item)
    default:
      return true
  }
}

/** What follows the items before these. */
export function followOf(items: readonly PatternNode[], follow: Follow): Follow {
  const [first, ...rest] = items
  if (first === undefined) return follow
  // Behind all that a set takes there may be the end, and behind less of it not.
  if (first.kind === "anchor") return first.anchor === "end" || first.anchor === "final" ? "end" : undefined
  if (looksAround(first)) return undefined
  const own = firstOf(first)
  if (own === undefined || !mayBeEmpty(first)) return own
  const then = followOf(rest, follow)
  // Whether it is the end or a character cannot be said in one.
  return then === "end" ? own : then && union([own, then])
}
