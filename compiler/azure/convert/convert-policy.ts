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

/** Options of a conversion. */
export interface ConvertOptions {
  /** The name of the policy in gateway.conf. */
  readonly name: string
  /** The section in which a fragment's policies run. */
  readonly section: "inbound" | "outbound" | "on-error"
  /** Fragments by id. */
  readonly fragments: ReadonlyMap<string, PolicyDocument>
  /** Texts of named values to insert before parsing, because they may contain code. Other named values are declared. */
  readonly values: ReadonlyMap<string, string>
}

/** The result of a conversion. */
export interface PolicyConversion {
  /** Formatted text of gateway.conf: the needed declarations, and `policy NAME { … }`. */
  readonly text: string
  /** Policies without a statement, each with `file:line:column`, in the order of the text. */
  readonly losses: readonly {
    readonly place: string
    readonly what: string
    readonly reason: string
    readonly closed: boolean
  }[]
  /** Differences in behaviour, although every policy has a statement. */
  readonly notes: readonly Note[]
  readonly counts: Tally & { readonly policies: number; readonly policiesConverted: number }
  /** The units by section, for comparing them with the steps of the compiled text. */
  readonly sections: Sections
  /** Path parameters that the text reads: the route must have them. */
  readonly parameters: readonly string[]
  /** The text reads the caller's subscription: the route must have `auth subscription`. */
  readonly keyed: boolean
}

/** Maximum rounds until nothing changes. Each round drops a policy, or turns a secret into a value. */
const roundsMax = 200

/**
 * Text of gateway.conf with the same behaviour as a policy document. The text is compiled. A policy whose statement is refused is left out
 * like a policy without a statement, and so is everything that reads a variable that would then be unset. A left-out policy that may be a
 * guard is replaced by a 501 response. The document must have been read without errors.
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

/** The text of a whole file: declarations come before the policy that uses them. */
function linesOfFile(document: PolicyDocument, draft: Draft, name: string): ConvertedLine[] {
  const file = document.file.path.split("/").at(-1) ?? ""
  const declarations = declarationLines(draft.declared, draft.secrets)
  return [
    {
      text: `# Converted from ${file}. To use it in an API, in an operation or for the whole gateway, write \`use ${name}\`.`,
    },
    ...(checksTokens(draft.sections.inbound)
      ? [
          {
            text: "# If only this policy authenticates callers, add `auth policy` to the API: every path to the backend must then check them.",
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

/** The result with its losses. A loss inside a branch is reported at the branch. */
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

/** Elements that are not policies. */
const parts: ReadonlySet<string> = new Set(["when", "otherwise", "base", "value"])

/** Number of policies in an element, including nested ones. */
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

/** For a `choose` with an untranslated condition, the policies inside are counted separately. */
function countLost(losses: readonly ConversionLoss[]): number {
  const chooses = new Set(losses.flatMap(({ element, branch }) => (branch === undefined ? [] : [element])))
  return losses.reduce(
    (sum, { element, branch }) => sum + (branch === undefined ? countIn(element) : 0),
    chooses.size,
  )
}
