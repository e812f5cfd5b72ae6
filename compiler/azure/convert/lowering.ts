import type { BlockStep, Step } from "../../../runtime/plan/steps.ts"
import { Report } from "../../core/diagnostic.ts"
import { type Element, elementsOf, type PolicyDocument } from "../ast.ts"
import type { DocumentPlace, DocumentSection, Used } from "../site.ts"
import { azure } from "../wing.ts"
import type { CheckedTokens } from "./checked-tokens.ts"
import { mustClose } from "./closing.ts"
import type { ConversionHost } from "./conversion-host.ts"
import { placeOf } from "./policy-text.ts"
import { type Tally, translateStep } from "./translate-step.ts"
import { type Around, madeOr, refuse } from "./translation.ts"
import type { ConversionLoss, Unit } from "./units.ts"

/** Input of the conversion of a section. */
export interface Site {
  readonly section: DocumentSection
  readonly document: PolicyDocument
  readonly place: DocumentPlace
  readonly host: ConversionHost
  readonly around: Around
  readonly tally: Tally
  /** Parts of the exchange that were changed so far. `around` reads it. */
  readonly changes: Set<string>
  readonly checked: CheckedTokens
  /** Differences in behaviour that are not losses. */
  readonly notes: Note[]
  /** Policies whose statement the compiler refused, with the reason. */
  readonly refused: ReadonlyMap<Element, string>
  /** Statements that set the variables an element would have set, to an empty value. */
  setBy(element: Element, document: PolicyDocument): Step[]
  /** Records that every request that continues has run these steps. */
  passed(steps: readonly Step[]): void
  /** The fragments that are being converted, outermost first. */
  readonly fragments: readonly PolicyDocument[]
}

/** A remark and its place. */
export interface Note {
  readonly place: string
  readonly note: string
}

/** The loss of a policy, and whether requests are refused in its place. */
export function lossOf(element: Element, reason: string, site: Site): ConversionLoss {
  const { section, document } = site
  if (!mustClose(element, section)) return { kind: "loss", element, document, reason, closed: false }
  return { kind: "loss", element, document, reason, closed: true, sets: site.setBy(element, document) }
}

/** The units of a policy. A loss when its statement was refused or has no counterpart. */
export function orLoss(element: Element, site: Site, make: () => readonly Unit[]): readonly Unit[] {
  const lost = (why: string): Unit[] => [lossOf(element, why, site)]
  const refusal = site.refused.get(element)
  return refusal === undefined ? madeOr(make, lost) : lost(refusal)
}

/** The steps of one policy. @throws NoCounterpart with the first finding when the policy is wrong or not possible here. */
export function lowered(element: Element, site: Site, outer: readonly Used[] = []): Used[] {
  const { host, section, place, document } = site
  const report = new Report()
  host.report = report
  const holder = { ...element, name: section, attributes: [], children: [element] }
  const used = azure.lowerSection(holder, document, { section, place, host, outer })
  const wrong = report.sorted().find(({ severity }) => severity === "error")
  return wrong === undefined ? used : refuse(wrong.detail)
}

export function stepOf({ id }: Used, { host }: Site): Step {
  const step = host.stepOf(id)
  if (step === undefined) throw new Error(`there is no step ${id}`)
  return step
}

/** The step of the corresponding statement of gateway.conf. @throws NoCounterpart */
export function translated(step: Step, element: Element, site: Site): Step {
  return translateStep(step, site.around, site.tally, (note) => tell(note, element, site))
}

/** Reports each note only once, at its first place. */
function tell(note: string, element: Element, { notes, document }: Site): void {
  if (notes.some((known) => known.note === note)) return
  notes.push({ place: placeOf(document.file, element.span.start), note })
}

/** The steps of a container, or of all `when`s of a `choose`, with a placeholder for their content. */
export function headersOf(element: Element, site: Site): BlockStep[] {
  const { start } = element.span
  const span = site.document.file.span(start, start)
  const base: Element = { kind: "element", name: "base", nameSpan: span, attributes: [], children: [], span }
  const standIn = site.host.step({ kind: "set-status", status: 200 }, span)
  const hollow = (of: Element): Element => ({ ...of, children: [base] })
  const emptied =
    element.name === "choose" ? { ...element, children: elementsOf(element).map(hollow) } : hollow(element)
  const found: BlockStep[] = []
  let next: readonly Used[] = lowered(emptied, site, [standIn])
  for (let [first] = next; first !== undefined && first.id !== standIn.id; [first] = next) {
    found.push(stepOf(first, site) as BlockStep)
    next = first.inside["otherwise"] ?? []
  }
  return found
}
