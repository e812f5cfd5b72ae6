import type { FactsOf, StepFacts } from "./facts.ts"
import {
  bodyRead,
  bodyWritten,
  constantOr,
  everyPlace,
  headerOf,
  type Place,
  queryOf,
  wholeRequest,
  wholeResponse,
} from "./places.ts"
import type { StepOf } from "./steps.ts"
import type { BodyContent } from "./steps-content.ts"
import type { Text } from "./text.ts"

type ContentKind =
  | "set-header"
  | "set-query"
  | "rewrite"
  | "set-method"
  | "set-status"
  | "set-host"
  | "set-body"
  | "find-replace"
  | "mask-urls"
  | "jsonp"
  | "xml-to-json"
  | "json-to-xml"
  | "respond"
  | "set-variable"
  | "validate-content"
  | "validate-parameters"
  | "validate-headers"
  | "validate-status"
  | "trace"
  | "metric"
  | "deprecation"
  | "cache-lookup"
  | "cache-store"
  | "cache-get"
  | "cache-set"
  | "cache-remove"

function nameOf(name: string | { readonly text: Text }): string {
  return typeof name === "string" ? name : constantOr(name.text)
}

/** What a template reads cannot be seen from outside. */
export function contentRead(content: BodyContent | undefined): readonly Place[] {
  return content !== undefined && "liquid" in content ? everyPlace : []
}

/** Whether a path that is put together may bring a query of its own. */
function bringsQuery({ path, raw, keepQuery }: StepOf<"rewrite">): boolean {
  if (!keepQuery) return true
  if (typeof path === "string") return path.includes("?")
  // Parts that a request brings are encoded, unless `raw`.
  return path.text.some((part) =>
    typeof part === "string" ? part.includes("?") : raw || !("expression" in part),
  )
}

function conversionFacts({
  message,
  considerAccept,
}: Pick<StepOf<"xml-to-json">, "message" | "considerAccept">): StepFacts {
  return {
    reads: [...bodyRead(message), ...(considerAccept ? [headerOf("request", "accept")] : [])],
    writes: bodyWritten(message, true),
    ends: ["fail"],
  }
}

type Judging = Pick<StepOf<"validate-status">, "errors">

/** Faults that are let pass are told in the log and in the variable, behind those that are there. */
function judging({ errors }: Judging, actions: readonly unknown[], reads: readonly Place[]): StepFacts {
  const told: Place[] = errors === undefined ? [] : [`variable:${errors}`]
  return {
    reads: [...reads, ...told],
    writes: told,
    leaves: actions.includes("detect") || actions.some((each) => typeof each === "object") ? ["log"] : [],
    // What an expression decides may be `prevent`.
    ends: actions.some((each) => each === "prevent" || typeof each === "object") ? ["refuse"] : [],
  }
}

type Parameter = Pick<StepOf<"validate-parameters">["parameters"][number], "in" | "name">

function parameterPlace({ in: place, name }: Parameter): Place[] {
  if (place === "query") return ["request.query:*"]
  if (place === "path") return []
  return [headerOf("request", place === "cookie" ? "cookie" : name)]
}

function cacheKey(key: Text): Place {
  return `cache:${constantOr(key)}`
}

/** Facts of steps that change or judge messages, answer, keep values or tell something. */
export const contentFacts: { readonly [Kind in ContentKind]: FactsOf<Kind> } = {
  "set-header": ({ message, action, name }) => {
    const place = headerOf(message, nameOf(name))
    return { reads: action === "default" ? [place] : [], writes: [place], fits: "header" }
  },
  "set-query": ({ action, name }) => {
    const place = queryOf(nameOf(name))
    const adds: Place[] = action === "remove" ? [] : ["request.query-order:*"]
    return {
      reads: action === "default" ? [place] : [],
      writes: [place, ...adds],
      ...(typeof name === "string" ? {} : { fits: "narrow" }),
    }
  },
  rewrite: (step) => ({
    writes: [
      "request.path",
      ...(bringsQuery(step) ? (["request.query:*", "request.query-order:*"] as const) : []),
    ],
    fits: "narrow",
  }),
  "set-method": () => ({ writes: ["request.method"], fits: "narrow" }),
  "set-status": () => ({ writes: ["response.status", "response.reason"], fits: "narrow" }),
  // Expressions find it as the header field of that name.
  "set-host": () => ({ writes: [headerOf("request", "host")], fits: "narrow" }),
  "set-body": ({ message, media, content }) => ({
    reads: "liquid" in content ? [...everyPlace, ...bodyRead(message)] : [],
    writes: bodyWritten(message, media !== null),
    ...("liquid" in content ? { ends: ["fail"] } : {}),
  }),
  "find-replace": ({ message }) => ({
    reads: [...bodyRead(message), "response.status"],
    writes: bodyWritten(message, false),
    ends: ["fail"],
  }),
  "mask-urls": ({ message, headers }) => {
    const fields = headers
      ? ["location", "content-location", "link"].map((name) => headerOf(message, name))
      : []
    return {
      reads: [...bodyRead(message), ...fields, "response.status", "backend", headerOf("request", "host")],
      writes: [...bodyWritten(message, false), ...fields],
      ends: ["fail"],
    }
  },
  jsonp: () => ({
    reads: [...bodyRead("response"), "response.status"],
    writes: [...bodyWritten("response", true), headerOf("response", "x-content-type-options")],
    ends: ["fail"],
  }),
  "xml-to-json": conversionFacts,
  "json-to-xml": conversionFacts,
  respond: ({ from, status, body }) => ({
    reads: [...(from === undefined ? [] : ([`variable:${from}`] as const)), ...contentRead(body)],
    ends: [typeof status === "number" && status >= 400 ? "deny" : "answer"],
    fits: "header",
  }),
  "set-variable": ({ name }) => ({ writes: [`variable:${name}`] }),
  "validate-content": (step) => {
    const { message, types, onSize, onUnspecified, onMissing } = step
    const actions = [onSize, onUnspecified, onMissing, ...types.map(({ action }) => action)]
    const facts = judging(step, actions, [
      ...bodyRead(message),
      ...(message === "response" ? (["response.status"] as const) : []),
    ])
    if (message === "response") return { ...facts, ends: [...(facts.ends ?? []), "fail"] }
    return {
      ...facts,
      reads: [...(facts.reads ?? []), "faults"],
      writes: [...(facts.writes ?? []), "faults"],
      ends: [...(facts.ends ?? []), "fail"],
    }
  },
  "validate-parameters": (step) => {
    const { parameters, unspecified, withBody } = step
    const named = unspecified.named ?? []
    const facts = judging(
      step,
      [unspecified.query, unspecified.header, ...[...parameters, ...named].map(({ action }) => action)],
      [
        ...[...parameters, ...named].flatMap(parameterPlace),
        ...(unspecified.query === "ignore" ? [] : (["request.query:*"] as const)),
        ...(unspecified.header === "ignore" ? [] : (["request.header:*"] as const)),
      ],
    )
    return withBody === true ? { ...facts, writes: [...(facts.writes ?? []), "faults"] } : facts
  },
  "validate-headers": (step) => {
    const { headers, described = [], named = [], unspecified } = step
    const rules = [...headers, ...named, ...described.flatMap((each) => each.headers)]
    return judging(
      step,
      [unspecified, ...rules.map(({ action }) => action)],
      ["response.status", "response.header:*"],
    )
  },
  "validate-status": (step) =>
    judging(step, [step.unspecified, ...step.codes.map(({ action }) => action)], ["response.status"]),
  trace: () => ({ leaves: ["log"] }),
  metric: ({ name, value }) => ({
    leaves: [`metric:${name}`],
    ...(typeof value === "object" && "tokens" in value ? { late: wholeResponse } : {}),
  }),
  deprecation: ({ closed }) => ({
    // A closed one names the caller by the key that is shown, in whatever place the route looks for it.
    reads: closed ? ["request.header:*", "request.query:*"] : [],
    leaves: ["answer.header:deprecation", "answer.header:sunset", "answer.header:link"],
    ends: closed ? ["refuse"] : [],
  }),
  // By what else an answer varies is known when it is found.
  "cache-lookup": ({ like }) => ({
    reads: [
      ...([
        "request.header:*",
        "request.query:*",
        "request.query-order:*",
        "caller",
        "response.cached",
      ] as const),
      ...(like === undefined ? [] : ([`service:${like.backend}`, ...bodyRead("request")] as const)),
    ],
    writes: ["response.cached"],
    leaves: ["cache:*"],
    ends: ["found"],
    waits: true,
  }),
  "cache-store": () => ({
    reads: [...wholeRequest, ...wholeResponse, "response.cached"],
    writes: [headerOf("response", "cache-control")],
    leaves: ["cache:*"],
    ends: ["fail"],
    waits: true,
    fence: true,
  }),
  "cache-get": ({ key, variable }) => ({
    reads: [cacheKey(key), `variable:${variable}`],
    writes: [`variable:${variable}`],
    waits: true,
  }),
  "cache-set": ({ key }) => ({ leaves: [cacheKey(key)], waits: true }),
  "cache-remove": ({ key }) => ({ leaves: [cacheKey(key)], waits: true }),
}
