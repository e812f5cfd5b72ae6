import type { Plan } from "../../../runtime/plan/plan.ts"
import { isAnswer, nestedSteps, type Step } from "../../../runtime/plan/steps.ts"
import type { Element } from "../ast.ts"
import type { ConvertedBlock, ConvertedStatement, Unit } from "./units.ts"

/** The units of a text: inside the sections, and outside of them (`scope`). */
export type Sections = Readonly<Record<"scope" | "inbound" | "outbound" | "on-error", readonly Unit[]>>

/** A step with the steps inside it, without fields that do not matter here: ids, names of counters and issuers, types of expressions. */
interface Tree {
  readonly step: unknown
  readonly inside: readonly (readonly Tree[])[]
}

/** The expected step of a unit, and the policy to report when the plan differs. */
interface Expected extends Tree {
  readonly element: Element
  readonly inside: readonly (readonly Expected[])[]
}

/** The first policy whose statement became a different step in the plan. The plan has exactly one route. Undefined when all steps are equal. */
export function firstDifference(sections: Sections, plan: Plan): Element | undefined {
  const [route] = Object.values(plan.plan.routes)
  if (route === undefined) throw new Error("the gateway around the text has no route")
  const half = `cache-${missingHalf(sections)}`
  const cors = expected(sections.scope)
  const found = {
    inbound: [...cors, ...expected(sections.inbound)],
    outbound: [...cors, ...expected(sections.outbound)],
    onError: expected(sections["on-error"]),
  }
  for (const section of ["inbound", "outbound", "onError"] as const) {
    const made = treesOf(route.sections[section], plan).filter(
      (each) => !isKey(each) && kindOf(each) !== half,
    )
    const different = difference(found[section], made)
    if (different !== undefined) return different
  }
  return undefined
}

/** Whether it is the key check that the surrounding route adds. */
function isKey({ step }: Tree): boolean {
  return kindOf({ step }) === "validate-key"
}

const kindOf = ({ step }: Pick<Tree, "step">): string => (step as { readonly kind: string }).kind

/**
 * The half of a cache that the route must have, when the text has only the other one: the compiler refuses a lookup without a store, and a
 * store without a lookup.
 */
export function missingHalf(sections: Sections): "lookup" | "store" | undefined {
  const kinds = new Set(Object.values(sections).flatMap(kindsIn))
  const [looks, keeps] = [kinds.has("cache-lookup"), kinds.has("cache-store")]
  if (looks === keeps) return undefined
  return looks ? "store" : "lookup"
}

function kindsIn(units: readonly Unit[]): Step["kind"][] {
  return units.flatMap((unit) => {
    if (unit.kind === "comment") return []
    if (unit.kind === "loss") return kindsIn(unit.branch === undefined ? [] : [unit.branch.rest])
    return [...unit.steps.map(({ kind }) => kind), ...unit.blocks.flatMap((block) => kindsIn(block.units))]
  })
}

/** The element at which two lists of steps first differ; undefined if they are equal. */
function difference(wanted: readonly Expected[], made: readonly Tree[]): Element | undefined {
  for (const [index, { step, inside, element }] of wanted.entries()) {
    const other = made[index]
    if (other === undefined || JSON.stringify(step) !== JSON.stringify(other.step)) return element
    for (const [place, list] of inside.entries()) {
      const different = difference(list, other.inside[place] ?? [])
      if (different !== undefined) return different
    }
    if (other.inside.some((list, place) => list.length > (inside[place] ?? []).length)) return element
  }
  return made.length > wanted.length ? wanted.at(-1)?.element : undefined
}

/** The steps that the text must compile to, with their elements. */
function expected(units: readonly Unit[]): Expected[] {
  return units.flatMap((unit): Expected[] => {
    if (unit.kind === "comment") return []
    if (unit.kind === "loss")
      return [
        ...(unit.closed ? [{ ...closed, element: unit.element }] : []),
        ...(unit.sets ?? []).map((step) => ({ step: bare(step), inside: [], element: unit.element })),
        ...expected(unit.branch === undefined ? [] : [unit.branch.rest]),
      ]
    const { steps, blocks, element, ways } = unit
    if (ways !== undefined) {
      const inside = [ways.map((step) => ({ step: bare(step), inside: [], element }))]
      return steps.map((step) => ({ step: bare(step), inside, element }))
    }
    if (blocks.length === 0) return steps.map((step) => ({ step: bare(step), inside: [], element }))
    const lists = blocks.map((block) => expected(block.units))
    const [first] = steps
    if (first !== undefined && "otherwise" in first) return chained(unit, steps, lists, blocks)
    return first === undefined ? [] : [{ step: bare(first), inside: lists, element }]
  })
}

/** Each later `when` is in the `otherwise` of the previous one. */
function chained(
  { element: whole, ...unit }: ConvertedStatement,
  steps: readonly Step[],
  lists: readonly Expected[][],
  blocks: readonly ConvertedBlock[],
): Expected[] {
  const [step, ...rest] = steps
  const [matched = [], ...others] = lists
  const [block, ...behind] = blocks
  if (step === undefined) return matched
  const inside = [matched, chained({ ...unit, element: whole }, rest, others, behind)]
  return [{ step: bare(step), inside, element: block?.element ?? whole }]
}

function treesOf(ids: readonly string[], plan: Plan): Tree[] {
  return ids.map((id) => {
    const step = plan.plan.steps[id]
    if (step === undefined) throw new Error(`there is no step ${id}`)
    if (isAnswer(step) && step.status === 501) return closed
    return { step: bare(step), inside: nestedSteps(step).map(({ steps }) => treesOf(steps, plan)) }
  })
}

/** The 501 response in place of a left-out policy. */
const closed = { step: { kind: "closed" }, inside: [] }

const nothing: ReadonlySet<string> = new Set(["counter", "type", "matched", "steps", "branches", "issuers"])

/** The fields in a fixed order. */
function bare(step: Step): unknown {
  const inOrder = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => inOrder(each, key))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(
          ([name, each]) =>
            !nothing.has(name) && each !== undefined && !(name === "otherwise" && Array.isArray(each)),
        )
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, each]) => [name, inOrder(each, name)]),
    )
  }
  return inOrder(step, "")
}
