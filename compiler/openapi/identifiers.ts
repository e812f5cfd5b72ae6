import type { Span } from "../core/source.ts"
import type { DocumentNode } from "./node.ts"

/** Steps from a file's root to a value. */
export type Steps = readonly string[]

/** What an identifier leads to: a place in its file, or why to none; undefined where it is none of the file's. */
export type Identified = { readonly steps: Steps } | { readonly problem: string } | undefined

/** A schema by whose URI those inside of it are found: the file's own, or one with an `$id`. */
interface Resource {
  readonly uri: string
  readonly steps: Steps
  readonly anchors: Map<string, Steps | "several">
}

/**
 * The `$id` and `$anchor` of the schemas of one file (JSON Schema 2020-12 §8.2). Nothing is fetched: a URI is known where a schema of this file has it. What
 * stands in data (examples, defaults, constants) names nothing.
 */
export class Identifiers {
  readonly #file: Resource
  readonly #resources = new Map<string, Resource | "several">()
  /** By the place of a `$ref`. */
  readonly #around = new Map<Span, Resource>()
  readonly #tree: DocumentNode

  /** `path`: of the file, in the project. */
  constructor(tree: DocumentNode, path: string) {
    this.#tree = tree
    this.#file = {
      uri: resolved(encodeURI(path), "project:///") ?? "project:///",
      steps: [],
      anchors: new Map(),
    }
    this.#resources.set(this.#file.uri, this.#file)
    this.#walk(tree, [], this.#file, false)
  }

  /** What a `$ref` at a place of this file means by identifiers. A pointer that leads to nothing below its `$id` is taken from the file's root, as many are written. */
  find(text: string, at: Span): Identified {
    const from = this.#around.get(at) ?? this.#file
    const url = resolved(text, from.uri)
    if (url === undefined) return undefined
    const [uri = "", fragment = ""] = url.split("#", 2)
    const resource = uri === from.uri ? from : this.#resources.get(uri)
    if (resource === undefined) return undefined
    if (resource === "several") return { problem: "several schemas have this `$id`" }
    const found = this.#inside(resource, fragment)
    if (found !== undefined || resource === this.#file || text.startsWith("#")) return found
    return { problem: "the schema with this `$id` has no such part" }
  }

  /** What a fragment means at the root of the file. */
  atRoot(fragment: string): Identified {
    const own = this.#around.get(this.#tree.span) ?? this.#file
    return this.#inside(own, fragment)
  }

  #inside({ steps, anchors }: Resource, fragment: string): Identified {
    if (fragment === "") return { steps }
    if (fragment.startsWith("/")) {
      const below = [...steps, ...pointerSteps(fragment)]
      return this.#has(below) ? { steps: below } : undefined
    }
    const found = anchors.get(fragment)
    if (found === "several") return { problem: "several schemas have this `$anchor`" }
    return found === undefined ? { problem: "no schema here has this `$anchor`" } : { steps: found }
  }

  #has(steps: Steps): boolean {
    let node: DocumentNode | undefined = this.#tree
    for (const step of steps)
      node =
        node?.kind === "map"
          ? node.entries.get(step)?.value
          : node?.kind === "list"
            ? node.items[Number(step)]
            : undefined
    return node !== undefined
  }

  /** `names`: the keys of the map are names, not keywords. */
  #walk(node: DocumentNode, steps: Steps, around: Resource, names: boolean): void {
    if (node.kind === "list")
      for (const [at, item] of node.items.entries()) this.#walk(item, [...steps, String(at)], around, false)
    if (node.kind !== "map") return
    const resource = names ? around : this.#named(node, steps, around)
    if (!names && steps.length === 0) this.#around.set(node.span, resource)
    for (const [name, { value }] of node.entries) {
      if (!names && name === "$ref") this.#around.set(value.span, resource)
      if (names || !(data.has(name) || name.startsWith("x-")))
        this.#walk(value, [...steps, name], resource, !names && named.has(name))
    }
  }

  /** The resource a schema is in, which may be itself. */
  #named(node: DocumentNode & { readonly kind: "map" }, steps: Steps, around: Resource): Resource {
    const word = (name: string): string | undefined => {
      const value = node.entries.get(name)?.value
      return value?.kind === "scalar" && typeof value.value === "string" ? value.value : undefined
    }
    const id = word("$id")
    const [uri, old] = id === undefined ? [] : (resolved(id, around.uri)?.split("#", 2) ?? [])
    let resource = around
    if (uri !== undefined && uri !== around.uri) {
      resource = { uri, steps, anchors: new Map() }
      this.#resources.set(uri, this.#resources.has(uri) ? "several" : resource)
    }
    // Until draft 7 an `$id` that is a fragment was what an `$anchor` is now.
    for (const anchor of [word("$anchor"), word("$dynamicAnchor"), old])
      if (anchor !== undefined && anchor !== "" && !anchor.startsWith("/"))
        resource.anchors.set(anchor, resource.anchors.has(anchor) ? "several" : steps)
    return resource
  }
}

/** Whether a file can have identifiers at all: most have none, and need no walk. */
export function mayIdentify(text: string): boolean {
  return /\$(?:id|anchor|dynamicAnchor)\b/.test(text)
}

/** What a schema or an operation holds as it is. */
const data: ReadonlySet<string> = new Set(["example", "examples", "default", "const", "enum"])
/** Maps whose keys are names. */
const named: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas"],
  ...["responses", "parameters", "requestBodies", "headers", "paths", "pathItems", "webhooks", "callbacks"],
])

function resolved(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href
  } catch {
    return undefined
  }
}

/** The steps of a pointer (RFC 6901) that begins with `/`. */
export function pointerSteps(pointer: string): string[] {
  return decoded(pointer)
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
