import type {
  EngineAuth,
  EngineAuthzen,
  EngineCors,
  EngineGrants,
  EngineLimits,
} from "../../runtime/plan/authz.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { sizeText } from "../../runtime/plan/quantities.ts"
import { connectionsPerAddressDefault } from "../../runtime/plan/resources.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { listChanges, pairsOf, same, uncovered } from "../analysis/same.ts"
import { durationWords, listWords, textWords } from "../analysis/words.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

type Authz = NonNullable<PlanBody["authz"]>

const scope = { kind: "authz", name: "" } as const

/** Compares the engine without its listeners and stores: its callers, their permissions and its limits. */
export function compareEngine(before: Authz, after: Authz): UnplacedChange[] {
  return [
    ...compareCallers(before.auth, after.auth),
    ...compareLimits(before.limits, after.limits),
    ...compareCors(before.cors, after.cors),
    ...compareAuthzen(before.authzen, after.authzen),
  ]
}

/** Compares keys and subjects by the way gateway.conf writes them. */
export function compareCallers(before: EngineAuth | null, after: EngineAuth | null): UnplacedChange[] {
  const found: UnplacedChange[] = []
  // The step from `auth` to no `auth` changes every caller at once, so it has a change of its own besides those of the callers.
  if ((before === null) !== (after === null))
    found.push(
      changeOf(
        {
          action: after === null ? "added" : "removed",
          subject: { kind: "auth", name: "authz" },
          scope,
          path: "authz.auth",
          ...(after === null ? { after: "auth none" } : { before: "auth none" }),
        },
        after === null
          ? opens("the engine does not authenticate callers: everybody who reaches it may read and write")
          : closes("callers of the engine without a valid key or token are refused"),
      ),
    )
  for (const { key: name, old, next } of pairsOf(callersOf(before), callersOf(after))) {
    if (old !== undefined && next !== undefined && same(old, next)) continue
    // The text of the first side that exists; for a removed caller it is the old one.
    const [words = ""] = [old, next].map((grants) => grants && grantWords(grants))
    found.push(
      changeOf(
        {
          action: old === undefined ? "added" : next === undefined ? "removed" : "changed",
          subject: { kind: "caller", name },
          scope,
          path: `authz.auth.${name}`,
          before: old === undefined ? undefined : `auth ${name} { ${words} }`,
          after: next === undefined ? undefined : `auth ${name} { ${grantWords(next)} }`,
        },
        callerFindings(old, next, after === null),
      ),
    )
  }
  return found
}

/** Callers by a key that is the same in both plans, so that they can be paired. */
function callersOf(auth: EngineAuth | null): Record<string, EngineGrants> {
  const callers: Record<string, EngineGrants> = {}
  for (const [key, grants] of Object.entries(auth?.keys ?? {})) callers[`key ${key}`] = grants
  for (const [issuer, { subjects, anySubject }] of Object.entries(auth?.issuers ?? {})) {
    for (const { subject, grants } of subjects)
      callers[`jwt ${issuer} subject ${JSON.stringify(subject)}`] = grants
    if (anySubject !== null) callers[`jwt ${issuer} subject *`] = anySubject
  }
  return callers
}

/** The statements in the block of a caller. A grant that is missing has no statement, which is its default. */
function grantWords({ read, write, manage }: EngineGrants): string {
  const words = (keyword: string, stores: EngineGrants["read"]) =>
    stores === "*" ? [`${keyword} *`] : stores.length === 0 ? [] : [`${keyword} ${stores.join(" ")}`]
  return [...words("read", read), ...words("write", write), ...(manage ? ["manage stores"] : [])].join("; ")
}

const nothing: EngineGrants = { read: [], write: [], manage: false }

/** What a caller gains or loses. Without any `auth` every caller may do everything. */
function callerFindings(
  old: EngineGrants | undefined,
  next: EngineGrants | undefined,
  open: boolean,
): Finding[] {
  if (next === undefined)
    // When `auth` was removed as a whole, the caller loses nothing: without `auth` everybody may do everything.
    return [
      open
        ? neutral("this caller loses nothing: the engine now gives every caller all rights")
        : closes("this caller is refused"),
    ]
  const before = old ?? nothing
  return [
    ...storeFindings("read", before.read, next.read),
    ...storeFindings("write", before.write, next.write),
    ...(before.manage === next.manage
      ? []
      : [
          next.manage
            ? opens("it may create, rename, delete and list all stores")
            : closes("it may no longer create, rename, delete and list all stores"),
        ]),
  ]
}

/** Stores that a grant gains or loses; `*` includes stores that are made later. */
function storeFindings(
  right: "read" | "write",
  before: EngineGrants["read"],
  after: EngineGrants["read"],
): Finding[] {
  if (before === "*" && after === "*") return []
  if (after === "*") return [opens(`the caller may ${right} every store`)]
  if (before === "*")
    return [
      closes(
        after.length === 0
          ? `the caller may no longer ${right} any store`
          : `the caller may ${right} only ${storeWords(after)} instead of every store`,
      ),
    ]
  const { added, removed } = listChanges(before, after)
  // From every store to some: which of the others were used is unknown, so only what remains is named.
  return [
    ...(added.length === 0 ? [] : [opens(`the caller may ${right} ${storeWords(added)}`)]),
    ...(removed.length === 0 ? [] : [closes(`the caller may no longer ${right} ${storeWords(removed)}`)]),
  ]
}

/** `the store `acme``, because the name alone could be anything. */
function storeWords(stores: readonly string[]): string {
  return `the ${stores.length === 1 ? "store" : "stores"} ${listWords(stores.map((store) => `\`${store}\``))}`
}

type Limit = number | null

/** Null means no limit. */
const isMore = (before: Limit, after: Limit): boolean => after === null || (before !== null && after > before)

/** Comparison of a bound for the content of one request. */
const bound =
  (what: string) =>
  (before: Limit, after: Limit): Finding =>
    isMore(before, after) ? opens(`more ${what} are accepted`) : closes(`only fewer ${what} are accepted`)

/** Comparison of a size; a larger one lets more data in. */
const size =
  (what: string) =>
  (before: number, after: number): Finding =>
    after > before ? opens(`larger ${what} are accepted`) : closes(`only smaller ${what} are accepted`)

/** Comparison of the length of a list. A longer one reveals nothing that pages would not. */
const cut =
  (what: string) =>
  (before: Limit, after: Limit): Finding =>
    isMore(before, after)
      ? neutral(`lists may have more ${what}`)
      : closes(`lists of ${what} are cut after fewer ${what}`)

/** Comparison of a deadline. More time admits nobody, so it is neutral. */
const time =
  (what: string, end: string) =>
  (before: number, after: number): Finding =>
    after > before
      ? neutral(`${what} may take ${durationWords(after)}`)
      : closes(`${what} that take longer than ${durationWords(after)} ${end}`)

/** With the default of a limit that older plans do not contain. */
type ComparedLimits = Omit<Required<EngineLimits>, "connectionsPerAddressMax"> & {
  readonly connectionsPerAddressMax: number | null
}

/** The effect of each changed limit: a higher one `opens`, a lower one `closes`. */
const limitRules: FieldRules<ComparedLimits> = {
  bodyBytesMax: size("requests"),
  requestMs: time("requests", "get 504"),
  tuplesPerWriteMax: bound("tuples in one write"),
  contextualTuplesMax: bound("contextual tuples"),
  conditionContextBytesMax: size("contexts of conditions"),
  typesPerModelMax: bound("types in a model that is written through the API"),
  modelBytesMax: size("models that are written through the API"),
  checksPerBatchMax: bound("checks in a batch"),
  listObjectsMax: cut("objects"),
  listObjectsMs: time("lists of objects", "are cut"),
  listUsersMax: cut("users"),
  listUsersMs: time("lists of users", "are cut"),
  listPageSizeMax: bound("items on a page of a list"),
  matrixCellsMax: bound("cells of a matrix"),
  changesPageSizeMax: bound("changes on a page"),
  changesHorizonMs: (before, after) =>
    // A horizon delays changes on purpose, e.g. until replicas have them: without it, readers see them sooner.
    after > before
      ? closes("readers get changes of tuples later")
      : opens("readers get changes of tuples sooner"),
  watchersMax: bound("watchers at a time in each process"),
  assertionsMax: bound("assertions of a model"),
  assertionsBytesMax: size("sets of assertions"),
  assertionTuplesMax: bound("contextual tuples of an assertion"),
  depthMax: (before, after) =>
    isMore(before, after)
      ? opens("checks that need more steps are answered; they were refused as too complex")
      : // Not `closes`: a check that was answered now fails with an error, which its callers have to handle.
        breaking("checks that need more steps are refused as too complex"),
  connectionsPerAddressMax: (before, after) =>
    isMore(before, after)
      ? opens("one address may have more connections open")
      : breaking("further connections of one address are closed"),
}

/** Texts of limits by the kind of their unit. */
const countWords = (keyword: string) => (value: Limit) => `${keyword} ${value ?? "none"}`
const bytes = (keyword: string) => (value: Limit) => `${keyword} ${sizeText(value ?? 0)}`
const duration = (keyword: string) => (value: Limit) => `${keyword} ${durationWords(value)}`

/** The statement of gateway.conf that sets a limit. */
const limitWords: { readonly [Key in keyof ComparedLimits]: (value: Limit) => string } = {
  bodyBytesMax: bytes("body"),
  requestMs: duration("timeout"),
  tuplesPerWriteMax: countWords("write-tuples"),
  contextualTuplesMax: countWords("contextual-tuples"),
  conditionContextBytesMax: bytes("condition-context"),
  typesPerModelMax: countWords("model-types"),
  modelBytesMax: bytes("model-size"),
  checksPerBatchMax: countWords("batch-checks"),
  listObjectsMax: countWords("list-objects"),
  listObjectsMs: duration("list-objects in"),
  listUsersMax: countWords("list-users"),
  listUsersMs: duration("list-users in"),
  listPageSizeMax: countWords("list-page"),
  matrixCellsMax: countWords("matrix-cells"),
  changesPageSizeMax: countWords("changes-page"),
  changesHorizonMs: duration("changes-horizon"),
  watchersMax: countWords("watchers"),
  assertionsMax: countWords("assertions"),
  assertionsBytesMax: bytes("assertions-size"),
  assertionTuplesMax: countWords("assertion-tuples"),
  depthMax: countWords("depth"),
  connectionsPerAddressMax: countWords("connections-per-address"),
}

/** A change for each limit that differs. */
function compareLimits(old: EngineLimits, next: EngineLimits): UnplacedChange[] {
  const [before, after] = [old, next].map(withDefault) as [ComparedLimits, ComparedLimits]
  return (Object.keys(limitRules) as (keyof ComparedLimits)[])
    .filter((key) => before[key] !== after[key])
    .map((key) => {
      const words = (limits: ComparedLimits) => `limits { ${limitWords[key](limits[key])} }`
      return changeOf(
        {
          action: "changed",
          // The keyword with a count may consist of two words (`list-objects in`); the subject is the first.
          subject: { kind: "limits", name: limitWords[key](0).split(" ", 1)[0] ?? key },
          scope,
          path: `authz.limits.${key}`,
          before: words(before),
          after: words(after),
        },
        // One rule at a time, because each limit is a change of its own with its own risk.
        compareFields({ [key]: limitRules[key] } as unknown as FieldRules<ComparedLimits>, before, after),
      )
    })
}

function withDefault({ connectionsPerAddressMax, ...limits }: EngineLimits): ComparedLimits {
  const open =
    connectionsPerAddressMax === undefined ? connectionsPerAddressDefault : connectionsPerAddressMax
  return { ...limits, connectionsPerAddressMax: open }
}

/** Pages of which origins may call the engine. */
function compareCors(before: EngineCors, after: EngineCors): UnplacedChange[] {
  const words = ({ origins, headers }: EngineCors) =>
    origins.length === 0 ? undefined : `cors { origins ${corsWords(origins)}; headers ${corsWords(headers)} }`
  if (same(before, after)) return []
  return [
    changeOf(
      {
        action: before.origins.length === 0 ? "added" : after.origins.length === 0 ? "removed" : "changed",
        subject: { kind: "authz", name: "cors" },
        scope,
        path: "authz.cors",
        before: words(before),
        after: words(after),
      },
      compareFields(corsRules, before, after),
    ),
  ]
}

const corsRules: FieldRules<EngineCors> = {
  origins: corsRule("web pages of", "call the engine"),
  headers: (before, after, items) =>
    items.before.origins.length === 0 || items.after.origins.length === 0
      ? // When `cors` begins or ends as a whole, its origins already say who is affected.
        []
      : corsRule("the request headers", "be sent by web pages")(before, after),
}

/** `*` covers every name, so replacing names by it only opens. */
function corsRule(what: string, action: string) {
  return (before: readonly string[], after: readonly string[]): Finding[] => {
    if (after.includes("*")) return [opens(`${what} any name may ${action}`)]
    const { added, removed } = uncovered(before, after)
    return [
      ...(added.length === 0 ? [] : [opens(`${what} ${listWords(added)} may ${action}`)]),
      ...(removed.length === 0
        ? []
        : [
            closes(
              `${what} ${removed.includes("*") ? "other names" : listWords(removed)} may no longer ${action}`,
            ),
          ]),
    ]
  }
}

/** `*` is written `any` in gateway.conf. */
function corsWords(names: readonly string[]): string {
  return names.includes("*") ? "any" : names.map((name) => JSON.stringify(name)).join(" ")
}

/** The default store and the URL of AuthZEN. */
function compareAuthzen(before: EngineAuthzen, after: EngineAuthzen): UnplacedChange[] {
  if (same(before, after)) return []
  const words = ({ store, url }: EngineAuthzen) => {
    const parts = [
      ...(store === null ? [] : [`store ${store}`]),
      ...(url === null ? [] : [`url ${textWords(url)}`]),
    ]
    return parts.length === 0 ? undefined : `authzen { ${parts.join("; ")} }`
  }
  return [
    changeOf(
      {
        action: words(before) === undefined ? "added" : words(after) === undefined ? "removed" : "changed",
        subject: { kind: "authz", name: "authzen" },
        scope,
        path: "authz.authzen",
        before: words(before),
        after: words(after),
      },
      compareFields(authzenRules, before, after),
    ),
  ]
}

/** Clients take the store from the path; only the default store changes what they get. */
const authzenRules: FieldRules<EngineAuthzen> = {
  store: () => breaking("AuthZEN paths without a store use another store, or none"),
  url: () => neutral("the AuthZEN metadata contains another URL"),
}
