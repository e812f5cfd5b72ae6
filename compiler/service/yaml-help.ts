import {
  type Document,
  isMap,
  isScalar,
  type Node,
  parseAllDocuments,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml"
import type { SourceFile } from "../core/source.ts"
import gatewayTests from "../editor/schemas/gateway-tests.schema.json" with { type: "json" }
import modules from "../editor/schemas/modules.schema.json" with { type: "json" }
import storeFile from "../editor/schemas/store-file.schema.json" with { type: "json" }
import type { Program } from "../gateway/program.ts"
import type { Completion, CompletionProposal } from "./completion-item.ts"
import type { Hover } from "./markdown.ts"
import type { ProjectNames } from "./names.ts"

/** What of a JSON Schema completion reads. */
interface YamlSchema {
  readonly $ref?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, YamlSchema>>
  readonly additionalProperties?: boolean | YamlSchema
  readonly items?: YamlSchema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly type?: string | readonly string[]
  readonly allOf?: readonly YamlSchema[]
  readonly anyOf?: readonly YamlSchema[]
  readonly oneOf?: readonly YamlSchema[]
  readonly definitions?: Readonly<Record<string, YamlSchema>>
}

/** What help for YAML files needs to know of a project. `files`: paths of the project's files that match a pattern, relative to the YAML file's folder. */
export interface YamlTerms {
  readonly program: Program
  readonly names: ProjectNames
  /** The keys of all routes: `GET /v1/orders/{id}`. */
  readonly routes: () => readonly string[]
  readonly files: (pattern: string) => readonly string[]
}

/** TypeScript infers a type of each file; all are JSON Schemas. */
const asSchema = (schema: object): YamlSchema => schema

const schemas: readonly (readonly [RegExp, YamlSchema])[] = [
  [/\.fga\.ya?ml$/, asSchema(storeFile)],
  [/\.gw\.ya?ml$/, asSchema(gatewayTests)],
  [/(?:^|\/)[^/]*\.mod$/, asSchema(modules)],
]

/** The schema of a YAML file, by its name; undefined for every other file. */
function schemaOf(path: string): YamlSchema | undefined {
  return schemas.find(([pattern]) => pattern.test(path))?.[1]
}

/** Whether the service knows the keys of a YAML file. */
export function isKnownYaml(path: string): boolean {
  return schemaOf(path) !== undefined
}

/** Stands for what is being written. A letter at its end keeps it a string. */
const placeholder = "beingWritten_x"

/** Where a scalar is in a document. */
interface YamlPlace {
  /** Keys and `[]`, from the root to the map or list around the scalar, and its own key if it is a value. */
  readonly path: readonly string[]
  readonly isKey: boolean
  /** Only spaces are before it on its line: it can be the first key of a map. */
  readonly startsLine: boolean
  /** The map around it, and the map around that. */
  readonly map: YAMLMap | undefined
  readonly outer: YAMLMap | undefined
  readonly document: Document
  readonly scalar: string
}

/** What can be written at an offset of a file of tests, or of `fga.mod`: keys, words, and names of the project. */
export function completeYaml(file: SourceFile, offset: number, terms: YamlTerms): Completion[] {
  const root = schemaOf(file.path)
  if (root === undefined) return []
  const lineStart = file.text.lastIndexOf("\n", offset - 1) + 1
  const partial = /[\w:#.*/-]*$/.exec(file.text.slice(lineStart, offset))?.[0] ?? ""
  const start = offset - partial.length
  const written = `${file.text.slice(0, start)}${placeholder}${file.text.slice(offset)}`
  const place = placeOf(written, (scalar) => String(scalar.value).includes(placeholder))
  if (place === undefined) return []
  const proposals = [...keysAt(place, root, terms), ...valuesAt(place, root, partial, terms)]
  const replaces = file.span(start, offset)
  const unique = new Map(proposals.map((each) => [each.label, each]))
  return [...unique.values()].map((each) => ({ ...each, replaces }))
}

/** What a key of a file of tests, or of `fga.mod`, means. */
export function hoverYaml(file: SourceFile, offset: number): Hover | undefined {
  const root = schemaOf(file.path)
  if (root === undefined) return undefined
  let found: Scalar | undefined
  const place = placeOf(file.text, (scalar) => {
    const [start = 0, end = 0] = scalar.range ?? []
    if (start > offset || offset > end) return false
    found = scalar
    return true
  })
  if (place === undefined || found === undefined || !place.isKey) return undefined
  const key = String(found.value)
  const [about] = schemasAt(root, place.path).flatMap(({ properties }) => expanded(properties?.[key], root))
  const description = about?.description
  const [start = 0, end = 0] = found.range ?? []
  return description === undefined ? undefined : { span: file.span(start, end), markdown: description }
}

/** The place of the first scalar that is meant. Texts with mistakes are read as far as possible. */
function placeOf(text: string, isMeant: (scalar: Scalar) => boolean): YamlPlace | undefined {
  let place: YamlPlace | undefined
  for (const document of parseAllDocuments(text, { prettyErrors: false }))
    visit(document, {
      Scalar(role, scalar, ancestors) {
        if (!isMeant(scalar)) return undefined
        const isKey = role === "key" || (role === null && ancestors.length === 1)
        const path = pathOf(ancestors as readonly Node[], isKey)
        const maps = (ancestors as readonly Node[]).filter((each) => isMap(each))
        const startsLine = /(?:^|\n)\s*$/.test(text.slice(0, scalar.range?.[0] ?? 0))
        place = {
          path,
          isKey,
          startsLine,
          map: maps.at(-1),
          outer: maps.at(-2),
          document,
          scalar: String(scalar.value),
        }
        return visit.BREAK
      },
    })
  return place
}

function pathOf(ancestors: readonly unknown[], isKey: boolean): string[] {
  const path: string[] = []
  for (const [index, each] of ancestors.entries()) {
    const isOwnPair = isKey && index === ancestors.length - 1
    if (isPairNode(each) && isScalar(each.key) && !isOwnPair) path.push(String(each.key.value))
    if (isListNode(each)) path.push("[]")
  }
  return path
}

function isPairNode(node: unknown): node is { readonly key: unknown; readonly value: unknown } {
  return typeof node === "object" && node !== null && "key" in node && "value" in node && !("items" in node)
}

function isListNode(node: unknown): boolean {
  return typeof node === "object" && node !== null && "items" in node && !isMap(node)
}

/** A schema with what it refers to: all forms that a value can have. */
function expanded(schema: YamlSchema | undefined, root: YamlSchema, depth = 0): YamlSchema[] {
  if (schema === undefined || depth > 8) return []
  const named =
    schema.$ref === undefined ? undefined : root.definitions?.[schema.$ref.replace("#/definitions/", "")]
  const parts = [
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(named ? [named] : []),
  ]
  return [schema, ...parts.flatMap((part) => expanded(part, root, depth + 1))]
}

/** The schemas of the value at a path. */
function schemasAt(root: YamlSchema, path: readonly string[]): YamlSchema[] {
  return path.reduce(
    (now, step) =>
      now
        .flatMap(({ items, properties, additionalProperties }) => {
          if (step === "[]") return [items]
          const other = typeof additionalProperties === "object" ? additionalProperties : undefined
          return [properties?.[step] ?? other]
        })
        .flatMap((schema) => expanded(schema, root)),
    expanded(root, root),
  )
}

/** Keys of the map that it does not have yet. A value that is being written can become a map, too. */
function keysAt(
  { path, isKey, startsLine, map, outer }: YamlPlace,
  root: YamlSchema,
  terms: YamlTerms,
): CompletionProposal[] {
  const has = new Set(
    isKey ? (map?.items ?? []).map(({ key }) => (isScalar(key) ? String(key.value) : "")) : [],
  )
  const inList = path.at(-1) === "[]"
  if (!isKey && !inList && !startsLine && path.at(-1) !== "assertions") return []
  const known = schemasAt(root, path).flatMap(({ properties = {} }) => Object.entries(properties))
  const keys = known.flatMap(([label, schema]): CompletionProposal[] => {
    if (has.has(label)) return []
    const docs = expanded(schema, root).find(({ description }) => description !== undefined)?.description
    return [{ label, kind: "keyword", insert: `${label}: `, ...(docs === undefined ? {} : { docs }) }]
  })
  const names = path.at(-1) === "assertions" ? relationsOf(typeOfEntry(isKey ? outer : map), terms) : []
  const backends = path.at(-1) === "backends" ? named("backend", terms) : []
  const stores = path.join(".").endsWith("given.tuples") ? named("store", terms) : []
  return [
    ...keys,
    ...[...names, ...backends, ...stores].map((each) => ({ ...each, insert: `${each.label}: ` })),
  ]
}

/** Words of the schema, and names that the key asks for. */
function valuesAt(
  place: YamlPlace,
  root: YamlSchema,
  partial: string,
  terms: YamlTerms,
): CompletionProposal[] {
  const { path, isKey, map, document } = place
  if (isKey) return []
  const words = schemasAt(root, path).flatMap(({ enum: all = [], const: only, type }) => [
    ...[...all, ...(only === undefined ? [] : [only])].map(String),
    ...(takesFlag([type].flat()) ? ["true", "false"] : []),
  ])
  const key = path.findLast((step) => step !== "[]")
  return [
    ...words.map((label): CompletionProposal => ({ label, kind: "word" })),
    ...namesFor(key, partial, map, terms),
    ...(key === "as" ? callersIn(document) : []),
    ...(key === "request" ? requests(place, terms) : []),
    ...(key === "name" && path.at(-2) === "condition" ? startingWith("condition ", "name", terms) : []),
  ]
}

/** A text is any scalar: only what takes no number is a flag. */
function takesFlag(types: readonly unknown[]): boolean {
  return types.includes("boolean") && !types.includes("number")
}

function namesFor(
  key: string | undefined,
  partial: string,
  map: YAMLMap | undefined,
  terms: YamlTerms,
): CompletionProposal[] {
  const types = startingWith("type ", "type", terms)
  if (key === "type") return types
  if (key === "relation") return relationsOf(typeOfEntry(map), terms)
  if (["user", "users", "object", "objects"].includes(key ?? "")) {
    const set = /^([^:#]+):[^#]*#/.exec(partial)
    if (set === null) return types.map((each) => ({ ...each, insert: `${each.label}:` }))
    return relationsOf(set[1], terms).map((each) => ({ ...each, label: `${set[0]}${each.label}` }))
  }
  if (key === "subscription" || key === "product" || key === "api" || key === "issuer")
    return named(key, terms)
  if (key === "route") return terms.routes().map((label) => ({ label, kind: "operation" }))
  if (key === "issuers-down") return named("issuer", terms)
  if (key === "signature" || key === "secret") return named("secret", terms)
  return pathsFor(key, terms)
}

function pathsFor(key: string | undefined, { files }: YamlTerms): CompletionProposal[] {
  const paths = (...patterns: string[]) => patterns.flatMap(files)
  const values = (all: readonly string[]) =>
    all.map((label): CompletionProposal => ({ label, kind: "value" }))
  if (key === "model_file") return values(paths("**/*.fga", "**/fga.mod"))
  if (key === "config") return values(paths("**/gateway.conf", "**/gateway.*.conf"))
  if (key === "contents") return values(paths("**/*.fga").filter((path) => !path.startsWith("../")))
  if (key === "tuple_file" || key === "tuple_files")
    return values(paths("**/*.yaml", "**/*.json", "**/*.csv").filter((path) => !path.includes("/")))
  return []
}

/** Requests that the routes are for: `GET /orders/1`. Behind a method, paths only. */
function requests({ scalar }: YamlPlace, { routes }: YamlTerms): CompletionProposal[] {
  const written = scalar.slice(0, scalar.indexOf(placeholder))
  const method = /^([A-Z]+) $/.exec(written)?.[1]
  return routes().flatMap((route): CompletionProposal[] => {
    const [of = "", path = ""] = route.split(" ")
    const own = of === "*" ? (method ?? "GET") : of
    const filled = path.replaceAll(/\{\w+\*?\}/g, "1")
    if (method === undefined)
      return written === "" ? [{ label: `${own} ${filled}`, kind: "operation", detail: route }] : []
    return own === method ? [{ label: filled, kind: "operation", detail: route }] : []
  })
}

/** The names of callers that a document gives, to all of its tests or to one. */
function callersIn(document: Document): CompletionProposal[] {
  const names = new Set<string>()
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.value !== "callers" || !isMap(value)) return
      for (const each of value.items) if (isScalar(each.key)) names.add(String(each.key.value))
    },
  })
  return [...names].map((label) => ({ label, kind: "name", detail: "caller" }))
}

function named(
  kind: "api" | "backend" | "issuer" | "product" | "secret" | "store" | "subscription",
  { program }: YamlTerms,
): CompletionProposal[] {
  return program.all(kind).map(({ name }) => ({ label: name, kind: "name", detail: kind }))
}

function startingWith(prefix: string, kind: "type" | "name", { names }: YamlTerms): CompletionProposal[] {
  return names.startingWith(prefix).map((name) => ({ label: name.slice(prefix.length), kind }))
}

/** The relations of a type, or of all types if it is not known. */
function relationsOf(type: string | undefined, { names }: YamlTerms): CompletionProposal[] {
  const own = type === undefined ? [] : names.startingWith(`relation ${type}#`)
  return (own.length > 0 ? own : names.startingWith("relation ")).map((name) => ({
    ...{ label: name.slice(name.indexOf("#") + 1), kind: "relation", detail: name.slice("relation ".length) },
  }))
}

/** The type whose relations an entry asks about. */
function typeOfEntry(map: YAMLMap | undefined): string | undefined {
  return textIn(map, "type") ?? typeOfObject(map)
}

function typeOfObject(map: YAMLMap | undefined): string | undefined {
  return /^([^:#]+):/.exec(textIn(map, "object") ?? "")?.[1]
}

/** The text of a key. A map or list is the empty text. */
function textIn(map: YAMLMap | undefined, key: string): string | undefined {
  const value: unknown = map?.get(key)
  if (value === undefined || value === null) return undefined
  return typeof value === "object" ? "" : String(value)
}
