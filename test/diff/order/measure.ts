import { type Risk, risks } from "../../../compiler/analysis/finding.ts"
import { ListComparison } from "../../../compiler/diff/compare-lists.ts"
import { StepWords } from "../../../compiler/diff/step-words.ts"
import type { StepId, StepKind } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { planOf, type RouteDraft, type StepDraft } from "../../gateway/plan-builder.ts"
import { type Random, randomOf } from "../edits.ts"
import { Draw, type Section } from "./draw.ts"
import { isAllowed, otherList } from "./random-changes.ts"
import { draftOf, kinds, standsIn } from "./random-steps.ts"
import { type Asked, Services, Side, type Trace } from "./two-sides.ts"

/** Steps of a section in two orders. */
interface Candidate {
  readonly lane: string
  readonly section: Section
  readonly kinds: readonly StepKind[]
  readonly before: RouteDraft
  readonly after: RouteDraft
}

/** What came of a candidate. */
export interface Judged {
  readonly kinds: readonly StepKind[]
  readonly section: Section
  readonly isNeutral: boolean
  readonly risk: Risk
  /** Undefined: no request could tell the orders apart, or saw what the risk does not allow; else what one request saw. */
  readonly difference: string | undefined
  readonly steps: string
}

/** Which candidates are drawn. `inside`: the list stands in a step that holds others. `change`: something else than its order is changed. `runs`: what is run; others are judged only. */
export interface Terms {
  readonly seed: number
  readonly shapes: readonly (readonly StepKind[])[]
  readonly requests: number
  readonly inside?: boolean
  readonly change?: boolean
  readonly runs: "neutral" | "not opens" | "all"
}

const sections: readonly Section[] = ["inbound", "inbound", "outbound", "backend", "onError"]

/** Every two kinds that may stand in one list, in either order of the draw. */
export function pairsOfKinds(): (readonly StepKind[])[] {
  return kinds.flatMap((one, at) =>
    kinds
      .slice(at)
      .filter((other) => sections.some((section) => standsIn(one, section) && standsIn(other, section)))
      .map((other) => [one, other]),
  )
}

/** Lists of so many kinds, at random. */
export function randomShapes(random: Random, count: number, length: number): (readonly StepKind[])[] {
  return Array.from({ length: count }, () => {
    const section = sections[random(sections.length)] as Section
    const known = kinds.filter((kind) => standsIn(kind, section))
    return Array.from({ length }, () => known[random(known.length)] as StepKind)
  })
}

/** Draws candidates, judges them as \`diff\` does, and runs both orders against the same requests. */
export async function measured(terms: Terms): Promise<readonly Judged[]> {
  const services = await Services.start()
  try {
    const drawn = terms.shapes.flatMap((shape, at) => drawnOf(shape, at, terms, services))
    const judged: Judged[] = []
    for (let from = 0; from < drawn.length; from += chunk)
      judged.push(...(await runChunk(drawn.slice(from, from + chunk), terms, services)))
    return judged
  } finally {
    await services.close()
  }
}

/** Routes of one gateway. */
const chunk = 200

async function runChunk(drawn: readonly Candidate[], terms: Terms, services: Services): Promise<Judged[]> {
  const candidates = validOf(drawn, Side.world(services))
  const plans = (["before", "after"] as const).map(
    (side) => planOf({ ...Side.world(services), port: 1, routes: candidates.map((each) => each[side]) }).plan,
  )
  const [old, next] = plans.map((plan) => new StepWords(plan)) as [StepWords, StepWords]
  const lists = new ListComparison(old, next)
  const judged = candidates.flatMap((candidate) => {
    const key = `* ${candidate.before.path}`
    const [before, after] = [old.body.routes[key], next.body.routes[key]]
    if (before === undefined || after === undefined) throw new Error(`no route ${key}`)
    const [first, second] = [before.sections[candidate.section], after.sections[candidate.section]]
    if (first.join() === second.join()) return []
    const section = candidate.section === "onError" ? "on-error" : candidate.section
    const drafts = lists.compare(section, first, second, { routes: { before, after } })
    const risk = risks.find((each) => drafts.some(({ verdict }) => verdict.risk === each)) ?? "neutral"
    const told = drafts.flatMap(({ verdict }) =>
      verdict.reasons.map(({ risk: own, why }) => `${own}: ${why}`),
    )
    const steps = [`${listOf(old, first)} → ${listOf(next, second)}`, ...told].join("\n  ")
    return [{ candidate, risk, isNeutral: risk === "neutral", steps }]
  })
  const wanted = judged.filter(
    ({ isNeutral, risk }) =>
      isNeutral || terms.runs === "all" || (terms.runs !== "neutral" && risk !== "opens"),
  )
  if (wanted.length === 0) return []
  const sides = [
    await Side.start(
      services,
      wanted.map(({ candidate }) => candidate.before),
    ),
    await Side.start(
      services,
      wanted.map(({ candidate }) => candidate.after),
    ),
  ] as const
  const found: Judged[] = []
  try {
    for (const { candidate, isNeutral, risk, steps } of wanted) {
      const random = randomOf(terms.seed + Number(candidate.lane.slice(1)))
      const allowed = (one: Trace, other: Trace) => terms.change === true && isAllowed(risk, one, other)
      const difference = await differenceOf(sides, candidate, random, terms.requests, allowed)
      const { kinds, section } = candidate
      found.push({ kinds, section, isNeutral, risk, difference, steps })
    }
  } finally {
    for (const side of sides) await side.close()
  }
  return found
}

/** Some steps may not stand together; the reader of plans says so. */
function validOf(
  candidates: readonly Candidate[],
  world: ReturnType<typeof Side.world>,
): readonly Candidate[] {
  const isValid = (routes: RouteDraft[]): boolean => {
    try {
      planOf({ ...world, port: 1, routes })
      return true
    } catch {
      return false
    }
  }
  if (isValid(candidates.map(({ before }) => before)) && isValid(candidates.map(({ after }) => after)))
    return candidates
  return candidates.filter(({ before, after }) => isValid([before]) && isValid([after]))
}

async function differenceOf(
  sides: readonly [Side, Side],
  { lane }: Candidate,
  random: Random,
  requests: number,
  isAllowed: (before: Trace, after: Trace) => boolean,
): Promise<string | undefined> {
  for (const side of sides) side.forget()
  for (let at = 0; at < requests; at += 1) {
    const asked = requestOf(lane, random)
    const traces = [await sides[0].ask(asked), await sides[1].ask(asked)] as const
    const [one, other] = traces.map((trace) => shown(trace)) as [string, string]
    if (one !== other && !isAllowed(...traces))
      return `${JSON.stringify(asked)}\n  before: ${one}\n  after:  ${other}`
  }
  return undefined
}

function shown(trace: Trace): string {
  return JSON.stringify(trace)
}

function requestOf(lane: string, random: Random): Asked {
  const one = <T>(...items: readonly T[]): T => items[random(items.length)] as T
  const token = (claims: object) => `Bearer ${Buffer.from(JSON.stringify(claims)).toString("base64url")}`
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
  const headers: Record<string, string> = {}
  const maybe = (name: string, ...values: readonly string[]) => {
    if (random(2) === 0) headers[name] = one(...values)
  }
  maybe("x-a", "1", "1", "2", "ann")
  maybe("x-b", "2", "3")
  maybe("x-key", "right", "right", "wrong")
  maybe("cookie", "c=1; d=2", token({ sub: "ann" }).replace("Bearer ", "c="))
  maybe(
    "authorization",
    token({ sub: "ann" }),
    token({ sub: "ann" }),
    "Bearer bad",
    basic("ann:open sesame"),
    basic("ann:wrong"),
  )
  maybe("x-want", "404", "503", "200")
  maybe("x-kind", "xml", "text", "none")
  maybe("accept", "application/json", "text/xml")
  if (random(6) === 0) headers["origin"] = one("https://a.example", "https://c.example")
  const method = one("GET", "GET", "POST", "POST", "OPTIONS")
  if (method === "OPTIONS" && headers["origin"] !== undefined)
    headers["access-control-request-method"] = "GET"
  let body: string | undefined
  if (method === "POST") {
    const [media, content] = one<[string, string]>(
      ["application/json", '{"k":"hidden"}'],
      ["application/json", "{broken"],
      ["application/xml", "<a><k>public</k></a>"],
      ["text/plain", "hidden and public and internal text"],
    )
    headers["content-type"] = media
    body = content
  }
  const query = [
    one("", "a=1", "a=2&a=3"),
    one("", "role=admin", "role=user", "role=right"),
    one("", "key=right", "key=x"),
  ]
  const text = query.filter((each) => each !== "").join("&")
  return { method, path: `/${lane}/7${text === "" ? "" : `?${text}`}`, headers, body }
}

const cel = (text: string): Text => ({ text: [{ expression: { lang: "cel", text, type: "string" } }] })
const shownVariable = (name: string) =>
  `(has(var.${name}) ? (type(var.${name}) == string ? string(var.${name}) : (type(var.${name}) == int ? string(int(var.${name})) : "something")) : "-")`
const variables = `${shownVariable("v")} + " " + ${shownVariable("w")}`
const dump = (message: "request" | "response", text: string, name = "x-dump"): StepDraft => ({
  kind: "set-header",
  message,
  action: "set",
  name,
  values: [cel(text)],
})

/** A route around a list in two orders: before it state is made, behind it what it left is shown, and perhaps where it fails. */
function drawnOf(shape: readonly StepKind[], at: number, terms: Terms, services: Services): Candidate[] {
  const random = randomOf(terms.seed * 7919 + at)
  const lane = `p${at}`
  const able = sections.filter((section) => shape.every((kind) => standsIn(kind, section)))
  if (able.length === 0) return []
  const section = able[random(able.length)] as Section
  const draw = new Draw(random, section, { name: lane, service: services.urlOf("service") }, draftOf)
  const list = shape.map((kind) => draftOf(kind, draw))
  const moved = terms.change ? otherList(list, draw) : otherOrder(list, random)
  const around = aroundOf(shape, section, draw)
  const holder = { which: draw.random(4), test: draw.test }
  const routeOf = (steps: readonly StepDraft[]): RouteDraft =>
    around(terms.inside ? inside(steps, holder) : [...steps])
  return [{ lane, section, kinds: shape, before: routeOf(list), after: routeOf(moved) }]
}

/** One step of the list goes elsewhere; of two they change places. */
function otherOrder(list: readonly StepDraft[], random: Random): StepDraft[] {
  const from = random(list.length)
  const rest = list.filter((_, at) => at !== from)
  const places = Array.from({ length: list.length }, (_, at) => at).filter((at) => at !== from)
  const to = places[random(places.length)] ?? 0
  return [...rest.slice(0, to), list[from] as StepDraft, ...rest.slice(to)]
}

function inside(
  steps: readonly StepDraft[],
  { which, test }: { readonly which: number; readonly test: string },
): StepDraft[] {
  const list = [...steps]
  if (which === 0) return [{ kind: "when", test, matched: list }]
  if (which === 1) return [{ kind: "when", test, matched: [], otherwise: list }]
  if (which === 2)
    return [
      {
        kind: "retry",
        test: { lang: "cel", text: 'request.header("x-a") == "1"', type: "bool" },
        times: 1,
        intervalSeconds: 0,
        fastFirst: true,
        steps: list,
      },
    ]
  return [
    {
      kind: "parallel",
      until: "all",
      branches: [
        list,
        [{ kind: "set-header", message: "request", action: "set", name: "x-branch", values: ["1"] }],
      ],
    },
  ]
}

function aroundOf(
  shape: readonly StepKind[],
  section: Section,
  draw: Draw,
): (list: StepDraft[]) => RouteDraft {
  const start: StepDraft[] = draw.maybe()
    ? [{ kind: "set-variable", name: "v", value: draw.one("1", "2") }]
    : []
  const lookup: StepDraft[] = shape.includes("cache-store") ? [draftOf("cache-lookup", draw)] : []
  const store: StepDraft[] = shape.includes("cache-lookup") ? [draftOf("cache-store", draw)] : []
  const claims = `${variables} + " " + (has(jwt.sub) ? string(jwt.sub) : "-") + " " + (has(subscription.name) ? subscription.name : "-")`
  const onError: StepDraft[] = draw.one<StepDraft[]>(
    [],
    [dump("response", variables)],
    [
      dump(
        "response",
        'request.header("x-a") + request.query("a") + error.source + error.reason',
        "x-dump-error",
      ),
    ],
  )
  const failing: StepDraft = {
    kind: "check-header",
    name: "x-a",
    values: ["1"],
    ignoreCase: false,
    status: 400,
  }
  return (list) => ({
    method: "*",
    path: `/${draw.lane.name}/{id}`,
    inbound: [
      ...start,
      ...lookup,
      ...(section === "inbound" ? list : []),
      ...(section === "onError" ? [failing] : []),
      dump("request", claims),
    ],
    backendSteps: [
      ...(section === "backend" ? list : []),
      ...(section === "backend" && shape.includes("forward")
        ? []
        : [{ kind: "forward", backend: "main" } as const]),
    ],
    outbound: [...(section === "outbound" ? list : []), ...store, dump("response", variables)],
    onError: section === "onError" ? [...list, dump("response", variables)] : onError,
  })
}

function listOf(words: StepWords, ids: readonly StepId[]): string {
  return ids.map((id) => words.of(id)).join("; ")
}
