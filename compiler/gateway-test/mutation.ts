import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import type { StepId } from "../../runtime/plan/steps.ts"
import type { ModelCoverage } from "../model-test/coverage.ts"
import { type ModelPart, partsOf } from "../model-test/mutants.ts"
import { relationsBehind } from "./asked-relations.ts"
import type { GatewaySuite, GatewayTest } from "./gateway-suite.ts"
import { type OpenGateways, runGatewayTest } from "./run-suite.ts"
import { usesOf } from "./step-uses.ts"
import { weakerSteps, weakerWebSockets } from "./weakenings.ts"

/** A weakened guard that no test noticed. */
export interface Survivor {
  readonly what: string
  /** `gateway.conf:41`, or the relation `type#relation` of a store. */
  readonly place: string
  readonly routes: readonly string[]
  /** Whether a test runs it at all. */
  readonly isReached: boolean
}

/** What weakening every guard in turn showed. */
export interface MutationResult {
  /** Path of the gateway.conf. */
  readonly config: string
  readonly mutants: number
  readonly survivors: readonly Survivor[]
  readonly ms: number
}

/** Rounded down: 100 only when every weakened guard was noticed. */
export function noticedPercent({ mutants, survivors }: MutationResult): number {
  return mutants === 0 ? 100 : Math.floor(((mutants - survivors.length) / mutants) * 100)
}

interface Mutant {
  readonly what: string
  readonly place: string
  readonly routes: Set<string>
  readonly weaken:
    | { readonly step: StepId; readonly alternative: number }
    | { readonly webSocket: Route["websocket"] }
    | PartOfStore
}

/** What a test does, from a run with nothing weakened. */
interface Reach {
  readonly suite: GatewaySuite
  readonly test: GatewayTest
  /** Route and step of every run. */
  readonly steps: ReadonlySet<string>
  /** Routes that opened a WebSocket, or refused it because it is off. */
  readonly webSockets: ReadonlySet<string>
  /** Parts of models without which one of its questions has another answer. */
  readonly parts: ReadonlySet<ModelPart>
  readonly requests: number
}

/** A part of a store's model, and the model without it. */
interface PartOfStore {
  readonly store: string
  readonly part: ModelPart
  readonly without: LoadedModel
}

/**
 * Weakens each guard of a project in turn, and runs the tests that reach it until one fails. `suites` are all of this project, and pass with nothing
 * weakened; `gateways` were opened with the alternatives of `weakerSteps`. `models`: what tests of models cover; a part that they cover is noticed there.
 */
export async function mutate(
  suites: readonly [GatewaySuite, ...GatewaySuite[]],
  gateways: OpenGateways,
  models: readonly ModelCoverage[],
): Promise<MutationResult> {
  const started = performance.now()
  const [{ config, plan }] = suites
  const parts = partsOfStores(plan)
  const asked = new Set<string>()
  const reaches = await reachesOf(suites, gateways, parts, asked)
  const mutants = [
    ...mutantsOfSteps(plan),
    ...mutantsOfWebSockets(plan),
    ...mutantsOfModels(suites[0], parts, asked),
  ]
  const survivors: Survivor[] = []
  for (const mutant of mutants) {
    if ("part" in mutant.weaken && isTestedItself(mutant.weaken, plan, models)) continue
    const reaching = reaches.filter((reach) => isReached(mutant, reach))
    if (await isNoticed(mutant, reaching, gateways)) continue
    const { what, place, routes } = mutant
    survivors.push({ what, place, routes: [...routes], isReached: reaching.length > 0 })
  }
  return { config, mutants: mutants.length, survivors, ms: performance.now() - started }
}

/** Tests with few requests come first: they are enough for most guards. */
async function reachesOf(
  suites: readonly GatewaySuite[],
  gateways: OpenGateways,
  parts: readonly PartOfStore[],
  asked: Set<string>,
): Promise<Reach[]> {
  const reaches: Reach[] = []
  for (const suite of suites)
    for (const test of suite.tests) {
      if (test.skip !== undefined) continue
      const steps = new Set<string>()
      const webSockets = new Set<string>()
      const questions = new Map<string, Passage["decisions"][number]>()
      let requests = 0
      await runGatewayTest(await gateways.of(suite, test.given), test, (_, passage) => {
        requests += 1
        const { route = "", problem } = passage.finished
        for (const { id } of passage.steps) steps.add(`${route} ${id}`)
        if (passage.webSocket !== undefined || problem === "not-implemented") webSockets.add(route)
        for (const decision of passage.decisions) {
          const { store, user, relation, object } = decision
          questions.set(`${store} ${user} ${relation} ${object}`, decision)
          asked.add(`${store} ${object.slice(0, object.indexOf(":"))}#${relation}`)
        }
      })
      reaches.push({
        suite,
        test,
        ...{ steps, webSockets, requests },
        parts: await decidingParts([...questions.values()], parts),
      })
    }
  return reaches.sort((a, b) => a.requests - b.requests)
}

/** Asking the questions alone is much cheaper than running their tests, and most parts decide none of them. */
async function decidingParts(
  questions: readonly Passage["decisions"][number][],
  parts: readonly PartOfStore[],
): Promise<Set<ModelPart>> {
  const deciding = new Set<ModelPart>()
  for (const { store, part, without } of parts)
    for (const question of questions)
      if (question.store === store && (await question.allowedBy(without)) !== question.allowed) {
        deciding.add(part)
        break
      }
  return deciding
}

function partsOfStores({ plan }: Plan): PartOfStore[] {
  return Object.entries(plan.authz?.stores ?? {}).flatMap(([store, { model: digest }]) => {
    const model = plan.models[digest]
    return model === undefined
      ? []
      : partsOf(model.model).map((part) => ({ store, part, without: part.without() }))
  })
}

/** One mutant for each way to weaken a line; a line that several routes inherit is weakened at all of them. */
function mutantsOfSteps(plan: Plan): Mutant[] {
  const mutants = new Map<string, Mutant>()
  for (const { route, id, step, place, isPart } of usesOf(plan)) {
    if (isPart) continue
    weakerSteps(step).forEach(({ what }, alternative) => {
      const key = `${id} ${place} ${alternative}`
      const mutant = mutants.get(key)
      if (mutant === undefined)
        mutants.set(key, { what, place, routes: new Set([route]), weaken: { step: id, alternative } })
      else mutant.routes.add(route)
    })
  }
  return [...mutants.values()]
}

/** One mutant for each way to weaken what a line says about WebSockets. */
function mutantsOfWebSockets({ plan, origins }: Plan): Mutant[] {
  const mutants = new Map<string, Mutant>()
  for (const [route, { websocket }] of Object.entries(plan.routes)) {
    const place = origins[`routes.${route}.websocket`] ?? ""
    for (const { what, webSocket } of weakerWebSockets(websocket)) {
      const mutant = mutants.get(`${what} ${place}`)
      if (mutant === undefined)
        mutants.set(`${what} ${place}`, { what, place, routes: new Set([route]), weaken: { webSocket } })
      else mutant.routes.add(route)
    }
  }
  return [...mutants.values()]
}

/** The parts of relations that decide what routes ask for. */
function mutantsOfModels(
  { plan: { plan }, models }: GatewaySuite,
  parts: readonly PartOfStore[],
  asked: ReadonlySet<string>,
): Mutant[] {
  const behind = new Map<string, ReadonlySet<string>>()
  for (const [store, { model: digest }] of Object.entries(plan.authz?.stores ?? {})) {
    const own = [...asked].flatMap((each) =>
      each.startsWith(`${store} `) ? [each.slice(store.length + 1)] : [],
    )
    const model = plan.models[digest]
    if (model !== undefined) behind.set(store, relationsBehind(model.model, own))
  }
  return parts.flatMap(({ store, part, without }): Mutant[] => {
    const { type = "", relation = "", condition, text } = part
    const of = condition === undefined ? `${type}#${relation}` : `condition ${condition}`
    if (condition === undefined && behind.get(store)?.has(of) !== true) return []
    if (condition !== undefined && (behind.get(store)?.size ?? 0) === 0) return []
    const compiled = models.get(store)
    const span =
      condition === undefined
        ? compiled?.types.get(type)?.relations.get(relation)
        : compiled?.conditions.get(condition)
    const place =
      span === undefined ? `store ${store}` : `${span.file.path}:${span.file.position(span.start).line}`
    return [
      {
        what: `\`${text}\` of \`${of}\` is left out`,
        place,
        routes: new Set(),
        weaken: { store, part, without },
      },
    ]
  })
}

/** Whether tests of the model itself notice that a part is missing. */
function isTestedItself(
  { store, part }: PartOfStore,
  { plan }: Plan,
  models: readonly ModelCoverage[],
): boolean {
  const digest = plan.authz?.stores[store]?.model
  const { type, relation, condition, text } = part
  const of = condition === undefined ? `${type}#${relation}` : `condition ${condition}`
  return models.some(
    ({ model, gaps }) =>
      model.loaded.digest === digest && !gaps.some((gap) => gap.of === of && gap.text === text),
  )
}

function isReached({ weaken, routes }: Mutant, { steps, webSockets, parts }: Reach): boolean {
  if ("part" in weaken) return parts.has(weaken.part)
  if ("webSocket" in weaken) return [...routes].some((route) => webSockets.has(route))
  return [...routes].some((route) => steps.has(`${route} ${weaken.step}`))
}

async function isNoticed(
  { weaken, routes }: Mutant,
  reaching: readonly Reach[],
  gateways: OpenGateways,
): Promise<boolean> {
  const models = "part" in weaken ? new Map([[weaken.store, weaken.without]]) : undefined
  for (const { suite, test } of reaching) {
    const gateway = await gateways.of(suite, test.given)
    if (!("part" in weaken)) gateway.weakening = { ...weaken, routes }
    try {
      const { passed } = await runGatewayTest(gateway, test, undefined, models)
      if (!passed) return true
    } finally {
      gateway.weakening = undefined
    }
  }
  return false
}
