import type { Step } from "../../runtime/plan/steps.ts"
import { Report } from "../core/diagnostic.ts"
import { type Element, elementsOf, type Node, type PolicyDocument, type TextNode } from "../policy/ast.ts"
import { lowerSection } from "../policy/lower-section.ts"
import type { Place, Section, Used } from "../policy/site.ts"
import { mustClose } from "./closing.ts"
import { policiesIn } from "./holders.ts"
import { placeOf } from "./policy-text.ts"
import { jwt } from "./print-access.ts"
import { printStep } from "./print-step.ts"
import { certain, fixed } from "./statement.ts"
import type { ConvertSurroundings } from "./surroundings.ts"
import { type Tally, translateStep } from "./translate-step.ts"
import { type Around, NoCounterpart, none, refuse } from "./translation.ts"
import type { Block, Loss, Statement, Unit } from "./units.ts"
import { commentLines, parenthesized, quoted } from "./write-text.ts"

/** What conversion of a section works with. */
export interface Site {
  readonly section: Section
  readonly document: PolicyDocument
  readonly place: Place
  readonly surroundings: ConvertSurroundings
  readonly around: Around
  readonly tally: Tally
  /** What has been changed up to here; `around` looks at it. */
  readonly changes: Set<string>
  /** What is not the same although nothing is left out. */
  readonly notes: Note[]
  /** Policies whose statement was refused in its place, and why. */
  readonly refused: ReadonlyMap<Element, string>
  /** Files of fragments that are being gone through. */
  readonly fragments: readonly PolicyDocument[]
}

/** Something to know, and the place it is about. */
export interface Note {
  readonly place: string
  readonly note: string
}

/** Fields of containers that hold what is in them. */
type Header = Step & { readonly kind: "when" | "retry" | "parallel" | "limit-concurrency" | "cache-value" }

const fragmentsMax = 20

/** The units of a list of policies, in their order. */
export function unitsOf(nodes: readonly Node[], site: Site): Unit[] {
  return nodes.flatMap((node): Unit[] => {
    if (node.kind === "text") return [strayText(node, site)]
    if (node.kind === "comment") return [{ kind: "comment", lines: commentLines(node.text) }]
    if (node.name === "base") return []
    if (node.name === "include-fragment") return fragmentOf(node, site)
    return unitOf(node, site)
  })
}

/** Text between policies means nothing. */
function strayText({ raw: { span } }: TextNode, { notes }: Site): Unit {
  const text = span.file.text.slice(span.start, span.end).trim()
  const start = span.start + span.file.text.slice(span.start, span.end).search(/\S/)
  notes.push({ place: placeOf(span.file, start), note: "text stands between policies: it means nothing" })
  return { kind: "comment", lines: commentLines(text) }
}

const changing: Readonly<Record<string, string>> = {
  "set-method": "method",
  "rewrite-uri": "path",
  "set-backend-service": "backend",
}

/** What runs again, or beside others, may find what it changes itself. */
const unordered: ReadonlySet<string> = new Set(["retry", "wait"])

function noteChanges(element: Element, { changes }: Site): void {
  const change = changing[element.name]
  if (change !== undefined) changes.add(change)
}

/** A policy as a statement, with its own comments in front, or as what is lost. */
export function unitOf(element: Element, site: Site): Unit[] {
  if (unordered.has(element.name)) for (const each of policiesIn(element)) noteChanges(each, site)
  const units = tried(element, site)
  for (const each of policiesIn(element)) noteChanges(each, site)
  return units
}

function tried(element: Element, site: Site): Unit[] {
  try {
    const refusal = site.refused.get(element)
    if (refusal !== undefined) return [lossOf(element, refusal, site)]
    if (element.name === "choose") return chooseOf(element, site)
    if (containers.has(element.name)) return [containerOf(element, site)]
    return [...commentsIn(element), leafOf(element, site)]
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error
    return [lossOf(element, error.message, site)]
  }
}

const containers: ReadonlySet<string> = new Set(["retry", "wait", "limit-concurrency", "cache-value"])

/** What is left out, and whether calls are refused in its place. */
export function lossOf(element: Element, reason: string, { section, document }: Site): Loss {
  return { kind: "loss", element, document, reason, closed: mustClose(element, section) }
}

function commentsIn(element: Element): Unit[] {
  return element.children.flatMap((child): Unit[] =>
    child.kind === "comment"
      ? [{ kind: "comment", lines: commentLines(child.text) }]
      : child.kind === "element"
        ? commentsIn(child)
        : [],
  )
}

/** The steps of one policy. @throws NoCounterpart with the first finding where it is wrong or not possible here. */
export function lowered(element: Element, site: Site, outer: readonly Used[] = []): Used[] {
  const { surroundings, section, place, document } = site
  const report = new Report()
  surroundings.report = report
  const holder = { ...element, name: section, attributes: [], children: [element] }
  const used = lowerSection(holder, document, { section, place, surroundings, outer })
  const wrong = report.sorted().find(({ severity }) => severity === "error")
  return wrong === undefined ? used : refuse(wrong.detail)
}

function stepOf({ id }: Used, { surroundings }: Site): Step {
  const step = surroundings.stepOf(id)
  if (step === undefined) throw new Error(`there is no step ${id}`)
  return step
}

function leafOf(element: Element, site: Site): Statement {
  const used = lowered(element, site)
  if (used.length === 0) return refuse("it has no effect here")
  const translated = (each: Used): Step => translateStep(stepOf(each, site), site.around, site.tally)
  const [only] = used
  if (only !== undefined && stepOf(only, site).kind === "any-of") {
    const ways = (only.inside["steps"] ?? []).map(translated)
    const lines = ways.flatMap((way) =>
      way.kind === "validate-jwt" ? jwt(way) : none("one of several checks"),
    )
    return {
      kind: "statement",
      element,
      steps: [stepOf(only, site)],
      ways,
      lines: ["check any {", ...lines, "}"],
      blocks: [],
    }
  }
  const steps = used.map(translated)
  if (steps.some(({ kind }) => kind === "cors"))
    return refuse("it stands in gateway.conf outside of `inbound`, once, and runs in front of everything")
  return { kind: "statement", element, steps, lines: steps.flatMap(printStep), blocks: [] }
}

/** A container as if there were one statement in it: what it says of itself. */
function headersOf(element: Element, site: Site): Header[] {
  const { start } = element.span
  const span = site.document.file.span(start, start)
  const base: Element = { kind: "element", name: "base", nameSpan: span, attributes: [], children: [], span }
  const standIn = site.surroundings.step({ kind: "set-status", status: 200 }, span)
  const hollow = (of: Element): Element => ({ ...of, children: [base] })
  const emptied =
    element.name === "choose" ? { ...element, children: elementsOf(element).map(hollow) } : hollow(element)
  const found: Header[] = []
  let next: readonly Used[] = lowered(emptied, site, [standIn])
  for (let [first] = next; first !== undefined && first.id !== standIn.id; [first] = next) {
    found.push(stepOf(first, site) as Header)
    next = first.inside["otherwise"] ?? []
  }
  return found
}

/** `when … else when … else …`; from the first condition on that has no counterpart the rest is lost. */
function chooseOf(element: Element, site: Site): Unit[] {
  const branches = elementsOf(element)
  const headers = headersOf(element, site)
  const before: Unit[] = []
  const blocks: Block[] = []
  const steps: Step[] = []
  let comments: Unit[] = []
  let at = 0
  for (const child of element.children) {
    if (child.kind === "comment") comments.push({ kind: "comment", lines: commentLines(child.text) })
    if (child.kind !== "element") continue
    if (child === branches[0]) {
      before.push(...comments)
      comments = []
    }
    const header = headers[at++]
    const test = header === undefined ? undefined : conditionOf(header, site)
    if (typeof test === "string") {
      if (blocks.length === 0) return [...before, lossOf(element, test, site)]
      const rest: Loss = { ...lossOf(element, test, site), from: child }
      blocks.push({ open: "else {", units: [...comments, rest] })
      return [...before, { kind: "statement", element, steps, lines: [], blocks }]
    }
    const units = [...comments, ...unitsOf(child.children, site)]
    comments = []
    if (test !== undefined) steps.push(test)
    const open = test === undefined ? "else {" : `${blocks.length === 0 ? "" : "else "}when ${testOf(test)} {`
    blocks.push({ open, units })
  }
  const last = blocks.at(-1)
  if (last !== undefined && comments.length > 0)
    blocks[blocks.length - 1] = { ...last, units: [...last.units, ...comments] }
  return [...before, { kind: "statement", element, steps, lines: [], blocks }]
}

/** The translated header, or why there is none. */
function conditionOf(header: Header, site: Site): Step | string {
  try {
    return translateStep(header, site.around, site.tally)
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error
    return error.message
  }
}

function testOf(step: Step): string {
  return "test" in step ? parenthesized(step.test.text) : none("a condition")
}

function containerOf(element: Element, site: Site): Statement {
  const [header] = headersOf(element, site)
  if (header === undefined) return refuse("it has no effect here")
  const step = translateStep(header, site.around, site.tally)
  const inner =
    (element.name === "cache-value" ? elementsOf(element).find(({ name }) => name === "value") : undefined) ??
    element
  if (step.kind !== "parallel") {
    const units = unitsOf(inner.children, site)
    return { kind: "statement", element, steps: [step], lines: [], blocks: [{ open: headOf(step), units }] }
  }
  const branches = inner.children.flatMap((child): Block[] => {
    const units = unitsOf([child], site)
    return units.length === 0 ? [] : [{ open: "branch {", units }]
  })
  return {
    kind: "statement",
    element,
    steps: [step],
    lines: [`parallel ${step.until} {`],
    blocks: merged(branches),
  }
}

/** A comment between branches belongs to the next. */
function merged(branches: readonly Block[]): Block[] {
  const made: Block[] = []
  let comments: Unit[] = []
  for (const branch of branches) {
    if (branch.units.every(({ kind }) => kind === "comment")) comments.push(...branch.units)
    else {
      made.push({ ...branch, units: [...comments, ...branch.units] })
      comments = []
    }
  }
  return made
}

function headOf(step: Step): string {
  switch (step.kind) {
    case "retry": {
      if (certain(step.fastFirst, "`first-fast-retry`")) return none("a first repetition that does not wait")
      const [every, plus, most] = [step.intervalSeconds, step.deltaSeconds, step.maxSeconds]
      const words = [
        `retry ${fixed(step.times, "a number")} while ${parenthesized(step.test.text)}`,
        `every ${fixed(every, "a time")}s`,
        ...(plus === undefined ? [] : [`plus ${fixed(plus, "a time")}s`]),
        ...(most === undefined ? [] : [`at-most ${fixed(most, "a time")}s`]),
      ]
      return `${words.join(" ")} {`
    }
    case "limit-concurrency":
      return `concurrency ${step.max} by ${quoted(step.key)} {`
    case "cache-value": {
      if (step.default !== undefined || step.refreshAfterSeconds !== undefined)
        return none("a value that is made again before its end, or has a default")
      return `cache value ${step.variable} ${quoted(step.key)} for ${fixed(step.seconds, "a time")}s {`
    }
    default:
      return none(`\`${step.kind}\``)
  }
}

/** The policies of a fragment in the place that includes it. */
function fragmentOf(element: Element, site: Site): Unit[] {
  const raw = element.attributes.find(({ name }) => name === "fragment-id")?.raw.span
  const id = raw?.file.text.slice(raw.start, raw.end).trim() ?? ""
  const fragment = site.surroundings.fragment(id)
  if (fragment?.root === undefined)
    return [
      lossOf(
        element,
        `the fragment \`${id}\` is not at hand: name its file by \`--fragment ${id}=FILE\``,
        site,
      ),
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
