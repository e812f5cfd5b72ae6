import { type CharacterSet, characterSet, foldCase, union } from "./character-set.ts"
import type { PatternNode } from "./syntax-tree.ts"

/** Whether a match is only possible at the start of a text. */
export function beginsText(node: PatternNode): boolean {
  if (node.kind === "sequence") return node.items[0] !== undefined && beginsText(node.items[0])
  if (node.kind === "group" || node.kind === "atomic") return beginsText(node.item)
  return node.kind === "anchor" && node.anchor === "start"
}

/** Whether the node can match nothing. For a back-reference this is unknown, so it counts as possible. */
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

/** The first characters of non-empty matches; undefined if unknown. */
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

/** What follows a node: the possible next characters, or the end of the pattern (which may or may not be the end of the text); undefined if unknown. */
export type Follow = CharacterSet | "end" | undefined

/** Whether the match can depend on more than the next character. Then a shorter repetition before it can be right. */
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

/** What follows the start of these items. */
export function followOf(items: readonly PatternNode[], follow: Follow): Follow {
  const [first, ...rest] = items
  if (first === undefined) return follow
  // After a maximal run the text can end; after a shorter run it cannot.
  if (first.kind === "anchor") return first.anchor === "end" || first.anchor === "final" ? "end" : undefined
  if (looksAround(first)) return undefined
  const own = firstOf(first)
  if (own === undefined || !mayBeEmpty(first)) return own
  const then = followOf(rest, follow)
  // A `Follow` cannot be both the end and a set of characters.
  return then === "end" ? own : then && union([own, then])
}
