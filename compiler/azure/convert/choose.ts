import type { BlockStep, Step } from "../../../runtime/plan/steps.ts"
import { type Element, elementsOf } from "../ast.ts"
import { mustClose } from "./closing.ts"
import type { Inner } from "./container.ts"
import { headersOf, type Site, translated } from "./lowering.ts"
import { madeOr, none, refuse } from "./translation.ts"
import type { ConversionLoss, ConvertedBlock, ConvertedStatement, Unit } from "./units.ts"
import { commentLines, parenthesized } from "./write-text.ts"

/** `test`: the condition of a `when`, or the reason why it has no counterpart. Undefined for `otherwise`. */
interface Branch {
  readonly element: Element
  readonly test: Step | string | undefined
  readonly units: readonly Unit[]
}

const never = {
  kind: "when",
  test: { lang: "cel", text: "false", type: "bool" },
  matched: [],
  otherwise: [],
} as const satisfies Step

/**
 * `when … else when … else …`. When a condition has no counterpart, its branch and the later ones are written in their final form, but under a
 * condition that is always false, and after a 501 response when one of them may be a guard.
 * @throws NoCounterpart when the element is not a valid `choose`.
 */
export function chooseOf(element: Element, site: Site, unitsOf: Inner): Unit[] {
  const tests = testsOf(element, site)
  const before: Unit[] = []
  const branches: Branch[] = []
  let comments: Unit[] = []
  for (const child of element.children) {
    if (child.kind === "comment") comments.push({ kind: "comment", lines: commentLines(child.text) })
    if (child.kind !== "element") continue
    if (branches.length === 0) {
      before.push(...comments)
      comments = []
    }
    const test = conditionOf(tests.get(child), child, site)
    branches.push({ element: child, test, units: [...comments, ...unitsOf(child.children, site)] })
    comments = []
  }
  const last = branches.at(-1)
  if (last !== undefined && comments.length > 0)
    branches[branches.length - 1] = { ...last, units: [...last.units, ...comments] }
  return [...before, chained(branches, element, site)]
}

type Tests = ReadonlyMap<Element, BlockStep | string>

/** The conditions of the `when`s: compiled together, otherwise one by one, so that a wrong condition affects only its own branch. */
function testsOf(element: Element, site: Site): Tests {
  const branches = elementsOf(element)
  const whens = branches.filter(({ name }) => name === "when")
  const headers = madeOr(() => headersOf(element, site), itself)
  if (typeof headers !== "string")
    return new Map(whens.flatMap((when, at) => (headers[at] === undefined ? [] : [[when, headers[at]]])))
  const isOrdered = branches.every(
    ({ name }, at) => name === "when" || (name === "otherwise" && at > 0 && at === branches.length - 1),
  )
  const tests = new Map(whens.map((when) => [when, testAlone(when, element, site)] as const))
  const isOne = isOrdered && [...tests.values()].some((test) => typeof test === "string")
  return isOne ? tests : refuse(headers)
}

function testAlone(when: Element, element: Element, site: Site): BlockStep | string {
  return madeOr(
    () => headersOf({ ...element, children: [when] }, site)[0] ?? none("a `when` without a condition"),
    itself,
  )
}

function conditionOf(test: BlockStep | string | undefined, branch: Element, site: Site): Branch["test"] {
  if (test === undefined || typeof test === "string") return test
  return site.refused.get(branch) ?? madeOr(() => translated(test, branch, site), itself)
}

const itself = (why: string): string => why

/**
 * A `choose` as a chain of `when` and `else`. From the first condition that has no counterpart on, the rest is a loss: later branches
 * depend on it.
 */
function chained(
  branches: readonly Branch[],
  element: Element,
  site: Site,
): ConvertedStatement | ConversionLoss {
  const steps: Step[] = []
  const blocks: ConvertedBlock[] = []
  for (const [at, branch] of branches.entries()) {
    const { test, units } = branch
    if (typeof test === "string") {
      const loss = unwritten(test, branches.slice(at), element, site)
      if (at === 0) return loss
      blocks.push({ open: "else {", units: [loss], element: branch.element })
      break
    }
    if (test !== undefined) steps.push(test)
    const open = test === undefined ? "else {" : `${at === 0 ? "" : "else "}when ${testOf(test)} {`
    blocks.push({ open, units, element: branch.element })
  }
  return { kind: "statement", element, steps, lines: [], blocks }
}

/**
 * The branches from the first one whose condition is not translated. Until it is written, no request runs them: neither that branch nor the
 * later ones, which require its condition to be false.
 */
function unwritten(
  reason: string,
  branches: readonly Branch[],
  element: Element,
  site: Site,
): ConversionLoss {
  const [first, ...others] = branches as [Branch, ...Branch[]]
  const all = chained([{ ...first, test: never }, ...others], element, site)
  const closed = branches.some((branch) => mustClose(branch.element, site.section))
  const outer: ConvertedBlock = { open: "when (false) {", units: [all], element: first.element }
  const rest: Unit =
    closed || others.length === 0
      ? all
      : { kind: "statement", element, steps: [never], lines: [], blocks: [outer] }
  const { document } = site
  return { kind: "loss", element, document, reason, closed, branch: { element: first.element, rest } }
}

function testOf(step: Step): string {
  return "test" in step ? parenthesized(step.test.text) : none("a condition")
}
