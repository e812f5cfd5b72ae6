import type { Span } from "../core/source.ts"
import type { DocumentNode } from "./node.ts"

/** The path from the root of a file to a value. */
export type Steps = readonly string[]

/** The target of an identifier: a path in its file, or why there is none. Undefined for an identifier that is not in this file. */
export type Identified = { readonly steps: Steps } | { readonly problem: string } | undefined

/** A schema that is the base for the URIs inside it: the whole file, or a schema with an `$id`. */
interface Resource {
  readonly uri: string
  readonly steps: Steps
  readonly anchors: Map<string, Steps | "several">
}

/**
 * The `$id` and `$anchor` of the schemas of one file (JSON Schema 2020-12 §8.2). Nothing is fetched: a URI is known when a schema of this file
 * has it. Data (examples, defaults, constants) is not searched for identifiers.
 */
export class Identifiers {
  readonly #file: Resource
  readonly #resources = new Map<string, Resource | "several">()
  /** The resource around a `$ref`, by the place of the `$ref`. */
  readonly #around = new Map<Span, Resource>()
  readonly #tree: DocumentNode

  /** `path`: the path of the file in the project. */
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

  /**
   * Resolves a `$ref` at a place of this file by identifiers. A pointer that matches nothing below its `$id` is resolved from the root of the
   * file, because many documents are written that way.
   */
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

  /** Resolves a fragment at the root of the file. */
  atRoot(fragment: string): Identified {
    const own = this.#around.get(this.#tree.span) ?? this.#file
    return this.#inside(own, fragment)
  }

  /** The target of a fragment: a pointer or an anchor. */
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

  /** Whether the path leads to a node of the tree. */
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

  /** The resource that contains a schema; the schema itself when it has an `$id`. */
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
    // Until draft 7, an `$id` that was a fragment served as an `$anchor`.
    for (const anchor of [word("$anchor"), word("$dynamicAnchor"), old])
      if (anchor !== undefined && anchor !== "" && !anchor.startsWith("/"))
        resource.anchors.set(anchor, resource.anchors.has(anchor) ? "several" : steps)
    return resource
  }
}

/** Whether a file may contain identifiers. Most contain none and need no walk. */
export function mayIdentify(text: string): boolean {
  return /\$(?:id|anchor|dynamicAnchor)\b/.test(text)
}

/** Keywords whose value is data, without schemas inside. */
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
