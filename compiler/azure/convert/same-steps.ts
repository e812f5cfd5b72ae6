import type { Plan } from "../../../runtime/plan/plan.ts"
import { isAnswer, nestedSteps, type Step } from "../../../runtime/plan/steps.ts"
import type { Element } from "../ast.ts"
import type { ConvertedBlock, ConvertedStatement, Unit } from "./units.ts"

/** The units of a text: what stands beside the sections, and in them. */
export type Sections = Readonly<Record<"scope" | "inbound" | "outbound" | "on-error", readonly Unit[]>>

/** A step and what is in it, without what means nothing here: ids, names of counters and issuers, types of expressions. */
interface Tree {
  readonly step: unknown
  readonly inside: readonly (readonly Tree[])[]
}

/** What a unit becomes, and the policy to blame where the plan has something else. */
interface Expected extends Tree {
  readonly element: Element
  readonly inside: readonly (readonly Expected[])[]
}

/**
 * The first policy whose statement became something else in the plan than the policy itself, of the only route there is; undefined where all are the same.
 */
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

/** The check of the key that the route around the text makes: no policy does. */
function isKey({ step }: Tree): boolean {
  return kindOf({ step }) === "validate-key"
}

const kindOf = ({ step }: Pick<Tree, "step">): string => (step as { readonly kind: string }).kind

/** The half of a cache that the route must have, where the text has the other one alone: what is kept by nobody, or looked for by nobody, is an error. */
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

/** Each `when` in the `otherwise` of the one before. */
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

/** The answer in the place of what is left out. */
const closed = { step: { kind: "closed" }, inside: [] }

const nothing: ReadonlySet<string> = new Set(["counter", "type", "matched", "steps", "branches", "issuers"])

/** The fields in one order. */
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
