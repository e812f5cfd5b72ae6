import { isSharing, type Step } from "../../../runtime/plan/steps.ts"
import type { Element, PolicyNode, TextNode } from "../ast.ts"
import type { Used } from "../site.ts"
import { chooseOf } from "./choose.ts"
import { containerOf } from "./container.ts"
import { policiesIn } from "./holders.ts"
import { lossOf, lowered, orLoss, type Site, stepOf, translated } from "./lowering.ts"
import { placeOf } from "./policy-text.ts"
import { printStep, printWith } from "./print-step.ts"
import { refuse } from "./translation.ts"
import type { ConvertedStatement, Unit } from "./units.ts"
import { commentLines } from "./write-text.ts"

const fragmentsMax = 20

/** Converts the nodes of a section in order. `<base />` has no counterpart, because policies of outer scopes always run. */
export function unitsOf(nodes: readonly PolicyNode[], site: Site): Unit[] {
  return nodes.flatMap((node): readonly Unit[] => {
    if (node.kind === "text") return [strayText(node, site)]
    if (node.kind === "comment") return [{ kind: "comment", lines: commentLines(node.text) }]
    if (node.name === "base") return []
    if (node.name === "include-fragment") return fragmentOf(node, site)
    return unitOf(node, site)
  })
}

/** Reports text between policies, which has no effect. */
function strayText({ raw: { span } }: TextNode, { notes }: Site): Unit {
  const text = span.file.text.slice(span.start, span.end).trim()
  const start = span.start + span.file.text.slice(span.start, span.end).search(/\S/)
  notes.push({
    place: placeOf(span.file, start),
    note: "there is text between policies, which has no effect",
  })
  return { kind: "comment", lines: commentLines(text) }
}

const changing: Readonly<Record<string, string>> = {
  "set-method": "method",
  "rewrite-uri": "path",
  "set-query-parameter": "query",
  "set-backend-service": "backend",
}

/** Policies that repeat or run concurrently may read their own changes. */
const unordered: ReadonlySet<string> = new Set(["retry", "wait"])

function noteChanges(element: Element, { changes, checked }: Site): void {
  checked.forget(element)
  const change = changing[element.name]
  if (change !== undefined) changes.add(change)
}

/** A policy as a statement, with its own comments before it, or as a loss. */
export function unitOf(element: Element, site: Site): readonly Unit[] {
  if (unordered.has(element.name)) for (const each of policiesIn(element)) noteChanges(each, site)
  const units = tried(element, site)
  for (const each of policiesIn(element)) noteChanges(each, site)
  return units
}

function tried(element: Element, site: Site): readonly Unit[] {
  return orLoss(element, site, () => {
    if (element.name === "choose") return chooseOf(element, site, unitsOf)
    if (containers.has(element.name)) return [containerOf(element, site, unitsOf)]
    return [...commentsIn(element), leafOf(element, site)]
  })
}

const containers: ReadonlySet<string> = new Set(["retry", "wait", "limit-concurrency", "cache-value"])

/** Comments inside of an element; they are printed before its statement. */
function commentsIn(element: Element): Unit[] {
  return element.children.flatMap((child): Unit[] =>
    child.kind === "comment"
      ? [{ kind: "comment", lines: commentLines(child.text) }]
      : child.kind === "element"
        ? commentsIn(child)
        : [],
  )
}

/** An element without inner policies. */
function leafOf(element: Element, site: Site): ConvertedStatement {
  const used = lowered(element, site)
  if (used.length === 0) return refuse("it has no effect here")
  const { checked } = site
  const own = (each: Used): Step => translated(checked.withOutput(stepOf(each, site), element), element, site)
  const [only] = used
  if (only !== undefined && stepOf(only, site).kind === "any-of") {
    const ways = (only.inside["steps"] ?? []).map(own)
    const anyOf = stepOf(only, site)
    return {
      kind: "statement",
      element,
      steps: [anyOf],
      ways,
      lines: printWith(anyOf, ways),
      blocks: [],
    }
  }
  const steps = used.map(own)
  if (steps.some(isSharing))
    return refuse("it belongs in gateway.conf outside of `inbound`, once, and runs before everything else")
  const lines = steps.flatMap(printStep)
  for (const step of steps) checked.see(step, element)
  // Before translation, because the steps then still have the document's names of variables.
  if (checked.runsAlways(element)) site.passed(used.map((each) => stepOf(each, site)))
  return { kind: "statement", element, steps, lines, blocks: [] }
}

/** The policies of a fragment, inserted at its place. */
function fragmentOf(element: Element, site: Site): Unit[] {
  const raw = element.attributes.find(({ name }) => name === "fragment-id")?.raw.span
  const id = raw?.file.text.slice(raw.start, raw.end).trim() ?? ""
  const fragment = site.host.fragment(id)
  if (fragment?.root === undefined)
    return [
      lossOf(element, `the file of the fragment \`${id}\` is missing: add \`--fragment ${id}=FILE\``, site),
    ]
  if (site.fragments.includes(fragment) || site.fragments.length >= fragmentsMax)
    return [lossOf(element, `the fragment \`${id}\` includes itself`, site)]
  return [
    { kind: "comment", lines: commentLines(`fragment ${id}`) },
    ...unitsOf(fragment.root.children, {
      ...site,
      document: fragment,
      fragments: [...site.fragments, fragment],
    }),
  ]
}
