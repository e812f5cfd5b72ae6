import type { Span } from "../core/source.ts"
import type {
  Content,
  Operation,
  OperationBody,
  OperationParameter,
  OperationResponse,
  Requirement,
  ResponseHeader,
} from "./api-document.ts"
import type { JsonSchema, Schemas } from "./schema.ts"

/**
 * The combined operation of a route whose method and path match several operations (`/rest?method=list` and `/rest?method=show`): it accepts a
 * request that fits any of them. A rule applies only when all operations have it. Security is the exception: callers must meet the
 * requirements of every operation.
 */
export function joined(operations: readonly Operation[], schemas: Schemas): Operation {
  const [first] = operations
  if (first === undefined) throw new Error("a route has an operation")
  const join = new Join(schemas)
  return {
    ...first,
    deprecated: operations.every(({ deprecated }) => deprecated),
    parameters: join.parameters(operations),
    body: join.body(operations.map(({ body }) => body)),
    responses: join.responses(operations.map(({ responses }) => responses)),
    security: operations.map(({ security }) => security).reduce(allOf),
  }
}

/** Requirements that satisfy both sides. Those that differ only in their scopes are merged to one with all scopes. */
function allOf(one: Operation["security"], other: Operation["security"]): Operation["security"] {
  if (one === undefined || one.length === 0) return other
  if (other === undefined || other.length === 0) return one
  const ways = one.flatMap((a) => other.map((b) => together(a, b)))
  return [...new Map(ways.map((way) => [waysKey(way), way])).values()].slice(0, waysMax)
}

const waysMax = 100

/** Both requirements together: the schemes of both, with all scopes. */
function together(one: Requirement, other: Requirement): Requirement {
  const schemes = new Map(one.schemes.map((each) => [each.name, each]))
  for (const each of other.schemes) {
    const known = schemes.get(each.name)
    schemes.set(each.name, {
      ...each,
      scopes: [...new Set([...(known?.scopes ?? []), ...each.scopes])],
    })
  }
  return { span: one.span, schemes: [...schemes.values()] }
}

function waysKey({ schemes }: Requirement): string {
  return JSON.stringify(schemes.map(({ name, scopes }) => [name, [...scopes].sort()]).sort())
}

/** Whether the operations have the same security requirements. */
export function demandTheSame(operations: readonly Operation[]): boolean {
  const demands = operations.map(({ security }) => JSON.stringify((security ?? []).map(waysKey).sort()))
  return new Set(demands).size === 1
}

/** Joins the operations of one route, so that a request that fits any of them passes. */
class Join {
  readonly #schemas: Schemas

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** Path parameters are matched by position, because operations may name them differently. */
  parameters(operations: readonly Operation[]): OperationParameter[] {
    const [first] = operations
    const names = [...(first?.names.keys() ?? [])]
    const groups = new Map<string, OperationParameter[]>()
    for (const { parameters, names: own } of operations) {
      const places = [...own.keys()]
      for (const each of parameters) {
        const name = each.in === "path" ? (names[places.indexOf(each.name)] ?? each.name) : each.name
        const key = `${each.in} ${each.in === "header" ? name.toLowerCase() : name}`
        const group = groups.get(key) ?? []
        groups.set(key, [...group, { ...each, name }])
      }
    }
    return [...groups.values()].map((group) => this.#parameter(group, group.length === operations.length))
  }

  /** A parameter of several operations: required only if all of them require it. */
  #parameter(group: readonly OperationParameter[], inAll: boolean): OperationParameter {
    const first = group[0] as OperationParameter
    const required = first.in === "path" || (inAll && group.every((each) => each.required))
    const allowEmpty = group.some((each) => each.allowEmpty)
    const written = new Set(group.map(({ style, explode }) => `${style} ${explode}`))
    const schema = inAll && written.size === 1 ? this.#ofTexts(group.map((each) => each.schema)) : undefined
    if (schema !== undefined || first.in !== "query" || first.style !== "form")
      return { ...first, required, allowEmpty, schema }
    return { ...first, required, allowEmpty, explode: true, schema: this.#anyTexts(first.span) }
  }

  /** For values sent as text. Alternatives are possible only when all have the type `string`: then a value is parsed in the same way for each. */
  #ofTexts(keys: readonly (string | undefined)[]): string | undefined {
    if (new Set(keys.map((key) => this.#written(key))).size === 1) return keys[0]
    const jsons = keys.map((key) => (key === undefined ? undefined : this.#schemas.entries.get(key)?.json))
    const alike = jsons.every((json) => typeof json === "object" && json["type"] === "string")
    return alike ? this.#any(keys) : undefined
  }

  /** The body must fit one of the operations. */
  body(bodies: readonly (OperationBody | undefined)[]): OperationBody | undefined {
    const all = bodies.flatMap((body) => body ?? [])
    const [first] = all
    // An operation without a described body accepts any body.
    if (first === undefined || all.length < bodies.length) return undefined
    return {
      ...first,
      required: all.every(({ required }) => required),
      contents: this.#contents(all.map(({ contents }) => contents)),
    }
  }

  /** Contents by media type. Forms that are written differently are not checked. */
  #contents(lists: readonly (readonly Content[])[]): Content[] {
    const byMedia = new Map<string, Content[]>()
    for (const each of lists.flat()) byMedia.set(each.media, [...(byMedia.get(each.media) ?? []), each])
    return [...byMedia.values()].map((group) => {
      const first = group[0] as Content
      const alike = new Set(group.map(({ fields }) => JSON.stringify(fields))).size === 1
      return {
        ...first,
        schema: alike ? this.#any(group.map(({ schema }) => schema)) : undefined,
        examples: first.examples,
      }
    })
  }

  /** For each status that one of the operations names, the matching responses of all: by the status, by its range, or by `default`. */
  responses(lists: readonly (readonly OperationResponse[])[]): OperationResponse[] {
    const statuses = [...new Set(lists.flatMap((list) => list.map(({ status }) => status)))]
    return statuses.map((status) => {
      const said = lists.flatMap(
        (list) =>
          [status, `${status[0]}xx`, "default"].flatMap(
            (name) => list.find((each) => each.status === name) ?? [],
          )[0] ?? [],
      )
      const first = said[0] as OperationResponse
      return {
        ...first,
        status,
        headers: this.#headers(said.map(({ headers }) => headers)),
        contents: this.#contents(said.map(({ contents }) => contents)),
      }
    })
  }

  /** A header that some operations lack is not required. */
  #headers(lists: readonly (readonly ResponseHeader[])[]): ResponseHeader[] {
    const byName = new Map<string, ResponseHeader[]>()
    for (const each of lists.flat()) {
      const name = each.name.toLowerCase()
      byName.set(name, [...(byName.get(name) ?? []), each])
    }
    return [...byName.values()].map((group) => {
      const first = group[0] as ResponseHeader
      const inAll = group.length === lists.length
      return {
        ...first,
        required: inAll && group.every(({ required }) => required),
        schema: inAll ? this.#ofTexts(group.map(({ schema }) => schema)) : undefined,
      }
    })
  }

  #any(keys: readonly (string | undefined)[]): string | undefined {
    const byText = new Map(keys.map((key) => [this.#written(key), key]))
    const [only] = byText.values()
    if (byText.size === 1) return only
    const all = [...byText.values()]
    return all.includes(undefined) ? undefined : this.#alternatives(all as string[])
  }

  #written(key: string | undefined): string | undefined {
    return key === undefined ? undefined : JSON.stringify(this.#schemas.entries.get(key)?.json ?? key)
  }

  #alternatives(keys: readonly string[]): string {
    const span = this.#schemas.entries.get(keys[0] ?? "")?.span
    return span === undefined
      ? (keys[0] as string)
      : this.#add(`any of ${keys.join(" ")}@`, { anyOf: keys.map(($ref) => ({ $ref })) }, keys, span)
  }

  /** Any string, or any list of strings. */
  #anyTexts(span: Span): string {
    return this.#add("texts@", { type: ["string", "array"], items: { type: "string" } }, [], span)
  }

  /** Adds a generated schema. Its key contains `@`, like the keys of all schemas that are not components. */
  #add(key: string, json: JsonSchema, keys: readonly string[], span: Span): string {
    const references = new Set(keys)
    const entry = {
      key,
      span,
      json,
      references,
      inPlace: references,
      obstacles: [],
      unmatched: [],
      loose: false,
    }
    this.#schemas.entries.set(key, entry)
    return key
  }
}
