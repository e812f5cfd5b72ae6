import { CsException } from "./errors.ts"
import { charge } from "./run.ts"
import { XAttribute, XContainer, XElement, type XNode, XText } from "./xml-tree.ts"

/** A result of a path. */
type Found = XNode | XAttribute

/** Namespace prefixes for a path. */
export type Prefixes = ReadonlyMap<string, string>

interface Step {
  readonly deep: boolean
  readonly axis: "child" | "attribute" | "self" | "parent" | "text"
  readonly test: string
  readonly filters: readonly string[]
}

const lengthMax = 2000

function refuse(path: string): CsException {
  return new CsException("XmlException", `'${path.slice(0, 100)}' is not a path that can be followed here.`)
}

/**
 * Evaluates the subset of XPath 1.0 that documents use: `/a/b`, `//c`, `@x`, `*`, `.`, `..`, `text()`, prefixes, and filters with a number, `last()`, or
 * comparisons of `@x`, a child, `text()`, `.`, `local-name()`, `name()` with a text, joined by `and`/`or`.
 * @throws XmlException for anything else
 */
export function followPath(from: XContainer, path: string, prefixes: Prefixes): Found[] {
  if (path.length > lengthMax) throw refuse(path)
  const found: Found[] = []
  for (const branch of splitOutside(path, "|"))
    for (const node of followBranch(from, branch.trim(), prefixes))
      if (!found.includes(node)) found.push(node)
  return found
}

/** One path of a union (`a | b`). */
function followBranch(from: XContainer, path: string, prefixes: Prefixes): Found[] {
  let start: XContainer = from
  if (path.startsWith("/")) while (start.parent !== null) start = start.parent
  let current: Found[] = [start]
  // If the tree has no document, an absolute path starts with the name of the root.
  const steps = readSteps(path)
  if (path.startsWith("/") && start instanceof XElement && steps[0] !== undefined && !steps[0].deep) {
    const [first, ...rest] = steps
    current = matches(start, first as Step, prefixes) ? [start] : []
    return rest.reduce((nodes, step) => follow(nodes, step, prefixes), current)
  }
  return steps.reduce((nodes, step) => follow(nodes, step, prefixes), current)
}

/** Splits a path into steps. An empty part is `//`: the next step searches all descendants. */
function readSteps(path: string): Step[] {
  const steps: Step[] = []
  let deep = false
  for (const part of splitOutside(path, "/").slice(path.startsWith("/") ? 1 : 0)) {
    if (part === "") {
      deep = true
      continue
    }
    const found = /^([^[]+)((?:\[.*\])?)$/s.exec(part.trim())
    if (found === null) throw refuse(path)
    const filters = found[2] === "" ? [] : splitFilters(found[2] as string)
    steps.push({ deep, ...nodeTest(found[1]?.trim() ?? "", path), filters })
    deep = false
  }
  if (deep) throw refuse(path)
  return steps
}

function nodeTest(text: string, path: string): Pick<Step, "axis" | "test"> {
  if (text === ".") return { axis: "self", test: "*" }
  if (text === "..") return { axis: "parent", test: "*" }
  if (text === "text()") return { axis: "text", test: "*" }
  const bare = text.replace(/^child::/, "").replace(/^attribute::/, "@")
  if (!/^@?[\p{L}_*][\p{L}\p{N}_.:*-]*$/u.test(bare)) throw refuse(path)
  return bare.startsWith("@") ? { axis: "attribute", test: bare.slice(1) } : { axis: "child", test: bare }
}

/** Splits at a sign outside brackets and quotes. */
function splitOutside(text: string, sign: string): string[] {
  const parts = [""]
  let depth = 0
  let quote = ""
  for (const c of text) {
    if (quote !== "") quote = c === quote ? "" : quote
    else if (c === "'" || c === '"') quote = c
    else if (c === "[" || c === "(") depth++
    else if (c === "]" || c === ")") depth--
    if (c === sign && depth === 0 && quote === "") parts.push("")
    else parts[parts.length - 1] += c
  }
  return parts
}

function splitFilters(text: string): string[] {
  return splitOutside(text.replace(/\]\s*\[/g, "]\u0000["), "\u0000").map((part) => part.slice(1, -1).trim())
}

/** All nodes that a step reaches, each once. Work is charged by candidates, because `//` in a deep tree reaches very many. */
function follow(nodes: readonly Found[], step: Step, prefixes: Prefixes): Found[] {
  const found: Found[] = []
  for (const node of nodes) {
    const starts = step.deep && node instanceof XContainer ? [node, ...node.descendants()] : [node]
    for (const start of starts) {
      let candidates = axisOf(start, step).filter((candidate) => matches(candidate, step, prefixes))
      charge(candidates.length + 1)
      for (const filter of step.filters)
        candidates = candidates.filter((candidate, index) =>
          passes(candidate, filter, index, candidates.length, prefixes),
        )
      for (const candidate of candidates) if (!found.includes(candidate)) found.push(candidate)
    }
  }
  charge(found.length * 2)
  return found
}

function axisOf(node: Found, step: Step): Found[] {
  if (step.axis === "self") return [node]
  if (step.axis === "parent") return node.parent === null ? [] : [node.parent]
  if (step.axis === "attribute") return node instanceof XElement ? node.attributes : []
  if (!(node instanceof XContainer)) return []
  return step.axis === "text" ? node.nodes.filter((child) => child instanceof XText) : node.childElements()
}

/** A prefix must be declared. A name without a prefix has no namespace, as XPath 1.0 demands. */
function matches(node: Found, { test, axis }: Step, prefixes: Prefixes): boolean {
  if (test === "*" || axis === "text") return true
  if (!(node instanceof XElement || node instanceof XAttribute)) return false
  const colon = test.indexOf(":")
  const local = test.slice(colon + 1)
  const uri = colon < 0 ? "" : prefixes.get(test.slice(0, colon))
  if (uri === undefined)
    throw new CsException("XmlException", `Namespace prefix '${test.slice(0, colon)}' is not defined.`)
  return node.name.uri === uri && (local === "*" || node.name.local === local)
}

/** A filter: a position, `last()`, `and`, `or`, `not(…)`, a comparison with a text or number, or the existence of a node. */
function passes(node: Found, filter: string, index: number, count: number, prefixes: Prefixes): boolean {
  if (/^\d+$/.test(filter)) return index + 1 === Number(filter)
  if (filter === "last()") return index + 1 === count
  const either = filter.split(/\s+or\s+/)
  if (either.length > 1) return either.some((part) => passes(node, part, index, count, prefixes))
  const both = filter.split(/\s+and\s+/)
  if (both.length > 1) return both.every((part) => passes(node, part, index, count, prefixes))
  const negated = /^not\((.*)\)$/s.exec(filter)
  if (negated !== null) return !passes(node, negated[1] as string, index, count, prefixes)
  const compared = /^(.+?)\s*(=|!=)\s*(?:'([^']*)'|"([^"]*)"|(\d+))$/s.exec(filter)
  if (compared === null) return operand(node, filter, prefixes).length > 0
  const wanted = compared[3] ?? compared[4] ?? compared[5]
  const values = operand(node, (compared[1] as string).trim(), prefixes)
  return values.some((value) => (value === wanted) === (compared[2] === "="))
}

function operand(node: Found, text: string, prefixes: Prefixes): string[] {
  if (text === "local-name()") return isNamed(node) ? [node.name.local] : []
  if (text === "name()") return isNamed(node) ? [node.name.local] : []
  if (text === ".") return [nodeText(node)]
  if (!(node instanceof XContainer)) return []
  return followBranch(node, text, prefixes).map(nodeText)
}

function isNamed(node: Found): node is XElement | XAttribute {
  return node instanceof XElement || node instanceof XAttribute
}

/** The text of a node in XPath. */
export function nodeText(node: Found): string {
  if (node instanceof XContainer) return node.content
  return "value" in node ? String(node.value) : ""
}
