import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { outside } from "../analysis/networks.ts"
import { listChanges } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"
import { countWordsOf } from "./access-words.ts"
import { exposeChanges, methodChanges, originChanges, requestHeaderChanges } from "./cors-changes.ts"

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
}

function deciderOf({ store, pdp }: Pick<StepOf<"require">, "store" | "pdp">): string {
  return pdp === undefined ? `the store \`${store}\`` : `decision point \`${pdp}\``
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
