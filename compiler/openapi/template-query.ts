import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import type { OperationParameter } from "./api-document.ts"
import type { ReaderContext } from "./contents.ts"
import type { DocumentMap, DocumentNode } from "./node.ts"

/** The parts of a path template. No specification allows a query or fragment in it; documents that have one mean the same as in a URL. */
export interface TemplateParts {
  readonly path: string
  readonly query: readonly QueryPart[]
  /** Includes the `#`. */
  readonly fragment: string | undefined
}

/** `name={parameter}`, `name=value`, or `name` alone. */
interface QueryPart {
  readonly name: string
  readonly parameter: string | undefined
  readonly value: string | undefined
}

/** Undefined when the query is not a list of parameters. */
export function templateParts(template: string): TemplateParts | undefined {
  const hash = template.indexOf("#")
  const sent = hash === -1 ? template : template.slice(0, hash)
  const mark = sent.indexOf("?")
  const path = mark === -1 ? sent : sent.slice(0, mark)
  if (/\{[^}]*$/.test(path)) return undefined
  const query: QueryPart[] = []
  for (const pair of mark === -1 ? [] : sent.slice(mark + 1).split("&")) {
    const found = /^([^={}]+)(?:=(?:\{([^{}]+)\}|([^{}]*)))?$/.exec(pair)
    const [name, value] = [decoded(found?.[1]), decoded(found?.[3])]
    if (found === null || name === undefined || (found[3] !== undefined && value === undefined))
      return undefined
    query.push({ name, parameter: found[2], value })
  }
  return { path, query, fragment: hash === -1 ? undefined : template.slice(hash) }
}

/** Reports how a query and a fragment are interpreted. */
export function reportParts(
  { path, query, fragment }: TemplateParts,
  at: Span,
  { fields }: ReaderContext,
): void {
  if (fragment !== undefined)
    fields.report.add(
      "SP8014",
      at,
      `\`${shown(fragment)}\` has no effect in a path: requests have no fragment`,
      {
        help: `Write \`${shown(path)}\`.`,
      },
    )
  if (query.length > 0)
    fields.report.add(
      "SP8015",
      at,
      `the part after \`?\` is read as query parameters: only \`${shown(path)}\` selects the route`,
      { help: "Write the path without it, and each parameter with `in: query`." },
    )
}

/** The parameters of an operation and of its template's query. The latter may be described as path parameters, as query parameters, or only by their values. */
export function withQuery(
  parameters: readonly OperationParameter[],
  query: readonly QueryPart[],
  at: Span,
  reading: ReaderContext,
): OperationParameter[] {
  if (query.length === 0) return [...parameters]
  const placed = new Map(
    query.flatMap(({ name, parameter }) => (parameter === undefined ? [] : [[parameter, name]])),
  )
  const own = new Set(parameters.flatMap((each) => (each.in === "query" ? [each.name] : [])))
  const all = parameters.flatMap((each): OperationParameter[] => {
    const name = each.in === "path" ? placed.get(each.name) : undefined
    if (name === undefined) {
      const needed = each.in === "query" && query.some((part) => part.name === each.name)
      return [needed ? { ...each, required: true } : each]
    }
    if (own.has(name)) return []
    own.add(name)
    return [{ ...each, in: "query", name, style: each.style === "json" ? "json" : "form" }]
  })
  for (const [index, { name, parameter, value }] of query.entries()) {
    if (own.has(name)) continue
    own.add(name)
    all.push(given(name, value, index, at, reading))
    if (parameter !== undefined)
      reading.fields.aside(
        { span: at },
        `the parameter \`${shown(parameter)}\` is not described, so any value is let through`,
      )
  }
  return all
}

/** A parameter of which only the value is known. */
function given(
  name: string,
  value: string | undefined,
  index: number,
  at: Span,
  { schemas }: ReaderContext,
): OperationParameter {
  // A schema is identified by its start offset, so each gets a different character of the path.
  const span = at.file.span(Math.min(at.start + 1 + index, at.end), at.end)
  const scalar = (text: string): DocumentNode => ({ kind: "scalar", span, value: text })
  const values: DocumentNode = { kind: "list", span, items: [scalar(value ?? "")] }
  const entries = new Map([
    ["type", { key: span, value: scalar("string") }],
    ...(value === undefined ? [] : [["enum", { key: span, value: values }] as const]),
  ])
  const schema: DocumentMap = { kind: "map", span, entries }
  return {
    in: "query",
    name,
    description: undefined,
    required: true,
    deprecated: false,
    allowEmpty: value === undefined,
    style: "form",
    explode: true,
    schema: schemas.make(schema, []),
    examples: [],
    span: at,
  }
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}
