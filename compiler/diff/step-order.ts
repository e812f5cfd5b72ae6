import { meets, type Place } from "../../runtime/plan/places.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { isAnswer, isAuth, isGuard as isGuardKind, type Step, type StepId } from "../../runtime/plan/steps.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { placeWords } from "./place-words.ts"
import { type Ending, inside, type Touch, touchOf } from "./step-touch.ts"

type Steps = PlanBody["steps"]

/** The places that are read after a step has ended its section early, by the kind of end. */
export interface SeenAfter {
  /** After a problem: by on-error. */
  readonly problem: readonly Place[]
  /** After a cache hit: by the steps of outbound that run for a cached response. */
  readonly found: readonly Place[]
  /** After any end: when the exchange is over, by counters. */
  readonly any: readonly Place[]
}

/** The surroundings of a list of steps that decide what a change of their order can affect. */
export interface OrderContext {
  readonly section: string
  readonly seenAfter: SeenAfter | "everything"
  /** Whether the route accepts OPTIONS. */
  readonly takesOptions: boolean
  /** The list runs in parallel with others: while a step waits, the others continue. */
  readonly beside: boolean
}

/** The places that steps read after a section of one of these routes has ended early. */
export function seenAfterEnd(routes: readonly (readonly [Route, Steps])[]): SeenAfter {
  const readBy = (section: "outbound" | "onError") =>
    routes.flatMap(([{ sections }, steps]) =>
      touchesOf(sections[section], steps).flatMap(({ reads }) => [...reads]),
    )
  const late = routes.flatMap(([{ sections }, steps]) =>
    touchesOf(Object.values(sections).flat(), steps).flatMap((touch) => [...touch.late]),
  )
  const sorted = (places: readonly Place[]) => [...new Set(places)].sort()
  return { problem: sorted(readBy("onError")), found: sorted(readBy("outbound")), any: sorted(late) }
}

function touchesOf(ids: readonly StepId[], steps: Steps): Touch[] {
  return ids.flatMap((id) => steps[id] ?? []).map((step) => touchOf(step, steps))
}

/** Two steps in their old order, with their words. */
interface Pair {
  readonly first: Step
  readonly second: Step
  readonly words: { readonly first: string; readonly second: string }
  /** The effects of `first`; `is` has those of `second`. */
  readonly was: Touch
  readonly is: Touch
  readonly around: OrderContext
}

/**
 * What it means that `first` ran before `second`, and now runs after it. Neutral only if their facts prove that no request can observe it:
 * neither writes what the other reads or writes, and if one can end the request, the other has no lasting effect. Unproven cases count as
 * `opens`, unless a more specific effect is known.
 */
export function orderChange(
  first: Step,
  second: Step,
  words: { readonly first: string; readonly second: string },
  steps: Steps,
  around: OrderContext,
): Finding[] {
  const pair = { first, second, words, was: touchOf(first, steps), is: touchOf(second, steps), around }
  const found = [
    ...fenced(pair),
    ...shared(pair),
    ...timed(pair),
    ...remaining(pair),
    ...ended(pair),
    ...unseen(pair),
  ]
  return found.length > 0 ? found : [neutral("their order makes no difference")]
}

/** A step that can respond early: then later checks do not run. */
export function answersBefore(
  step: Step,
  behind: readonly Step[],
  wordsOf: (step: Step) => string,
  steps: Steps,
): Finding[] {
  const answers = hasAnswer(step, steps)
  const guards = answers ? behind.filter((each) => isGuard(each, steps)) : []
  return guards.map((guard) => opens(`it can respond before \`${wordsOf(guard)}\` is checked`))
}

function hasAnswer(step: Step, steps: Steps): boolean {
  return isAnswer(step) || inside(step, steps).some((each) => hasAnswer(each, steps))
}

function isGuard(step: Step, steps: Steps): boolean {
  return (
    isGuardKind(step) ||
    (step.kind === "deprecation" && step.closed) ||
    inside(step, steps).some((each) => isGuard(each, steps))
  )
}

function fenced({ was, is, words }: Pair): Finding[] {
  const fence = was.fence ? words.first : is.fence ? words.second : undefined
  if (fence === undefined) return []
  return [opens(`statements before \`${fence}\` do not run for a cached response, statements after it do`)]
}

/** Places that can be changed in any order, because the additions commute. */
function isHeap(place: Place): boolean {
  return place === "log" || place.startsWith("metric:")
}

function meeting(some: ReadonlySet<Place>, others: ReadonlySet<Place>): Place | undefined {
  for (const one of some)
    for (const other of others) if (meets(one, other)) return one.endsWith(":*") ? other : one
  return undefined
}

/** The places that both change, or that one changes and the other reads. */
function shared({ was, is, words }: Pair): Finding[] {
  const findings: Finding[] = []
  const both = meeting(was.writes, is.writes)
  if (both === "request.query-order:*")
    findings.push(breaking("query parameters reach the backend in another order"))
  const other =
    meeting(without(was.writes, both), is.writes) ?? (both === "request.query-order:*" ? undefined : both)
  if (other !== undefined) findings.push(opens(`both change ${placeWords(other)}, and the later one decides`))
  const left = meeting(new Set([...was.leaves].filter((place) => !isHeap(place))), is.leaves)
  if (left?.startsWith("answer.header:"))
    findings.push(breaking(`both add ${placeWords(left)}, now in the other order`))
  else if (left !== undefined)
    findings.push(opens(`both use ${placeWords(left)}, and the earlier one changes it for the other`))
  const read = (
    reader: Touch,
    writer: Touch,
    names: { reader: string; writer: string },
    when: string,
  ): void => {
    const place =
      meeting(writer.writes, reader.reads) ??
      (left === undefined ? meeting(writer.leaves, reader.reads) : undefined)
    if (place !== undefined)
      findings.push(
        opens(`\`${names.reader}\` now reads ${placeWords(place)} ${when} \`${names.writer}\` changes it`),
      )
  }
  if (other !== undefined) return findings
  read(was, is, { reader: words.first, writer: words.second }, "after")
  read(is, was, { reader: words.second, writer: words.first }, "before")
  return findings
}

function without(places: ReadonlySet<Place>, place: Place | undefined): ReadonlySet<Place> {
  return place === "request.query-order:*" ? new Set([...places].filter((each) => each !== place)) : places
}

/** A step that waits changes the time that others read, and how long a concurrency slot is occupied. */
function timed({ was, is, words, around }: Pair): Finding[] {
  const depends = ({ reads, leaves }: Touch) =>
    reads.has("clock") || [...leaves].some((place) => place.startsWith("slot:"))
  if (was.waits && depends(is)) return [opens(`\`${words.second}\` no longer waits for \`${words.first}\``)]
  if (is.waits && depends(was)) return [opens(`\`${words.first}\` now waits for \`${words.second}\``)]
  const isBusy = ({ reads, writes, leaves }: Touch) => reads.size + writes.size + leaves.size > 0
  if (around.beside && ((was.waits && isBusy(is)) || (is.waits && isBusy(was))))
    return [opens("while one of them waits, steps of other branches continue")]
  return []
}

/** Lasting effects of one step if the other can end the request. */
function remaining({ was, is, first, second, words }: Pair): Finding[] {
  const findings: Finding[] = []
  const nameOf = (step: Step, said: string) => (isAuth(step) ? "auth" : said)
  const [later, earlier] = [is.ends.size > 0 ? leftBy(was) : [], was.ends.size > 0 ? leftBy(is) : []]
  if (counts(later))
    findings.push(opens(`calls that \`${nameOf(second, words.second)}\` refuses are no longer counted`))
  else if (later.length > 0)
    findings.push(breaking(`\`${words.first}\` no longer runs for requests that \`${words.second}\` ends`))
  if (counts(earlier))
    findings.push(closes(`calls that \`${nameOf(first, words.first)}\` refuses are now counted too`))
  else if (earlier.length > 0) {
    const why = `\`${words.second}\` now also runs for requests that \`${words.first}\` ends`
    findings.push(earlier.every(isHeap) ? breaking(why) : opens(why))
  }
  return findings
}

function leftBy({ leaves }: Touch): Place[] {
  // A concurrency slot is released when the request ends.
  return [...leaves]
}

function counts(places: readonly Place[]): boolean {
  return places.some((place) => place.startsWith("counter:"))
}

/** Both can end the request: if both would, the other one now does. */
function ended(pair: Pair): Finding[] {
  const { was, is, words, around } = pair
  const [one, other] = [endings(was, around), endings(is, around)]
  if (one.size === 0 || other.size === 0 || isSameFailure(one, other, around)) return []
  const answers = (ends: ReadonlySet<Ending>) => ends.has("answer") || ends.has("found")
  if (answers(other)) return [opens(`\`${words.second}\` can respond before \`${words.first}\` is checked`)]
  if (answers(one)) return [closes(`\`${words.second}\` is checked before \`${words.first}\` can respond`)]
  // A changed count is already reported.
  if (counts([...was.leaves]) || counts([...is.leaves])) return []
  return [
    breaking(
      `requests that both refuse now get the response of \`${words.second}\` instead of \`${words.first}\``,
    ),
  ]
}

/** Without a response, a missing value and an unsuitable value are the same failure. */
function endings({ ends }: Touch, { section }: OrderContext): ReadonlySet<Ending> {
  if (section !== "inbound" || !ends.has("no-fit")) return ends
  return new Set([...ends].map((end) => (end === "no-fit" ? "no-value" : end)))
}

/** Two steps that fail in the same way may be swapped if nobody sees which of them failed. */
function isSameFailure(
  one: ReadonlySet<Ending>,
  other: ReadonlySet<Ending>,
  { seenAfter: seen }: OrderContext,
): boolean {
  const all = [...new Set([...one, ...other])]
  const isFailure = all[0] === "no-value" || all[0] === "no-fit" || all[0] === "csharp"
  return all.length === 1 && isFailure && seen !== "everything" && !seen.problem.includes("error")
}

const problems: ReadonlySet<Ending> = new Set(["refuse", "fail", "no-value", "no-fit", "csharp"])

/** The places that are read after one step has ended the section, and that the other has changed in only one of the two orders. */
function unseen({ was, is, words, around: { seenAfter: seen } }: Pair): Finding[] {
  const lost = ({ ends }: Touch, { writes }: Touch) => {
    if (ends.size === 0) return undefined
    if (seen === "everything") return [...writes][0]
    const onError = [...ends].some((end) => problems.has(end)) ? seen.problem : []
    return meeting(writes, new Set([...seen.any, ...onError, ...(ends.has("found") ? seen.found : [])]))
  }
  const [late, early] = [lost(is, was), lost(was, is)]
  const why = (place: Place, end: string, not: string) =>
    opens(`when \`${end}\` ends the request, later steps ${not} see the change of ${placeWords(place)}`)
  return [
    ...(late === undefined ? [] : [why(late, words.second, "do not")]),
    ...(early === undefined ? [] : [why(early, words.first, "now")]),
  ]
}
