import { nestedSteps } from "../plan/nested-steps.ts"
import type { Plan } from "../plan/plan.ts"
import type { StepId } from "../plan/steps.ts"
import type { AnsweringStep } from "../policies/exchange.ts"
import type { LiveRoute } from "./generation.ts"
import type { Answerer } from "./request-explanation.ts"
import { sectionNames } from "./unfold.ts"

const placesMax = 3
const usesMax = 10_000

/** Looked for when a step of the route answers for the first time. */
const found = new WeakMap<LiveRoute, Map<StepId, Answerer>>()

/** The step that answered, and where it stands in the text. */
export function answererOf(
  plan: Plan,
  route: LiveRoute | undefined,
  step: AnsweringStep | undefined,
): Answerer | undefined {
  if (step === undefined) return undefined
  const { id, kind } = step
  if (route === undefined) return { kind, place: "" }
  let known = found.get(route)
  if (known === undefined) {
    known = new Map()
    found.set(route, known)
  }
  let answerer = known.get(id)
  if (answerer === undefined) {
    answerer = { kind, place: placesOf(plan, route, id).join(" or ") }
    known.set(id, answerer)
  }
  return answerer
}

/** The same step may stand at several places of a route. */
function placesOf(plan: Plan, { key, plan: route }: LiveRoute, wanted: StepId): string[] {
  const places = new Set<string>()
  let uses = 0
  const look = (ids: readonly StepId[], at: string): void => {
    for (const [index, id] of ids.entries()) {
      if (places.size >= placesMax || ++uses > usesMax) return
      const here = `${at}.${index}`
      const origin = plan.origins[`routes.${key}.${here}`]
      if (id === wanted && origin !== undefined) places.add(origin)
      const step = plan.plan.steps[id]
      if (step === undefined) continue
      for (const { place, steps } of nestedSteps(step)) look(steps, `${here}.${place}`)
    }
  }
  for (const name of sectionNames) look(route.sections[name], name)
  return [...places]
}
