import { isGuard, kindFacts, type StepKind } from "../../runtime/plan/steps.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import { type Element, elementsOf, type PolicyDocument } from "./ast.ts"
import { lowerSection } from "./lower-section.ts"
import { declaresPrefix, fits } from "./shape.ts"
import {
  type DocumentHost,
  type DocumentPlace,
  type DocumentSection,
  type DocumentSteps,
  sections,
  type Used,
} from "./site.ts"

/** Steps that check requests, and so reject callers like guards do. */
const judging: ReadonlySet<StepKind> = new Set<StepKind>(["validate-content", "validate-parameters"])

/**
 * The steps of a document where it is used. `outer` are the steps of the documents of outer scopes: `<base />` inserts them. A section without
 * `<base />` has only its own policies, and a missing section works like `<base />` alone.
 */
export function lowerDocument(
  document: PolicyDocument,
  place: DocumentPlace,
  host: DocumentHost,
  outer: DocumentSteps,
): DocumentSteps {
  const { root } = document
  if (root === undefined) return outer
  const { report } = host
  if (root.name !== "policies") {
    report.add("SP7002", root.nameSpan, "this is a fragment, which is a part of documents, not a document", {
      help: 'Use a document that starts with `<policies>`; declare a fragment with `xml { fragment "ID" "FILE" }`.',
    })
    return outer
  }
  const found = sectionsOf(root, document, host)
  const lowered = (section: DocumentSection): readonly Used[] => {
    const element = found.get(section)
    if (element === undefined) return outer[section]
    const steps = lowerSection(element, document, { section, place, host, outer: outer[section] })
    noteCut(element, section, outer[section], host)
    return steps
  }
  const steps = {
    inbound: lowered("inbound"),
    backend: lowered("backend"),
    outbound: lowered("outbound"),
    "on-error": lowered("on-error"),
  }
  const backend = found.get("backend")
  if (backend !== undefined && !document.damaged && report.errors === 0 && !forwards(steps.backend, host))
    report.add("SP7015", backend.nameSpan, "`backend` has neither `<base />` nor `<forward-request />`")
  return steps
}

/** Only the steps of a document's `on-error`, without an operation: a request that no route serves fails before its operation is known. */
export function lowerOnError(
  document: PolicyDocument,
  place: DocumentPlace,
  host: DocumentHost,
  outer: readonly Used[],
): readonly Used[] {
  const { root } = document
  const element = root === undefined ? undefined : sectionsOf(root, document, host).get("on-error")
  if (element === undefined) return outer
  return lowerSection(element, document, { section: "on-error", place, host, outer })
}

/** The sections of a document by name; unknown and repeated ones are reported. */
function sectionsOf(
  root: Element,
  document: PolicyDocument,
  { report }: DocumentHost,
): Map<DocumentSection, Element> {
  const found = new Map<DocumentSection, Element>()
  for (const attribute of root.attributes.filter(({ name }) => !declaresPrefix(name)))
    report.add("SP7007", attribute.nameSpan, `\`policies\` has no attribute \`${shown(attribute.name)}\``, {
      help: "Remove it.",
    })
  for (const child of elementsOf(root)) {
    const section = sections.find((each) => each === child.name)
    const earlier = section === undefined ? undefined : found.get(section)
    if (section === undefined)
      report.add(
        "SP7006",
        child.nameSpan,
        `\`policies\` cannot contain \`${shown(child.name)}\`${didYouMean(child.name, sections)}`,
        {
          help: "Use `inbound`, `backend`, `outbound` and `on-error`, and put policies inside these.",
        },
      )
    else if (earlier !== undefined)
      report.add("SP7006", child.nameSpan, `\`${section}\` is given twice`, {
        help: "Put all its policies into one.",
        related: [{ span: earlier.nameSpan, message: "the first" }],
      })
    else if (fits({ ...child, children: [] }, {}, document, report)) found.set(section, child)
  }
  for (const child of root.children)
    if (child.kind === "text")
      report.add("SP7001", child.raw.span, "there is text between sections", { help: "Remove it." })
  return found
}

/** A section without `<base />` drops the outer documents. That is allowed, and a warning when it drops a guard. */
function noteCut(
  element: Element,
  section: DocumentSection,
  outer: readonly Used[],
  host: DocumentHost,
): void {
  if (holdsBase(element)) return
  // A section without `<base />` would drop this guard silently.
  const guard = everyStep(outer).find(({ id }) => {
    const kind = host.kindOf(id)
    return kind !== undefined && (isGuard({ kind }) || judging.has(kind))
  })
  if (guard !== undefined)
    host.report.add(
      "SP7014",
      element.nameSpan,
      `\`${section}\` has no \`<base />\`, so the \`${host.kindOf(guard.id)}\` of ${guard.origin} does not run`,
    )
}

function holdsBase(element: Element): boolean {
  return elementsOf(element).some((child) => child.name === "base" || holdsBase(child))
}

/** Steps and the steps inside them. */
export function everyStep(steps: readonly Used[]): Used[] {
  return steps.flatMap((step) => [step, ...Object.values(step.inside).flatMap(everyStep)])
}

function forwards(steps: readonly Used[], host: DocumentHost): boolean {
  return everyStep(steps).some(({ id }) => {
    const kind = host.kindOf(id)
    return kind !== undefined && ["send", "answer"].includes(kindFacts(kind).role)
  })
}
