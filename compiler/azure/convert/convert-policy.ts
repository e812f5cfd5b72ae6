import { isAuth } from "../../../runtime/plan/steps.ts"
import { type Element, elementsOf, type PolicyDocument } from "../ast.ts"
import { declarationLines } from "./declarations.ts"
import { Draft, type DraftOptions } from "./draft.ts"
import { policiesIn } from "./holders.ts"
import type { Note } from "./lowering.ts"
import { placeOf } from "./policy-text.ts"
import { formatted, problemsOf } from "./proof.ts"
import { missingHalf, type Sections } from "./same-steps.ts"
import type { Tally } from "./translate-step.ts"
import type { ConversionLoss, ConvertedLine, Unit } from "./units.ts"

/** How a document is converted. */
export interface ConvertOptions {
  /** Of the policy in gateway.conf. */
  readonly name: string
  /** Where the policies of a fragment stand. */
  readonly section: "inbound" | "outbound" | "on-error"
  /** Fragments by their ids. */
  readonly fragments: ReadonlyMap<string, PolicyDocument>
  /** Texts of named values that are put in before anything else: they may be part of code. Others are declared. */
  readonly values: ReadonlyMap<string, string>
}

/** What became of a document. */
export interface PolicyConversion {
  /** Text of gateway.conf as the formatter writes it: what is to be declared, and `policy NAME { … }`. */
  readonly text: string
  /** What has no statement, each with `file:line:column`, in the order of the text. */
  readonly losses: readonly {
    readonly place: string
    readonly what: string
    readonly reason: string
    readonly closed: boolean
  }[]
  /** What is not the same although everything has a statement. */
  readonly notes: readonly Note[]
  readonly counts: Tally & { readonly policies: number; readonly policiesConverted: number }
  /** The units by section, for those who compare them with what the text means. */
  readonly sections: Sections
  /** Parameters of the path that the text reads: the route must have them. */
  readonly parameters: readonly string[]
  /** It reads the caller's subscription: the route must have `auth subscription`. */
  readonly keyed: boolean
}

/** Rounds until nothing changes any more: each loses a policy, or a secret that has to be a value. */
const roundsMax = 200

/**
 * Text of gateway.conf that does what a policy document does. It is compiled as it comes: a policy whose statement is refused in its place is left out like
 * one that has none, and so is everything that reads a variable which would then not be set. What is left out and may guard calls is answered 501.
 * The document must be read without errors.
 */
export function convertPolicy(document: PolicyDocument, options: ConvertOptions): PolicyConversion {
  const refused = new Map<Element, string>()
  const lost = new Set<string>()
  const notSecret = new Set<string>()
  const read = new Set<Element>()
  for (let round = 0; ; round++) {
    const draftOptions: DraftOptions = { ...options, refused, lost, notSecret, read }
    const known = (): number => refused.size + lost.size + notSecret.size + read.size
    const before = known()
    const draft = new Draft(document, draftOptions)
    for (const variable of draft.lostVariables()) lost.add(variable)
    const lines = linesOfFile(document, draft, options.name)
    if (before === known())
      for (const problem of problemsOf(lines, options.name, {
        parameters: [...draft.parameters],
        keyed: draft.keyed,
        sections: draft.sections,
      })) {
        if (problem.secret !== undefined) notSecret.add(problem.secret)
        else if (problem.element !== undefined) refused.set(problem.element, problem.detail)
      }
    if (before === known() || round > roundsMax) return concluded(document, draft, lines)
  }
}

function linesOfFile(document: PolicyDocument, draft: Draft, name: string): ConvertedLine[] {
  const file = document.file.path.split("/").at(-1) ?? ""
  const declarations = declarationLines(draft.declared, draft.secrets)
  return [
    { text: `# From ${file}. In an API, an operation or for the whole gateway: \`use ${name}\`.` },
    ...(checksTokens(draft.sections.inbound)
      ? [
          {
            text: "# Where it alone says who may call, `auth policy` in the API: then every way must be checked.",
          },
        ]
      : []),
    ...halfLines(draft.sections),
    ...declarations.map((text) => ({ text })),
    { text: "" },
    ...draft.lines(name),
  ]
}

const halves = {
  lookup: "# `inbound { cache lookup }` of the API reads what this stores.",
  store: "# `outbound { cache store 60s }` of the API stores what this reads.",
} as const

function halfLines(sections: Sections): ConvertedLine[] {
  const half = missingHalf(sections)
  return half === undefined ? [] : [{ text: halves[half] }]
}

function checksTokens(units: readonly Unit[]): boolean {
  return units.some(
    (unit) =>
      unit.kind === "statement" &&
      (unit.steps.some(isAuth) || unit.blocks.some((block) => checksTokens(block.units))),
  )
}

function concluded(
  document: PolicyDocument,
  draft: Draft,
  lines: readonly ConvertedLine[],
): PolicyConversion {
  const losses = draft.losses()
  const policies = countOf(document.root)
  return {
    text: formatted(lines),
    losses: losses.map((loss) => {
      const { element, branch, reason, closed, document: of } = loss
      return {
        place: placeOf(of.file, (branch?.element ?? element).span.start),
        what: element.name,
        reason,
        closed,
      }
    }),
    notes: draft.notes,
    counts: { ...draft.tally, policies, policiesConverted: policies - countLost(losses) },
    sections: draft.sections,
    parameters: [...draft.parameters],
    keyed: draft.keyed,
  }
}

/** Elements that are no policies of their own. */
const parts: ReadonlySet<string> = new Set(["when", "otherwise", "base", "value"])

/** Policies in an element, those in others too. */
function countOf(root: Element | undefined): number {
  const holds =
    root?.name === "policies"
      ? elementsOf(root).flatMap(elementsOf)
      : root === undefined
        ? []
        : elementsOf(root)
  return holds.reduce((sum, each) => sum + countIn(each), 0)
}

function countIn(element: Element): number {
  return policiesIn(element).filter(({ name }) => !parts.has(name)).length
}

/** Of a `choose` with a condition that is still to be written what is in it counts by itself. */
function countLost(losses: readonly ConversionLoss[]): number {
  const chooses = new Set(losses.flatMap(({ element, branch }) => (branch === undefined ? [] : [element])))
  return losses.reduce(
    (sum, { element, branch }) => sum + (branch === undefined ? countIn(element) : 0),
    chooses.size,
  )
}
