import type { FastifyInstance } from "fastify"
import type * as z from "zod"
import type { Plan } from "../plan/plan.ts"
import type { Route } from "../plan/resources.ts"
import { nestedSteps, type StepId } from "../plan/steps.ts"
import { durationBounds } from "../telemetry/metrics.ts"
import {
  type PlanAnswer,
  type RouteAnswer,
  type RouteCounts,
  type RouteStep,
  type RoutesAnswer,
  refusalsQuery,
  routesQuery,
  type VersionSummary,
} from "./api.ts"
import { bodyOf } from "./body.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"
import { addedCounts } from "./route-counts.ts"

type RoutePorts = Pick<ControlPorts, "history" | "plan" | "routeCounts" | "recentRefusals">

const sections = ["inbound", "backend", "outbound", "onError"] as const

/**
 * `GET /v1/routes`: routes of the newest plan, with what this process has counted. `GET /v1/routes/{key}`: one of them with its steps.
 * `GET /v1/refusals`: requests that were refused a short time ago.
 */
export function addRouteRoutes(app: FastifyInstance, ports: RoutePorts): void {
  const newest = new NewestPlan(ports)
  app.get("/v1/routes", async (request, reply): Promise<RoutesAnswer | typeof reply> => {
    const question = bodyOf(routesQuery, request.query, reply)
    return question === undefined ? reply : listRoutes(ports, await newest.read(), question)
  })
  app.get<{ Params: { key: string } }>("/v1/routes/:key", async ({ params: { key } }, reply) => {
    const found = await newest.read()
    const route = found?.plan.plan.routes[key]
    if (found === undefined || route === undefined)
      return sendProblem(reply, "not-found", `the newest plan has no route \`${key}\``)
    const counts = await ports.routeCounts([key])
    return routeAnswerOf(found, key, route, counts[key])
  })
  app.get("/v1/refusals", async (request, reply) => {
    const question = bodyOf(refusalsQuery, request.query, reply)
    if (question === undefined) return reply
    const { route, limit } = question
    const all = await ports.recentRefusals()
    return { refusals: all.filter((each) => route === undefined || each.route === route).slice(0, limit) }
  })
}

/** The newest plan with its places. A plan may be 10 MB, so the last one is kept, and only its record is asked for. */
class NewestPlan {
  readonly #ports: Pick<RoutePorts, "history" | "plan">
  #kept: PlanAnswer | undefined

  constructor(ports: Pick<RoutePorts, "history" | "plan">) {
    this.#ports = ports
  }

  async read(): Promise<PlanAnswer | undefined> {
    const [record] = await this.#ports.history(1)
    if (record === undefined) return undefined
    const isSame = this.#kept?.record.stamp === record.stamp && this.#kept.record.serial === record.serial
    if (!isSame) this.#kept = await this.#ports.plan(record.serial)
    return this.#kept
  }
}

async function listRoutes(
  ports: RoutePorts,
  found: PlanAnswer | undefined,
  { text, after, limit, ...question }: z.infer<typeof routesQuery>,
): Promise<RoutesAnswer> {
  const bounds = durationBounds
  if (found === undefined) return { serial: null, total: 0, versions: [], bounds, routes: [], next: null }
  const words = text.toLowerCase().split(/\s+/)
  const all = Object.entries(found.plan.plan.routes).filter(([key, route]) => fits(key, route, words))
  const counts = await ports.routeCounts(all.map(([key]) => key))
  const names = question.in === undefined ? undefined : new Set(question.in.split(/\s+/))
  const wanted =
    names === undefined
      ? all
      : all.filter(([, { api, version }]) => names.has(api) || names.has(`${api}.${version}`))
  const rest = after === "" ? wanted : wanted.slice(wanted.findIndex(([key]) => key === after) + 1)
  const page = rest.slice(0, limit)
  return {
    ...{ serial: found.record.serial, total: all.length, versions: versionsOf(all, counts), bounds },
    routes: page.map(([key, route]) => ({
      ...summaryOf(found.plan, key, route),
      counts: counts[key] ?? null,
    })),
    next: rest.length > limit ? (page.at(-1)?.[0] ?? null) : null,
  }
}

/** The versions of routes in the order of the plan, with the counts of all their routes. */
function versionsOf(
  routes: readonly (readonly [key: string, route: Route])[],
  counts: Readonly<Record<string, RouteCounts>>,
): VersionSummary[] {
  const found = new Map<string, VersionSummary>()
  for (const [key, { api, version }] of routes) {
    const name = `${api}.${version ?? ""}`
    const before = found.get(name) ?? { api, version, routes: 0, counts: null }
    const own = counts[key]
    found.set(name, {
      ...before,
      routes: before.routes + 1,
      counts: own === undefined ? before.counts : addedCounts(before.counts ?? undefined, own),
    })
  }
  return [...found.values()]
}

/** Every word is a part of the key or of a name. */
function fits(key: string, { api, version, operation }: Route, words: readonly string[]): boolean {
  const text = `${key} ${api} ${version ?? ""} ${operation}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

function summaryOf({ origins }: Plan, key: string, route: Route) {
  const { api, version, operation, method, path, hosts = [] } = route
  return { ...{ key, api, version, operation, method, path, hosts }, place: origins[`routes.${key}`] ?? "" }
}

function routeAnswerOf(
  { plan, record }: PlanAnswer,
  key: string,
  route: Route,
  counts: RouteCounts | undefined,
): RouteAnswer {
  const isOwn = ownPlaces(plan, key)
  const stepsAt = (ids: readonly StepId[], at: string): RouteStep[] =>
    ids.flatMap((id, index) => {
      const step = plan.plan.steps[id]
      if (step === undefined) return []
      const here = `${at}.${index}`
      const place = plan.origins[`routes.${key}.${here}`] ?? ""
      const inside = nestedSteps(step).map(({ place: name, steps }) => ({
        name,
        steps: stepsAt(steps, `${here}.${name}`),
      }))
      return [
        { at: here, place, isInherited: place !== "" && !isOwn(place), step: withoutInner(step), inside },
      ]
    })
  const { timeoutMs } = route
  return {
    ...{ serial: record.serial, ...summaryOf(plan, key, route), timeoutMs, counts: counts ?? null },
    bounds: durationBounds,
    sections: sections.map((name) => ({ name, steps: stepsAt(route.sections[name], name) })),
  }
}

/** A step whose inner lists are empty: the answer has them beside it. */
function withoutInner(step: Plan["plan"]["steps"][string]): Record<string, unknown> {
  const inner = nestedSteps(step).map(({ place }) => [place.split(".", 1)[0] ?? "", []])
  return { ...step, ...Object.fromEntries(inner) }
}

/** Which places are in the text of a route itself: from its line to that of the next route or API in the same file. All others are of what is around it. */
function ownPlaces({ origins, plan }: Plan, key: string): (place: string) => boolean {
  const own = placeOf(origins[`routes.${key}`] ?? "")
  const begins = [
    ...Object.keys(plan.routes).map((each) => `routes.${each}`),
    ...Object.keys(origins).filter((each) => /^apis\.[^.]+\.path$/.test(each)),
  ]
    .map((each) => placeOf(origins[each] ?? ""))
    .filter(({ file, line }) => file === own.file && line > own.line)
    .map(({ line }) => line)
  const end = Math.min(...begins, Number.POSITIVE_INFINITY)
  return (place) => {
    const { file, line } = placeOf(place)
    return file === own.file && line >= own.line && line < end
  }
}

function placeOf(place: string): { readonly file: string; readonly line: number } {
  const [, file = "", line = "0"] = /^(.*?):(\d+)/.exec(place) ?? []
  return { file, line: Number(line) }
}
