import { isLimit, type Step, variablesSetBy } from "../../../runtime/plan/steps.ts"
import {
  attributeOf,
  type Element,
  elementsOf,
  everyElement,
  type PolicyDocument,
  type PolicyNode,
} from "../ast.ts"
import type { DocumentPlace, DocumentSection } from "../site.ts"
import { azure } from "../wing.ts"
import { CheckedTokens } from "./checked-tokens.ts"
import { ConversionHost, type Declared } from "./conversion-host.ts"
import { lossOf, lowered, type Note, orLoss, type Site, stepOf, translated } from "./lowering.ts"
import { valueName } from "./names.ts"
import { commentsOf, linesOf, placeOf } from "./policy-text.ts"
import { lackingOf, printStep } from "./print-step.ts"
import { unitsOf } from "./section.ts"
import type { Tally } from "./translate-step.ts"
import { madeOr, refuse } from "./translation.ts"
import type { ConversionLoss, ConvertedLine, Unit } from "./units.ts"
import { DocumentVariables, nothingYet, variablesNamedBy } from "./variable-kinds.ts"
import { commentLines } from "./write-text.ts"

/** Input of a draft: results of earlier drafts. */
export interface DraftOptions {
  readonly section: "inbound" | "outbound" | "on-error"
  readonly fragments: ReadonlyMap<string, PolicyDocument>
  readonly values: ReadonlyMap<string, string>
  readonly refused: ReadonlyMap<Element, string>
  readonly lost: ReadonlySet<string>
  readonly notSecret: ReadonlySet<string>
  /** Checks whose token an expression reads. A draft adds to it. */
  readonly read: Set<Element>
}

type Part = "scope" | "inbound" | "outbound" | "on-error"

/** One attempt to convert a document. */
export class Draft {
  readonly tally: Tally = { expressions: 0, converted: 0 }
  readonly notes: Note[] = []
  readonly sections: Record<Part, Unit[]> = { scope: [], inbound: [], outbound: [], "on-error": [] }
  readonly secrets: ReadonlySet<string>
  readonly #document: PolicyDocument
  readonly #options: DraftOptions
  readonly #host: ConversionHost
  readonly #variables: DocumentVariables
  readonly #place: DocumentPlace
  readonly #checked: CheckedTokens

  /** The draft is converted as if it were in an API without operations: a policy may be used anywhere. */
  constructor(document: PolicyDocument, options: DraftOptions) {
    this.#document = document
    this.#options = options
    const all = documentsOf(document, options.fragments)
    this.secrets = secretNames(all, options.notSecret)
    this.#host = new ConversionHost({ ...options, secrets: this.secrets })
    this.#place = {
      file: document.file,
      scope: "policy",
      level: "api",
      api: "",
      operation: "",
      pathParameters: templateParameters(all),
      backend: null,
      keyed: false,
      described: undefined,
    }
    this.#checked = new CheckedTokens(document, options.read)
    this.#variables = new DocumentVariables(options.lost, this.#checked)
    this.#seeVariables()
    // Only names in the printed text are declared, so names from the first pass are forgotten.
    for (const map of Object.values(this.#host.declared)) map.clear()
    this.#convert()
    for (const { span } of sharingCounters(Object.values(this.sections).flat()))
      this.notes.push({
        place: placeOf(span.file, span.start),
        note: "in the document, this limit and an earlier one share a counter; here each has its own, so callers can make more calls",
      })
    for (const [name, other] of this.#variables.renamed())
      this.notes.push({
        place: placeOf(document.file, document.root?.span.start ?? 0),
        note: `the variable \`${name}\` is \`${other}\` here: other documents that read it do not find it`,
      })
  }

  get declared(): Declared {
    return this.#host.declared
  }

  get parameters(): ReadonlySet<string> {
    return this.#variables.parameters
  }

  get keyed(): boolean {
    return this.#variables.keyed
  }

  losses(): ConversionLoss[] {
    return Object.values(this.sections).flatMap((units) => units.flatMap(lossesIn))
  }

  /** Variables that a left-out policy would have set, while requests continue there. */
  lostVariables(): string[] {
    const open = this.losses().filter(({ closed }) => !closed)
    return open.flatMap(({ element, document, branch }) => {
      const children = elementsOf(element)
      const parts = branch === undefined ? [element] : children.slice(children.indexOf(branch.element))
      return parts
        .flatMap((part) => everyElement(part))
        .flatMap((each) => this.#setBy(each, document, "inbound"))
    })
  }

  /** Comments before the root come before the policy, all others follow it. */
  lines(name: string): ConvertedLine[] {
    const { root, around, file } = this.#document
    const isBefore = (at: number): boolean => root === undefined || at < root.span.start
    const block = (part: Part): ConvertedLine[] => {
      const lines = linesOf(this.sections[part])
      return lines.length === 0 ? [] : [{ text: `${part} {` }, ...lines, { text: "}" }]
    }
    const comments = (before: boolean): ConvertedLine[] =>
      commentsOf(around.filter(({ span }) => isBefore(span.start) === before && span.file === file)).map(
        (text) => ({ text }),
      )
    return [
      ...comments(true),
      { text: `policy ${name} {` },
      ...linesOf(this.sections.scope),
      ...block("inbound"),
      ...block("outbound"),
      ...block("on-error"),
      { text: "}" },
      ...comments(false),
    ]
  }

  /** What a section needs for its conversion. */
  #site(section: DocumentSection): Site {
    return {
      section,
      document: this.#document,
      place: this.#place,
      host: this.#host,
      around: this.#variables.around(section),
      tally: this.tally,
      changes: this.#variables.changes,
      refused: this.#options.refused,
      checked: this.#checked,
      passed: (steps) => this.#variables.pass(steps),
      notes: this.notes,
      setBy: (element, document) => this.#unset(element, document, section),
      fragments: [],
    }
  }

  /** Variables that would be set here, as statements that no request reaches. */
  #unset(element: Element, document: PolicyDocument, section: DocumentSection): Step[] {
    const names = everyElement(element).flatMap((each) => this.#setBy(each, document, section))
    const around = this.#variables.around(section)
    return [...new Set(names)].flatMap((name) => {
      const known = around.variable(name)
      return known === undefined
        ? []
        : [{ kind: "set-variable", name: known.name, value: nothingYet(known.kind) }]
    })
  }

  /** Converts the sections of the document. A file without `policies` is a fragment, and the options say for which section. */
  #convert(): void {
    const { root } = this.#document
    if (root === undefined) return
    if (root.name !== "policies") {
      this.sections[this.#options.section].push(...unitsOf(root.children, this.#site(this.#options.section)))
      return
    }
    for (const child of root.children) {
      if (child.kind === "comment")
        this.sections.scope.push({ kind: "comment", lines: commentLines(child.text) })
      if (child.kind !== "element") continue
      const section = azure.sections.find((each) => each === child.name)
      if (section !== undefined) this.#section(child, section)
      else this.sections.inbound.push(lossOf(child, "`policies` holds sections only", this.#site("inbound")))
    }
  }

  /** `inbound` may contain policies that gateway.conf has outside of its `inbound` block. */
  #section(element: Element, section: DocumentSection): void {
    this.#noteBase(element, section)
    const site = this.#site(section)
    if (section === "inbound") {
      const found = scopedOf(element, site)
      this.sections.scope.push(...found.scope)
      this.sections.inbound.push(...found.inbound)
    } else if (section === "backend") this.sections.inbound.push(...this.#backend(element, site))
    else this.sections[section].push(...unitsOf(element.children, site))
  }

  /** Policies before the sending of the request become the end of `inbound`. Policies after it have no place in gateway.conf. */
  #backend(element: Element, site: Site): Unit[] {
    const sends = (node: PolicyNode): boolean =>
      node.kind === "element" && (node.name === "base" || node.name === "forward-request")
    const at = element.children.findIndex(sends)
    const before = at < 0 ? element.children : element.children.slice(0, at)
    const behind = at < 0 ? [] : element.children.slice(at)
    const lost = behind.flatMap((node): readonly Unit[] => {
      if (node.kind === "comment") return [{ kind: "comment", lines: commentLines(node.text) }]
      if (node.kind !== "element" || node.name === "base") return []
      if (node.name !== "forward-request")
        return [lossOf(node, "nothing runs behind the backend but `outbound`", site)]
      return this.#sending(node, site)
    })
    return [...unitsOf(before, site), ...lost]
  }

  /**
   * `forward-request` needs no statement, unless an option changes more than the sending. Then it is a loss, with the place where gateway.conf
   * declares that option.
   */
  #sending(element: Element, site: Site): readonly Unit[] {
    return orLoss(element, site, () => {
      const reasons = lowered(element, site).flatMap((used) => lackingOf(stepOf(used, site)))
      if (reasons.length > 0) return refuse(reasons.join("; "))
      this.#noteWithout(element, site)
      return []
    })
  }

  #noteWithout(element: Element, site: Site): void {
    const without = element.attributes.map(({ name }) => `\`${name}\``)
    if (without.length > 0)
      this.notes.push({
        place: placeOf(site.document.file, element.span.start),
        note: `${without.join(", ")} of \`forward-request\`: nothing is changed by it here`,
      })
  }

  /** In gateway.conf, outer blocks always run first. */
  #noteBase(element: Element, section: DocumentSection): void {
    const children = elementsOf(element)
    const at = children.findIndex(({ name }) => name === "base")
    if (section === "backend" || children.length === 0 || at === 0) return
    const base = children[at]
    const note =
      base === undefined
        ? `\`${section}\` has no <base />: what outer blocks say runs all the same; \`without NAME\` cuts it`
        : `<base /> is not the first in \`${section}\`: what outer blocks say runs before all of it`
    this.notes.push({ place: placeOf(this.#document.file, (base ?? element).span.start), note })
  }

  /** Finds the types of all variables before anything is converted: a condition may read one that is set in a later section. */
  #seeVariables(): void {
    const { root } = this.#document
    const visit = (nodes: readonly Element[], section: DocumentSection, document: PolicyDocument): void => {
      for (const element of nodes.flatMap(everyElement)) {
        const steps = this.#stepsOf(element, section, document)
        for (const step of steps ?? []) this.#variables.see(step, section)
        if (steps === undefined) for (const found of variablesNamedBy(element)) this.#variables.seeName(found)
      }
    }
    const fallback = this.#options.section
    for (const element of root === undefined ? [] : elementsOf(root)) {
      const section = azure.sections.find((each) => each === element.name)
      visit(section === undefined ? [element] : elementsOf(element), section ?? fallback, this.#document)
    }
    for (const fragment of this.#options.fragments.values())
      if (fragment.root !== undefined) visit(elementsOf(fragment.root), "inbound", fragment)
  }

  #setBy(element: Element, document: PolicyDocument, section: DocumentSection): string[] {
    const steps = this.#stepsOf(element, section, document)
    return steps?.flatMap(variablesSetBy) ?? variablesNamedBy(element).map(({ name }) => name)
  }

  /** The steps of a policy, only used to find names of variables. Undefined when it can't be lowered. */
  #stepsOf(element: Element, section: DocumentSection, document: PolicyDocument): Step[] | undefined {
    const isNaming =
      element.name === "set-variable" || element.attributes.some(({ name }) => name.includes("variable"))
    if (!isNaming) return []
    const hollow = element.name === "cache-value" ? { ...element, children: [] } : element
    const site = { ...this.#site(section), document }
    return madeOr(
      () => lowered(hollow, site).map((used) => stepOf(used, site)),
      () => undefined,
    )
  }
}

/** All elements of the document and of the fragments it may include. */
function documentsOf(document: PolicyDocument, fragments: ReadonlyMap<string, PolicyDocument>): Element[] {
  return [document, ...fragments.values()].flatMap(({ root }) =>
    root === undefined ? [] : everyElement(root),
  )
}

/** Parameter names in path templates. Only the route block declares which ones the route has. */
function templateParameters(elements: readonly Element[]): string[] {
  return elements.flatMap((element) => {
    const raw = element.name === "rewrite-uri" ? attributeOf(element, "template")?.raw : undefined
    const text = raw === undefined ? "" : raw.span.file.text.slice(raw.span.start, raw.span.end)
    return [...text.matchAll(/\{\*?([A-Za-z_]\w*)\}/g)].map((found) => found[1] as string)
  })
}

const secretWords = /secret|passw|pwd|token|credential|(?:^|[_.-])key|key$|sas/i

/** Durations, counts and statuses that come from named values. */
const numbersSaid =
  /\b(?:duration|timeout|interval|delta|max-interval|count|calls|bandwidth|renewal-period|code)\s*=\s*["']\{\{\s*([A-Za-z0-9._|-]{1,256})\s*\}\}["']/g

/** Values whose names look like secrets, except those used as numbers, and those used where a secret would be shown. */
function secretNames(elements: readonly Element[], notSecret: ReadonlySet<string>): ReadonlySet<string> {
  const [first] = elements
  const text = first?.span.file.text ?? ""
  const names = [...text.matchAll(/\{\{\s*([A-Za-z0-9._|-]{1,256})\s*\}\}/g)].map(
    (found) => found[1] as string,
  )
  const numbers = new Set([...text.matchAll(numbersSaid)].map((found) => found[1] as string))
  return new Set(
    names
      .filter((name) => secretWords.test(name) && !numbers.has(name))
      .map(valueName)
      .filter((name) => !notSecret.has(name)),
  )
}

function lossesIn(unit: Unit): ConversionLoss[] {
  if (unit.kind === "loss") return [unit, ...(unit.branch === undefined ? [] : lossesIn(unit.branch.rest))]
  return unit.kind === "statement" ? unit.blocks.flatMap(({ units }) => units.flatMap(lossesIn)) : []
}

/** Splits `inbound` into the first `cors`, which runs before everything else in both languages and is outside of the policy in gateway.conf, and the rest. */
function scopedOf(element: Element, site: Site): { scope: Unit[]; inbound: Unit[] } {
  const scope: Unit[] = []
  const inbound: Unit[] = []
  let comments: PolicyNode[] = []
  for (const node of element.children) {
    if (node.kind === "comment") {
      comments.push(node)
      continue
    }
    const isShared =
      node.kind === "element" && node.name === "cors" && !scope.some(({ kind }) => kind !== "comment")
    if (isShared) scope.push(...unitsOf(comments, site), ...orLoss(node, site, () => corsOf(node, site)))
    else inbound.push(...unitsOf([...comments, node], site))
    comments = []
  }
  return { scope, inbound: [...inbound, ...unitsOf(comments, site)] }
}

function corsOf(element: Element, site: Site): Unit[] {
  const steps = lowered(element, site).map((each) => translated(stepOf(each, site), element, site))
  if (steps.length === 0) return refuse("it has no effect here")
  return [{ kind: "statement", element, steps, lines: steps.flatMap(printStep), blocks: [] }]
}

/**
 * Limits whose counter an earlier limit also uses. In a document, limits with the same key and period share a counter anywhere; the counters
 * of statements belong to their block.
 */
function sharingCounters(units: readonly Unit[]): Element[] {
  const seen = new Set<string>()
  return limitsIn(units).flatMap(({ counter, element }) => {
    if (seen.has(counter)) return [element]
    seen.add(counter)
    return []
  })
}

interface Limit {
  readonly counter: string
  readonly element: Element
}

/** Counters of all limits, with their elements, to find two that would count together. */
function limitsIn(units: readonly Unit[]): Limit[] {
  return units.flatMap((unit): Limit[] => {
    if (unit.kind === "comment") return []
    if (unit.kind === "loss") return limitsIn(unit.branch === undefined ? [] : [unit.branch.rest])
    const { element, steps, blocks } = unit
    return [
      ...steps.flatMap((step) => counterOf(step).map((counter) => ({ counter, element }))),
      ...blocks.flatMap((block) => limitsIn(block.units)),
    ]
  })
}

function counterOf(step: Step): string[] {
  if (!isLimit(step)) return []
  return [JSON.stringify([step.counter, ...("keys" in step ? [step.periodSeconds, step.keys] : [step.key])])]
}
