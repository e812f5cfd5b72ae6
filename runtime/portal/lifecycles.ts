import { announcedEnd } from "../plan/lifecycle.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { PublishedVersionPlan } from "../plan/portal.ts"
import type { AnnouncedEnd, ChangeNote, Lifecycle } from "./api.ts"

/** A version of an API, as plans name it. */
type Version = Pick<PublishedVersionPlan, "api" | "version">

/** The key of a version in a map. */
export function versionKey({ api, version }: Version): string {
  return `${api} ${version ?? ""}`
}

/** `orders v1` */
export function versionName({ api, version }: Version): string {
  return version === null ? api : `${api} ${version}`
}

/** The announced ends of published versions, by `versionKey`. A successor that is not published is not named. */
export function lifecyclesOf(
  { routes, steps }: Pick<PlanBody, "routes" | "steps">,
  apis: readonly PublishedVersionPlan[],
): ReadonlyMap<string, Lifecycle> {
  const published = new Set(apis.map(versionKey))
  const found = new Map<string, Lifecycle>()
  for (const route of Object.values(routes)) {
    const key = versionKey(route)
    if (!published.has(key) || found.has(key)) continue
    const step = announcedEnd(route, steps)
    if (step === undefined) continue
    const next = apis.find(({ api, path }) => api === route.api && path === step.successor)
    found.set(key, {
      ...{ deprecated: step.deprecated, sunset: step.sunset ?? null, closes: step.closed },
      successor: next?.version ?? null,
    })
  }
  return found
}

/** All announced ends: those with a date first, the earliest of them first. */
export function announcedEnds(
  lifecycles: ReadonlyMap<string, Lifecycle>,
  apis: readonly Version[],
): readonly AnnouncedEnd[] {
  const ends = apis.flatMap(({ api, version }): AnnouncedEnd[] => {
    const lifecycle = lifecycles.get(versionKey({ api, version }))
    return lifecycle === undefined ? [] : [{ api, version, lifecycle }]
  })
  const day = ({ lifecycle: { sunset } }: AnnouncedEnd) => sunset ?? "9999"
  return ends.sort((one, other) => day(one).localeCompare(day(other)))
}

/** What two plans announce differently about the end of a version; undefined: nothing. An earlier end matters to callers as a breaking change does. */
export function lifecycleNote(
  of: Version,
  before: Lifecycle | undefined,
  after: Lifecycle | undefined,
): ChangeNote | undefined {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined
  const about = { api: of.api, version: of.version, operation: null }
  const name = versionName(of)
  if (after === undefined)
    return { ...about, kind: "changed", text: `${name} is no longer deprecated, and does not end` }
  const text = `${name} ${sentenceOf(after)}`
  const isSooner =
    (before?.sunset != null && after.sunset !== null && after.sunset < before.sunset) ||
    (before !== undefined && !before.closes && after.closes)
  if (isSooner) return { ...about, kind: "breaking", text }
  return { ...about, kind: before?.sunset != null && after.sunset === null ? "changed" : "deprecated", text }
}

function sentenceOf({ deprecated, sunset, closes, successor }: Lifecycle): string {
  const parts = [
    deprecated === false ? "" : deprecated === true ? "is deprecated" : `is deprecated from ${deprecated} on`,
    endOf(sunset, closes),
  ].filter((each) => each !== "")
  const next = successor === null ? "" : `: use ${successor} instead`
  return `${parts.join(" and ") || "has another announcement"}${next}`
}

function endOf(sunset: string | null, closes: boolean): string {
  if (sunset === null) return closes ? "has ended: requests get 410" : ""
  return closes ? `ends on ${sunset}: requests get 410 from then on` : `ends on ${sunset}`
}
