import type { Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { type Identified, Identifiers, mayIdentify, pointerSteps, type Steps } from "./identifiers.ts"
import type { DocumentMap, DocumentNode } from "./node.ts"
import { readTree } from "./tree.ts"

/** Reads the project file that the text at `at` names, relative to the file with that text. Reports why a file can't be read. */
export type LoadFile = (path: string, at: Span) => SourceFile | undefined

/** The target of a `$ref`: the value, and the key that all references to it share (`models/a.yaml#/components/schemas/Order`). */
export interface ReferenceTarget {
  readonly node: DocumentNode
  readonly key: string
}

/** The place of a reference, and the help for one without a target (default: that of the catalogue). */
interface Said {
  readonly span: Span
  readonly help?: string
}

const chainMax = 100
const referencesMax = 1_000_000

/** The `$ref`s of all files of a document. A reference may lead to its own file or to another file of the project; URLs are refused. */
export class DocumentReferences {
  readonly #load: LoadFile
  readonly #report: Report
  readonly #trees = new Map<SourceFile, DocumentNode | undefined>()
  readonly #found = new Map<string, ReferenceTarget | undefined>()
  readonly #identifiers = new Map<SourceFile, Identifiers | undefined>()
  #count = 0
  #identifies = false

  constructor(load: LoadFile, report: Report) {
    this.#load = load
    this.#report = report
  }

  /** The parsed file; each file is read once. */
  tree(file: SourceFile): DocumentNode | undefined {
    if (!this.#trees.has(file)) this.#trees.set(file, readTree(file, this.#report))
    return this.#trees.get(file)
  }

  /** Enables `$id` and `$anchor` of JSON Schema 2020-12. The schemas of OpenAPI 2.0 and 3.0 have neither. */
  followIdentifiers(): void {
    this.#identifies = true
  }

  /** The value itself (without a key), or the target of its `$ref`. Undefined when there is no target, which is reported once. */
  follow(node: DocumentNode): { readonly node: DocumentNode; readonly key: string | undefined } | undefined {
    let at = node
    let key: string | undefined
    for (let steps = 0; steps <= chainMax; steps += 1) {
      const reference = referenceOf(at)
      if (reference === undefined) return { node: at, key }
      const target = this.#target(reference.text, reference.span)
      if (target === undefined) return undefined
      at = target.node
      key = target.key
    }
    this.#report.add("SP8004", at.span, "the reference is part of a cycle")
    return undefined
  }

  /** The direct target of a value's `$ref`, which may be another reference. */
  step(node: DocumentNode): ReferenceTarget | undefined {
    const reference = referenceOf(node)
    return reference === undefined ? undefined : this.#target(reference.text, reference.span)
  }

  /** Whether a pointer has a target in the file of `from`. The pointer was written elsewhere, at `said`: problems are reported there, with this help. */
  leads(text: string, from: Span, said: Span, help: string): boolean {
    return this.#find(text, from, { span: said, help }) !== undefined
  }

  /** The target of a reference, kept for each text. The number of references is limited, because each may cause a file to be read. */
  #target(text: string, at: Span): ReferenceTarget | undefined {
    if (++this.#count > referencesMax) {
      if (this.#count === referencesMax + 1)
        this.#report.add("SP8006", at, `the document has more than ${referencesMax} references`)
      return undefined
    }
    // With `$id`, the same text may have different targets in different places.
    const place = this.#identifiersOf(at.file) === undefined ? "" : String(at.start)
    const id = `${at.file.path}\n${place}\n${text}`
    if (!this.#found.has(id)) this.#found.set(id, this.#find(text, at, { span: at }))
    return this.#found.get(id)
  }

  #identifiersOf(file: SourceFile): Identifiers | undefined {
    if (!this.#identifies) return undefined
    if (!this.#identifiers.has(file)) {
      const tree = mayIdentify(file.text) ? this.tree(file) : undefined
      this.#identifiers.set(file, tree === undefined ? undefined : new Identifiers(tree, file.path))
    }
    return this.#identifiers.get(file)
  }

  /** Finds a target: by identifier first, then by path and pointer. */
  #find(text: string, at: Span, said: Said): ReferenceTarget | undefined {
    const identified = this.#identifiersOf(at.file)?.find(text, at)
    if (identified !== undefined) return this.#identified(identified, at.file, text, said)
    const [path, pointer] = split(text)
    if (/^(?:[A-Za-z][A-Za-z0-9+.-]+:|\/\/)/.test(path)) {
      this.#report.add("SP8005", said.span, `\`${shown(text)}\` is outside the project`)
      return undefined
    }
    const file = path === "" ? at.file : this.#load(path, at)
    if (file === undefined) return undefined
    const steps = stepsOf(pointer)
    if (steps !== undefined) return this.#at(file, steps, text, said)
    const found = this.#identifiersOf(file)?.atRoot(pointer)
    if (found !== undefined) return this.#identified(found, file, text, said)
    this.#report.add("SP8004", said.span, `\`${shown(text)}\` is not a JSON pointer`, {
      help:
        said.help ??
        "Write `#/components/schemas/NAME`, or `other.yaml#/NAME`; `#NAME` means the schema with `$anchor: NAME`, since 3.1.",
    })
    return undefined
  }

  /** The target of an identifier, or why there is none. */
  #identified(
    found: Exclude<Identified, undefined>,
    file: SourceFile,
    text: string,
    said: Said,
  ): ReferenceTarget | undefined {
    if ("steps" in found) return this.#at(file, found.steps, text, said)
    this.#report.add("SP8004", said.span, `\`${shown(text)}\` has no target: ${found.problem}`, helpOf(said))
    return undefined
  }

  #at(file: SourceFile, steps: Steps, text: string, said: Said): ReferenceTarget | undefined {
    const tree = this.tree(file)
    const node = tree === undefined ? undefined : this.#walk(tree, steps, text, said)
    const key = `${file.path}#${steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`
    return node === undefined ? undefined : { node, key }
  }

  /** Follows a pointer step by step, so that a finding can name the step that fails. */
  #walk(tree: DocumentNode, steps: readonly string[], text: string, said: Said): DocumentNode | undefined {
    let node: DocumentNode | undefined = tree
    for (const step of steps) {
      const before: DocumentNode = node
      node =
        before.kind === "map"
          ? before.entries.get(step)?.value
          : before.kind === "list" && /^(?:0|[1-9]\d{0,8})$/.test(step)
            ? before.items[Number(step)]
            : undefined
      if (node !== undefined) continue
      const near = before.kind === "map" ? didYouMean(step, [...before.entries.keys()].slice(0, 2000)) : ""
      this.#report.add(
        "SP8004",
        said.span,
        `\`${shown(text)}\` has no target: there is no \`${shown(step)}\`${near}`,
        helpOf(said),
      )
      return undefined
    }
    return node
  }
}

function helpOf({ help }: Said): { help?: string } {
  return help === undefined ? {} : { help }
}

/** A schema reduced to its `$ref`. */
export function onlyReference(node: DocumentMap): DocumentMap {
  return { ...node, entries: new Map([...node.entries].filter(([name]) => name === "$ref")) }
}

/** The `$ref` of a value, if it has one. */
export function referenceOf(node: DocumentNode): { readonly text: string; readonly span: Span } | undefined {
  const entry = node.kind === "map" ? node.entries.get("$ref")?.value : undefined
  return entry?.kind === "scalar" && typeof entry.value === "string"
    ? { text: entry.value, span: entry.span }
    : undefined
}

function split(text: string): [path: string, pointer: string] {
  const hash = text.indexOf("#")
  const path = hash === -1 ? text : text.slice(0, hash)
  const pointer = hash === -1 ? "" : text.slice(hash + 1)
  return [decoded(path) ?? path, pointer]
}

/** The steps of a pointer (RFC 6901) in a fragment. Undefined when it is not a pointer. */
function stepsOf(pointer: string): string[] | undefined {
  const text = decoded(pointer)
  if (text === undefined) return undefined
  if (text === "" || text === "/") return []
  if (!text.startsWith("/")) return undefined
  return pointerSteps(pointer)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
