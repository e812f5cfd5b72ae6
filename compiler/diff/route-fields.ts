import type { PathForms, Route } from "../../runtime/plan/resources.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { otherResource } from "../analysis/message-rules.ts"
import { listChanges, same } from "../analysis/same.ts"
import { durationWords, listWords } from "../analysis/words.ts"
import { parametersOf, shapeOf } from "./route-cover.ts"

/** The words for forms of paths. */
const formWords: { readonly [Form in keyof Required<PathForms>]: string } = {
  encodedSlash: "`%2F`",
  pathParameters: "`;`",
  emptySegments: "`//`",
}
const formKeys = Object.keys(formWords) as readonly (keyof PathForms)[]

type Fields = Omit<Route, "sections">

/** A changed field of a route, in words. */
export interface FieldChange {
  readonly field: keyof Fields
  readonly before: string
  readonly after: string
  readonly findings: readonly Finding[]
  /** The statement of its API that says it; undefined: the operation. */
  readonly from?: "path" | "host"
}

/** The effect of each changed field of a route. */
const rules: FieldRules<Fields> = {
  // Subscriptions are granted by API, so keys of the new API now work here.
  api: (_, after) =>
    neutral(`it now belongs to the API \`${after}\`: subscriptions to that API give access to it`),
  version: (_, after) =>
    neutral(
      after === null ? "it no longer belongs to a version" : `it now belongs to the version \`${after}\``,
    ),
  operation: () => neutral("it is the same route under another name"),
  method: (_, after) => breaking(`now only ${after} is served`),
  path: (_, __, { before, after }) => [
    // A path that moved with its API reaches the backend unchanged: only the tail is forwarded.
    breaking("callers must use the new path; the old path gets 404"),
    ...(tailOf(before) === tailOf(after)
      ? []
      : [otherResource("requests reach the backend with the new path")]),
  ],
  hosts: (before, after) => {
    const { removed, added } = listChanges(before ?? [], after ?? [])
    if (after === undefined) return opens("it is served on every host")
    if (before === undefined) return breaking(`it is served only on ${listWords(added.map(tick))}`)
    // Both findings can stand together: other hosts open and close at the same time.
    return [
      ...(added.length === 0 ? [] : [opens(`it is now also served on ${listWords(added.map(tick))}`)]),
      ...(removed.length === 0
        ? []
        : [breaking(`it is no longer served on ${listWords(removed.map(tick))}`)]),
    ]
  },
  stripPrefix: () => otherResource("requests reach the backend with another path"),
  passes: (before, after) => {
    const passed = (forms: PathForms | undefined) => formKeys.filter((form) => forms?.[form] === true)
    const { added, removed } = listChanges(passed(before), passed(after))
    const name = (forms: readonly (keyof PathForms)[]) => listWords(forms.map((form) => formWords[form]))
    return [
      ...(added.length === 0
        ? []
        : [opens(`paths with ${name(added)} are forwarded as sent; a backend may read them in another way`)]),
      ...(removed.length === 0 ? [] : [breaking(`paths with ${name(removed)} get 400`)]),
    ]
  },
  timeoutMs: (before, after) => {
    // A caller who sends slowly keeps a connection and a slot of `concurrency` for as long as it likes.
    if (after === null) return opens("slow requests are no longer ended")
    return before === null || after < before
      ? closes(`requests that take longer than ${durationWords(after)} get 504`)
      : neutral(`requests may take ${durationWords(after)}`)
  },
  websocket: (before, after) => {
    if (after === null) return breaking("WebSockets are no longer opened")
    if (before === null) return opens("WebSockets are opened")
    // Undefined on one side means the defaults, so it is compared like a block without statements.
    return websocketChanges(before, after)
  },
  queryParameters: () =>
    neutral("policy documents get other query parameters from the template of the operation"),
  outline: () => neutral("in `on-error`, the error names other ids, positions or scopes of policies"),
}

/** Changes of the limits for WebSockets. Absent: only client or backend end the connection. */
function websocketChanges(
  before: NonNullable<Fields["websocket"]> | undefined,
  after: NonNullable<Fields["websocket"]> | undefined,
): Finding[] {
  const flag = (key: "expireWithToken" | "closeWhenRemoved", off: string, on: string) => {
    const [was, is] = [before?.[key] === true, after?.[key] === true]
    if (was === is) return []
    return [is ? closes(on) : opens(off)]
  }
  // No limit is the largest one.
  const idle = (websocket: typeof before) => websocket?.idleMs ?? Number.POSITIVE_INFINITY
  const found = [
    ...flag(
      "expireWithToken",
      "a WebSocket may outlive the token it was opened with",
      "a WebSocket ends with the token it was opened with",
    ),
    ...flag(
      "closeWhenRemoved",
      "a WebSocket stays open when a plan removes its route",
      "a WebSocket ends when a plan removes its route",
    ),
    ...(idle(after) < idle(before)
      ? [closes(`a WebSocket ends after ${durationWords(after?.idleMs ?? null)} without a message`)]
      : []),
  ]
  return found.length > 0 ? found : [neutral("WebSockets end in other cases")]
}

/** Fields as they are written in gateway.conf. */
const words: { readonly [Key in keyof Fields]-?: (route: Fields) => string } = {
  api: ({ api }) => `api ${api}`,
  version: ({ version }) => (version === null ? "no version" : `version ${version}`),
  operation: ({ operation }) => operation,
  method: ({ method }) => method,
  path: ({ path }) => path,
  hosts: ({ hosts }) =>
    hosts === undefined ? "every host" : `host ${hosts.map((host) => `"${host}"`).join(" ")}`,
  stripPrefix: ({ stripPrefix }) => `path ${stripPrefix === "" ? "/" : stripPrefix}`,
  passes: ({ passes }) => {
    const passed = formKeys.filter((form) => passes?.[form] === true)
    return passed.length === 0 ? "no special paths" : listWords(passed.map((form) => formWords[form]))
  },
  timeoutMs: ({ timeoutMs }) => `timeout ${durationWords(timeoutMs)}`,
  websocket: ({ websocket }) => {
    if (websocket === null) return "websocket off"
    if (websocket === undefined) return "websocket { }"
    const { idleMs, expireWithToken, closeWhenRemoved } = websocket
    return `websocket { ${[
      ...(expireWithToken ? ["expire-with-token"] : []),
      ...(closeWhenRemoved ? ["close-when-removed"] : []),
      ...(idleMs === null ? [] : [`idle ${durationWords(idleMs)}`]),
    ].join("; ")} }`
  },
  queryParameters: ({ queryParameters }) =>
    queryParameters === undefined
      ? "no query in the template"
      : `query ${queryParameters.join(", ")} in the template`,
  outline: ({ outline }) => (outline === undefined ? "no document" : `documents ${outline}`),
}

const tick = (name: string) => `\`${name}\``

/** The differences of two routes except their steps. If the path moved with its API, the API reports it. */
export function compareRouteFields(before: Route, after: Route): FieldChange[] {
  const changes: FieldChange[] = []
  // `moved`: the API has another path, and its operations kept theirs.
  const moved = !same(before.stripPrefix, after.stripPrefix) && tailOf(before) === tailOf(after)
  for (const field of Object.keys(rules) as (keyof Fields)[]) {
    if (same(before[field], after[field])) continue
    if (field === "stripPrefix" && moved && before.path !== after.path) continue
    // Changed steps already report that the documents changed.
    if (field === "outline" && !same(before.sections, after.sections)) continue
    // The operation is the route's path below the path of its API, so a new path already reports it.
    if (field === "operation" && before.path !== after.path) continue
    // Renamed parameters match the same requests. Calling it another path would be a false alarm for each operation of an API.
    if (field === "path" && shapeOf(before) === shapeOf(after)) changes.push(renamed(before, after))
    else if (field === "path" && moved)
      changes.push({
        field,
        before: words.stripPrefix(before),
        after: words.stripPrefix(after),
        findings: [rules.path(before.path, after.path, { before, after })].flat(),
        // Another version is another part of the path.
        ...(before.version === after.version ? { from: "path" as const } : {}),
      })
    else
      changes.push({
        field,
        before: words[field](before),
        after: words[field](after),
        findings: fieldFindings(field, before, after),
        ...(field === "hosts" ? { from: "host" as const } : {}),
      })
  }
  return changes
}

/** The differences, except steps, for a request that is now served by another route. */
export function servedOtherwise(before: Route, after: Route): Finding[] {
  const fields = ["stripPrefix", "passes", "timeoutMs", "websocket"] as const
  return fields.flatMap((field) =>
    same(before[field], after[field]) ? [] : fieldFindings(field, before, after),
  )
}

function fieldFindings(field: keyof Fields, before: Route, after: Route): Finding[] {
  return compareFields({ [field]: rules[field] } as unknown as FieldRules<Fields>, before, after)
}

function tailOf({ path, stripPrefix }: Fields): string {
  return path.slice(stripPrefix.length)
}

/** The same requests match. Only names of segments differ. */
function renamed(before: Route, after: Route): FieldChange {
  const [old, next] = [parametersOf(before), parametersOf(after)]
  const kept = next.filter((name) => old.includes(name))
  // The dangerous case: `/{a}/{b}` to `/{b}/{a}` compiles, and each `require` now asks about the other value.
  const swapped = kept.some((name) => old.indexOf(name) !== next.indexOf(name))
  const finding = swapped
    ? breaking("the parameters have swapped positions: each name now stands for another part of the path")
    : neutral("its parameters have other names; callers do not see them")
  return { field: "path", before: before.path, after: after.path, findings: [finding] }
}
