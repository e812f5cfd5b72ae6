import type { HeaderLines } from "../../../runtime/plan/step-values.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import type { Text, TextPart } from "../../../runtime/plan/text.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { ChildRow } from "../shape.ts"
import type { DocumentSection, Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf, type ElementValue, textOf } from "../values.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  everywhere,
  fixedFlags,
  required,
  requiredDynamic,
  values,
} from "./row.ts"

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>
type Action = StepOf<"set-header">["action"]

const actions: Readonly<Record<string, Action>> = {
  override: "set",
  skip: "default",
  append: "append",
  delete: "remove",
}

/** `<set-header>` as part of another element. */
export const headerChild: ChildRow = {
  many: true,
  attributes: {
    name: requiredDynamic,
    "exists-action": { dynamic: true, values: Object.keys(actions), byDefault: "override" },
  },
  children: { value: values },
}

export const statusChild: ChildRow = {
  attributes: { code: { ...requiredDynamic, whole: { min: 100, max: 999 } }, reason: dynamic },
}
export const methodChild: ChildRow = { text: "value" }

/** The message that policies of a section change. */
export function messageOf(section: DocumentSection): "request" | "response" {
  return section === "inbound" || section === "backend" ? "request" : "response"
}

/** The action and the values of `set-header` or `set-query-parameter`. */
function settingOf(use: Use): { action: Action; values: Text[] } | undefined {
  const word = use.choice("exists-action", ["override", "skip", "append", "delete"])
  const texts = use.texts("value")
  if (word === undefined || texts === undefined) return undefined
  const action = actions[word] as Action
  if (action !== "remove" && texts.length === 0)
    return use.report(
      "SP7008",
      use.at,
      `\`${use.element.name}\` has no \`<value>\``,
      'Add `<value>…</value>`, or write `exists-action="delete"`.',
    )
  return { action, values: action === "remove" ? [] : texts }
}

const headerPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/

/** The name of a header, in lower case. */
export function headerName(use: Use, attribute: string): string | undefined {
  const name = use.constant(attribute)?.trim()
  if (name === undefined || headerPattern.test(name)) return name?.toLowerCase()
  return use.report(
    "SP7009",
    use.spanOf(attribute),
    `\`${shown(name)}\` is not a valid header name`,
    "Use letters, digits and `-`.",
  )
}

/** A name that may be computed per request. */
function nameOf(use: Use, pattern: RegExp): string | { text: Text } | undefined {
  const value = use.value("name")
  if (value === undefined) return undefined
  const constant = constantOf(value)?.trim()
  if (constant === undefined) {
    const text = textOf(value, use.context.host)
    return text === undefined ? undefined : { text }
  }
  if (pattern.test(constant)) return constant
  return use.report(
    "SP7009",
    value.span,
    `\`${shown(constant)}\` is not a valid name here`,
    "Use letters, digits and `-`.",
  )
}

/** A `<set-header>` for a response or for a request that the gateway sends itself. */
export function headerLine(use: Use): HeaderLines[number] | undefined {
  const name = headerName(use, "name")
  const setting = settingOf(use)
  return name === undefined || setting === undefined ? undefined : { name, ...setting }
}

export function headerLines(use: Use): HeaderLines | undefined {
  const lines = use.children("set-header").map(headerLine)
  return lines.includes(undefined) ? undefined : (lines as HeaderLines)
}

/** `set-header`. Names have no letter case, and the plan has them in lower case. */
function setHeader(use: Use): Used[] | undefined {
  const name = nameOf(use, headerPattern)
  const setting = settingOf(use)
  if (name === undefined || setting === undefined) return undefined
  const message = messageOf(use.context.section)
  return use.step({
    kind: "set-header",
    message,
    name: typeof name === "string" ? name.toLowerCase() : name,
    ...setting,
  })
}

function setQuery(use: Use): Used[] | undefined {
  const name = nameOf(use, /^[^\p{Cc}]{1,128}$/u)
  const setting = settingOf(use)
  return name === undefined || setting === undefined
    ? undefined
    : use.step({ kind: "set-query", name, ...setting })
}

/** The text of `<set-method>`. A literal must be a token (RFC 9110 section 9.1). */
export function methodOf(use: Use): Text | undefined {
  const text = use.ownText()
  if (typeof text !== "string" || headerPattern.test(text)) return text
  return use.report("SP7009", use.at, `\`${shown(text)}\` is not an HTTP method`, "Write e.g. `GET`.")
}

function setMethod(use: Use): Used[] | undefined {
  const method = methodOf(use)
  return method === undefined ? undefined : use.step({ kind: "set-method", method })
}

/** Status and reason of `<set-status>`. An empty reason counts as absent. */
export function statusOf(use: Use): Pick<StepOf<"set-status">, "status" | "reason"> | undefined {
  const status = use.count("code")
  const reason = use.has("reason") ? use.text("reason") : ""
  if (status === undefined || reason === undefined) return undefined
  return { status, ...(reason === "" ? {} : { reason }) }
}

function setStatus(use: Use): Used[] | undefined {
  const status = statusOf(use)
  return status === undefined ? undefined : use.step({ kind: "set-status", ...status })
}

/** A path template with parameters of the route: `/orders/{id}`. */
function templateOf(use: Use, value: Extract<ElementValue, { kind: "text" }>): Text | undefined {
  const { pathParameters, described } = use.context.place
  const parts: TextPart[] = []
  const [start] = value.parts
  // Templates are often written without the leading slash.
  if (typeof start === "string" && !start.startsWith("/")) parts.push("/")
  for (const part of value.parts) {
    if (typeof part !== "string") {
      parts.push(part)
      continue
    }
    let at = 0
    for (const found of part.matchAll(/\{\*?([^{}/?&=]{1,128})\}/g)) {
      const name = found[1] as string
      const query = described?.query.includes(name) === true
      const parameter = pathParameterOf(name, pathParameters)
      if (!query && parameter === undefined) return unknownParameter(use, value.span, name)
      if (found.index > at) push(parts, part.slice(at, found.index))
      const text = query ? `request.query(${JSON.stringify(name)})` : `path.${parameter}`
      parts.push({ expression: { lang: "cel", text, type: "string" } })
      at = found.index + found[0].length
    }
    if (at < part.length) push(parts, part.slice(at))
  }
  const [first = ""] = parts
  return parts.length < 2 && typeof first === "string" ? first : { text: parts }
}

/** The finding for a template with a parameter that the route lacks. */
function unknownParameter(use: Use, span: Span, name: string): undefined {
  const { pathParameters, described } = use.context.place
  const near = didYouMean(name, [...pathParameters, ...(described?.query ?? [])])
  return use.report(
    "SP7009",
    span,
    `the route has no parameter \`${shown(name)}\`${near}`,
    "Use parameters of the operation's path, required ones of its query, or an expression.",
  )
}

/** Names of path parameters in gateway.conf have no `-`: the document's `{order-id}` is `{order_id}` there. */
function pathParameterOf(name: string, known: readonly string[]): string | undefined {
  const plain = name.replaceAll(/[^A-Za-z0-9_]/g, "_").toLowerCase()
  return known.find((each) => each === name) ?? known.find((each) => each.toLowerCase() === plain)
}

function push(parts: TextPart[], text: string): void {
  const last = parts.at(-1)
  if (typeof last === "string") parts[parts.length - 1] = last + text
  else parts.push(text)
}

/** `rewrite-uri`. Parameters in braces are replaced; those of the query that the template uses are removed. */
function rewrite(use: Use): Used[] | undefined {
  const value = use.value("template")
  const keepQuery = use.fixedFlag("copy-unmatched-params")
  if (value === undefined) return undefined
  const isMade = value.kind === "code" || value.behind !== undefined
  const parameters = isMade ? namedInBraces(use, value.span) : {}
  if (value.kind === "text" && value.behind !== undefined)
    for (const part of [...value.parts, ...value.behind.parts])
      for (const [, name = ""] of typeof part === "string" ? part.matchAll(/\{\*?([^{}]*)\}/g) : [])
        if (!Object.hasOwn(parameters, name)) return unknownParameter(use, value.span, name)
  const path = isMade ? textOf(value, use.context.host) : templateOf(use, value)
  const parts = { path, keepQuery }
  const raw = isMade || value.parts.some((part) => typeof part !== "string")
  if (!complete(parts)) return undefined
  const named = Object.keys(parameters).length === 0 ? {} : { parameters }
  const steps = use.step({ kind: "rewrite", ...parts, raw, ...named })
  return value.kind === "code" ? steps : [...steps, ...matchedAway(use, value)]
}

/**
 * The result of an expression is a template, too. Returns the route parameters that its code names in braces; for code that reads variables,
 * those that the document names anywhere.
 */
function namedInBraces(use: Use, { file, start, end }: Span): Record<string, string> {
  const { pathParameters } = use.context.place
  const found: Record<string, string> = {}
  const own = file.text.slice(start, end)
  const searched = own.includes("Variables") ? file.text : own
  for (const [, name = ""] of searched.matchAll(/\{\*?([^\s{}/?&=]{1,128})\}/g)) {
    const parameter = pathParameterOf(name, pathParameters)
    if (parameter !== undefined) found[name] = parameter
  }
  return found
}

/** Steps that remove the query parameters of the operation's template, except those that the new address uses. */
function matchedAway(use: Use, { parts }: Extract<ElementValue, { kind: "text" }>): Used[] {
  const template = parts.map((part) => (typeof part === "string" ? part : "")).join("")
  const kept = new URLSearchParams(template.slice(template.indexOf("?") + 1 || template.length))
  return (use.context.place.described?.query ?? []).flatMap((name) =>
    kept.has(name) ? [] : use.step({ kind: "set-query", action: "remove", name, values: [] }),
  )
}

export const message: ElementTable = {
  "set-header": {
    ...headerChild,
    about: "Sets, adds or removes a header of the message.",
    sections: everywhere,
    lower: setHeader,
  },
  "set-query-parameter": {
    ...headerChild,
    about: "Sets, adds or removes a query parameter of the request.",
    sections: ["inbound", "backend"],
    lower: setQuery,
  },
  "set-method": {
    ...methodChild,
    about: "Sets the method of the request.",
    sections: ["inbound", "backend", "on-error"],
    lower: setMethod,
  },
  "set-status": {
    ...statusChild,
    about: "Sets the status of the response.",
    sections: everywhere,
    lower: setStatus,
  },
  "rewrite-uri": {
    about: "Sets the path of the request to the backend, from a template.",
    sections: ["inbound", "backend"],
    attributes: { template: { ...required, dynamic: true }, "copy-unmatched-params": fixedFlags.on },
    lower: rewrite,
  },
}
