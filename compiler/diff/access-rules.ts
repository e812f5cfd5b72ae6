import { compareTests } from "../../runtime/expression/same-outcome.ts"
import type { Amount, LimitKey } from "../../runtime/plan/counting.ts"
import type { Count } from "../../runtime/plan/step-values.ts"
import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Expression } from "../../runtime/plan/text.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { outside } from "../analysis/networks.ts"
import { listChanges } from "../analysis/same.ts"
import { durationWords, limitKeyWords, listWords, sizeWords } from "../analysis/words.ts"
import { periodWords } from "./access-effects.ts"
import { amountWords, countWordsOf } from "./access-words.ts"
import { exposeChanges, methodChanges, originChanges, requestHeaderChanges } from "./cors-changes.ts"
import { scopeOfCounter } from "./match-steps.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** Who is asked, and what with, in steps that ask. Nobody here can tell two decision points apart. */
export const askedRules = {
  store: (before, after, { before: old, after: next }) =>
    before !== undefined && after !== undefined
      ? opens(`the store \`${after}\` is asked, not \`${before}\``)
      : opens(`${deciderOf(next)} is asked, not ${deciderOf(old)}: who passes by it is not known here`),
  pdp: (before, after) =>
    before === undefined || after === undefined
      ? []
      : opens(`decision point \`${after}\` is asked, not \`${before}\`: who passes by it is not known here`),
  context: () => opens("conditions see other values"),
  properties: () => opens("the decision point is told other properties"),
} satisfies Pick<FieldRules<Fields<"require" | "filter">>, "store" | "pdp" | "context" | "properties">

const otherVariable = () => neutral("it is in another variable")

/** A header of answers by which callers are told how much is left, or how long to wait. */
function toldInHeader(before: string | undefined, after: string | undefined): Finding[] {
  return [
    ...(before === undefined ? [] : [breaking(`callers do not get \`${before}\` from here any more`)]),
    ...(after === undefined ? [] : [neutral(`callers get \`${after}\``)]),
  ]
}

/** What a difference means in steps that decide who may pass, field by field. Tokens and keys have rules of their own (auth-changes.ts). */
export const accessRules = {
  cors: {
    origins: originChanges,
    methods: methodChanges,
    headers: requestHeaderChanges,
    expose: exposeChanges,
    credentials: (_, after) =>
      after
        ? opens("pages call with the caller's own credentials")
        : breaking("pages cannot call with the caller's own credentials any more"),
    maxAgeSeconds: () => neutral("browsers keep the answer to a preflight for another time"),
    terminateUnmatched: (_, after) =>
      after
        ? closes("preflights that fit nothing end here")
        : opens("preflights that fit nothing go on to the backend"),
  } satisfies FieldRules<Fields<"cors">>,
  "check-header": {
    name: (before, after) => [
      opens(`the header \`${before}\` is not checked any more`),
      closes(`the header \`${after}\` is checked now`),
    ],
    values: (before, after) => {
      if (after.length === 0) return opens("any value is enough")
      if (before.length === 0) return closes("it must have certain values now")
      return [
        ...more(before, after, (added) => opens(`${added} is enough now`)),
        ...fewer(before, after, (removed) => closes(`${removed} is not enough any more`)),
      ]
    },
    ignoreCase: (_, after) =>
      after === false
        ? closes("upper and lower case count now")
        : opens("upper and lower case may not count"),
    status: (before, after) =>
      breaking(`who lacks it is answered ${countWordsOf(after)}, not ${countWordsOf(before)}`),
    message: () => neutral("who lacks it is told something else"),
  } satisfies FieldRules<Fields<"check-header">>,
  "ip-filter": {
    action: (_, after) =>
      opens(after === "allow" ? "only these networks pass now" : "all but these networks pass now"),
    networks: (before, after, items) => networkChanges(before, after, items.after.action),
    ranges: (before, after, items) => {
      const words = (ranges: typeof before) => ranges.map(({ from, to }) => `${from}-${to}`)
      return networkChanges(words(before), words(after), items.after.action)
    },
  } satisfies FieldRules<Fields<"ip-filter">>,
  "rate-limit": {
    callsMax: (before, after) => {
      const words = `${countWordsOf(after)} calls pass, not ${countWordsOf(before)}`
      return grows(before, after) ? opens(words) : closes(words)
    },
    periodSeconds: (before, after) => {
      const words = `the calls are counted over ${periodWords(after)}, not ${periodWords(before)}`
      return grows(after, before) ? opens(words) : closes(words)
    },
    keys: (before, after) =>
      opens(`each ${keysWords(after)} has calls of its own, not each ${keysWords(before)}`),
    counter: (before, after, items) => counterChange(before, after, items),
    countIf: countedChange,
    increment: incrementChange,
    retryAfterHeader: toldInHeader,
    retryAfterVariable: otherVariable,
    remainingHeader: toldInHeader,
    remainingVariable: otherVariable,
    totalHeader: toldInHeader,
    totalVariable: otherVariable,
    consumedHeader: toldInHeader,
    consumedVariable: otherVariable,
  } satisfies FieldRules<Fields<"rate-limit">>,
  quota: {
    callsMax: (before, after) => volumeChange(before, after, (max) => `${countWordsOf(max)} calls`),
    bytesMax: (before, after) => volumeChange(before, after, sizeWords),
    periodSeconds: (before, after) => {
      const words = `it is for ${quotaPeriod(after)}, not for ${quotaPeriod(before)}`
      return after !== 0 && (before === 0 || after < before) ? opens(words) : closes(words)
    },
    startsAt: () => opens("periods begin at other times, and what was used begins anew"),
    keys: (before, after) =>
      opens(`each ${keysWords(after)} has a quota of its own, not each ${keysWords(before)}`),
    counter: (before, after) =>
      scopeOfCounter(before) === scopeOfCounter(after)
        ? opens("what was used begins anew")
        : opens(
            `it is used up by \`${scopeOfCounter(after)}\`, not by \`${scopeOfCounter(before)}\`, and begins anew`,
          ),
    countIf: countedChange,
    increment: incrementChange,
    remainingHeader: toldInHeader,
    remainingVariable: otherVariable,
    consumedHeader: toldInHeader,
    consumedVariable: otherVariable,
  } satisfies FieldRules<Fields<"quota">>,
  "require-all": { steps: () => opens("other relations are needed now") } satisfies FieldRules<
    Fields<"require-all">
  >,
  "require-any": { steps: () => opens("other relations are enough now") } satisfies FieldRules<
    Fields<"require-any">
  >,
  filter: {
    ...askedRules,
    items: (_, after) => opens(`items are left out of the list at \`${after}\` now, and of no other`),
    relation: (before, after) => opens(`who is \`${after}\` sees an item, not who is \`${before}\``),
    object: () => opens("another object is asked about for each item"),
    user: () => opens("another user is asked about"),
    tuples: () => opens("other tuples count for the questions"),
  } satisfies FieldRules<Fields<"filter">>,
  grant: {
    action: (_, after) =>
      opens(after === "write" ? "relations are written, not deleted" : "relations are deleted, not written"),
    store: (before, after) => opens(`the store \`${after}\` is changed, not \`${before}\``),
    relation: (before, after) => opens(`it is about \`${after}\`, not \`${before}\``),
    object: () => opens("it is about another object"),
    user: () => opens("it is about another user"),
  } satisfies FieldRules<Fields<"grant">>,
  "limit-concurrency": {
    counter: () => neutral("who is inside is counted anew"),
    key: () => opens("who is inside is counted by something else"),
    max: (before, after) => {
      const words = `${after} requests may be inside at a time, not ${before}`
      return after > before ? opens(words) : closes(words)
    },
    // Told where they stand inside.
    steps: () => [],
  } satisfies FieldRules<Fields<"limit-concurrency">>,
}

/** Which calls count. Fewer that count leave more that pass. */
function countedChange(before: Expression | undefined, after: Expression | undefined): Finding {
  if (after === undefined) return closes("every call counts now")
  if (before === undefined) return opens("only calls that fit the condition count")
  const isCel = before.lang === "cel" && after.lang === "cel"
  switch (isCel ? compareTests(before.text, after.text) : "other") {
    case "same":
      return neutral("the same calls count, by other words")
    case "wider":
      return closes("more calls count")
    case "narrower":
      return opens("fewer calls count")
    default:
      return opens("other calls count")
  }
}

function deciderOf({ store, pdp }: Pick<StepOf<"require">, "store" | "pdp">): string {
  return pdp === undefined ? `the store \`${store}\`` : `decision point \`${pdp}\``
}

function keysWords(keys: readonly LimitKey[]): string {
  return `\`${limitKeyWords(keys)}\``
}

function volumeChange<Max extends Count>(
  before: Max | undefined,
  after: Max | undefined,
  words: (max: Max) => string,
): Finding {
  const told = `${after === undefined ? "any number" : words(after)} may be used of a period, not ${before === undefined ? "any number" : words(before)}`
  const more = after === undefined || (before !== undefined && grows(before, after))
  return more ? opens(told) : closes(told)
}

function quotaPeriod(seconds: number): string {
  return seconds === 0 ? "all time" : durationWords(seconds * 1000)
}

/** How much a call counts. Tokens are no number that could be compared with calls. */
function incrementChange(before: Amount | undefined, after: Amount | undefined): Finding {
  const words = `a call counts ${amountWords(after ?? 1)}, not ${amountWords(before ?? 1)}`
  return grows(after ?? 1, before ?? 1) ? opens(words) : closes(words)
}

/** Whether a number is larger, or may be because it is found per request. */
function grows(before: Amount, after: Amount): boolean {
  return typeof before === "object" || typeof after === "object" || after > before
}

/** A counter is named by the block it is written in, its keys and its period. */
function counterChange(
  before: string,
  after: string,
  items: { readonly before: Fields<"rate-limit">; readonly after: Fields<"rate-limit"> },
): Finding {
  const [old, next] = [scopeOfCounter(before), scopeOfCounter(after)]
  if (old === next) return neutral("the counts begin anew")
  const words = `the calls are counted for \`${next}\`, not for \`${old}\``
  const sameNumber = items.before.callsMax === items.after.callsMax
  if (next.startsWith(`${old} `) || (old === "gateway" && next !== "gateway"))
    return opens(`${words}: each such block has calls of its own`)
  if (old.startsWith(`${next} `) || (next === "gateway" && sameNumber))
    return closes(`${words}: one count for all of it`)
  return neutral(`${words}, and the counts begin anew`)
}

function networkChanges(
  before: readonly string[],
  after: readonly string[],
  action: "allow" | "deny",
): Finding[] {
  const [come, gone] = [outside(after, before), outside(before, after)]
  const passes = (list: readonly string[]) => opens(`callers from ${namesOf(list)} pass now`)
  const refused = (list: readonly string[]) => closes(`callers from ${namesOf(list)} are refused now`)
  const found = [
    ...(come.length === 0 ? [] : [action === "allow" ? passes(come) : refused(come)]),
    ...(gone.length === 0 ? [] : [action === "allow" ? refused(gone) : passes(gone)]),
  ]
  return found.length > 0 ? found : [neutral("the same networks, listed in another way")]
}

function more(
  before: readonly unknown[],
  after: readonly unknown[],
  tell: (names: string) => Finding,
): Finding[] {
  const { added } = listChanges(before, after)
  return added.length === 0 ? [] : [tell(namesOf(added))]
}

function fewer(
  before: readonly unknown[],
  after: readonly unknown[],
  tell: (names: string) => Finding,
): Finding[] {
  const { removed } = listChanges(before, after)
  return removed.length === 0 ? [] : [tell(namesOf(removed))]
}

function namesOf(items: readonly unknown[]): string {
  return listWords(items.map((item) => `\`${typeof item === "string" ? item : JSON.stringify(item)}\``))
}
