import { digestOf, stepIdOf } from "../../runtime/plan/canonical.ts"
import { type PlanBody, planBody } from "../../runtime/plan/plan.ts"
import { readPlan } from "../../runtime/plan/read.ts"
import type { Step, StepId } from "../../runtime/plan/steps.ts"

/** Whole numbers from 0 up to, not including, `below`. */
export type Random = (below: number) => number

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * The plan with one part of it changed at random: a value, a list's order or length, a key gone. Steps get the ids of their content. The
 * schema accepts it, though it may refer to something that is not there.
 */
export function edited(body: PlanBody, random: Random): PlanBody {
  for (;;) {
    const read = planBody.safeParse(editedOnce(body, random))
    if (read.success) return withIds(read.data)
  }
}

function editedOnce(body: PlanBody, random: Random): unknown {
  const copy = structuredClone(body) as unknown as { [key: string]: Json }
  const places = placesIn(copy)
  const { holder, key } = places[random(places.length)] as Place
  holder[key as never] = other(holder[key as never] as Json, random) as never
  if (holder[key as never] === undefined) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key as string]
  }
  return copy
}

/** Whether a runtime would load it. */
export function isValid(body: PlanBody): boolean {
  return "plan" in readPlan({ format: 1, digest: digestOf(body), plan: body, origins: {} })
}

interface Place {
  readonly holder: Json[] | { [key: string]: Json }
  readonly key: string | number
}

function placesIn(node: Json): Place[] {
  if (typeof node !== "object" || node === null) return []
  return Object.keys(node).flatMap((key) => [
    { holder: node, key },
    ...placesIn((node as { [key: string]: Json })[key] as Json),
  ])
}

function other(value: Json, random: Random): Json | undefined {
  if (value === null) return random(2) === 0 ? 1000 : "x"
  if (typeof value === "boolean") return !value
  if (typeof value === "number") return random(2) === 0 ? value + 1 + random(100) : Math.max(0, value - 1)
  if (typeof value === "string") return otherText(value, random)
  if (Array.isArray(value)) return otherList(value, random)
  return undefined
}

const otherWords: readonly (readonly string[])[] = [
  ["set", "append", "default", "remove"],
  ["request", "response"],
  ["json", "text"],
  ["present", "has-any", "has-all", "equals-any"],
]

function otherText(value: string, random: Random): string {
  const words = otherWords.find((each) => each.includes(value))
  return words === undefined ? `${value}x` : (words[random(words.length)] as string)
}

function otherList(value: Json[], random: Random): Json[] {
  const at = random(value.length)
  const item = value[at]
  if (item === undefined) return ["x"]
  const rest = value.filter((_, index) => index !== at)
  const to = random(value.length)
  return [rest, [...rest.slice(0, to), item, ...rest.slice(to)], [...value, item]][random(3)] as Json[]
}

/** Gives every step the id of its content, inner ones first, and forgets those that no route uses. */
function withIds(body: PlanBody): PlanBody {
  const steps: Record<StepId, Step> = {}
  const known = new Map<StepId, StepId>()
  const idOf = (id: StepId, depth = 0): StepId => {
    const given = known.get(id)
    const step = body.steps[id]
    if (given !== undefined || step === undefined || depth > 20) return given ?? id
    const inner = (ids: unknown) =>
      Array.isArray(ids) ? ids.map((each) => idOf(String(each), depth + 1)) : []
    const content: Step =
      step.kind === "when"
        ? { ...step, matched: inner(step.matched), otherwise: inner(step.otherwise) }
        : step.kind === "any-of"
          ? { ...step, steps: inner(step.steps) }
          : step
    const own = stepIdOf(content)
    steps[own] = content
    known.set(id, own)
    return own
  }
  const outlines: NonNullable<PlanBody["outlines"]> = {}
  const routes = Object.fromEntries(
    Object.entries(body.routes).map(([key, route]) => {
      const sections = Object.fromEntries(
        Object.entries(route.sections).map(([name, ids]) => [name, (ids as StepId[]).map((id) => idOf(id))]),
      )
      const { outline: _, ...rest } = route
      const outline = body.outlines?.[route.outline ?? ""]
      if (outline === undefined) return [key, { ...rest, sections }]
      const id = stepIdOf(outline)
      outlines[id] = outline
      return [key, { ...rest, sections, outline: id }]
    }),
  ) as PlanBody["routes"]
  return { ...body, routes, steps, outlines }
}
