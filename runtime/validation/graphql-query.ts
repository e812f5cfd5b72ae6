import type { FragmentDefinitionNode, SelectionSetNode } from "graphql/language/ast.js"
import { Kind } from "graphql/language/kinds.js"
import { parse } from "graphql/language/parser.js"

/** What executing a GraphQL document costs at most, by its text alone: the largest of its operations. */
export interface QuerySize {
  /** Levels of fields: 1 for `{ a b }`. */
  readonly depth: number
  /** Fields that are selected, with those of a fragment each time it is used. */
  readonly fields: number
  /** Whether it reads the schema: `__schema` or `__type`. */
  readonly introspects: boolean
}

/** Words, numbers and punctuation of a document. Reading this many takes some milliseconds. */
const tokensMax = 20_000

const nothing: QuerySize = { depth: 0, fields: 0, introspects: false }

/**
 * Measures a GraphQL document (specification of October 2021). `problem` completes "the query …": it cannot be read, or has no operation, or its
 * fragments are unknown or contain themselves, so that nobody could execute it.
 */
export function measureQuery(text: string): QuerySize | { readonly problem: string } {
  try {
    const { definitions } = parse(text, { noLocation: true, maxTokens: tokensMax })
    const fragments = new Map<string, FragmentDefinitionNode>()
    for (const each of definitions)
      if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
    const measuring = new Measuring(fragments)
    const sizes = definitions.flatMap((each) =>
      each.kind === Kind.OPERATION_DEFINITION ? [measuring.set(each.selectionSet)] : [],
    )
    if (sizes.length === 0) return { problem: "has no operation" }
    return sizes.reduce((a, b) => ({
      depth: Math.max(a.depth, b.depth),
      fields: Math.max(a.fields, b.fields),
      introspects: a.introspects || b.introspects,
    }))
  } catch (error) {
    if (error instanceof Unmeasurable) return { problem: error.message }
    // The parser is recursive: what exceeds the stack is far beyond the deepest useful query.
    if (error instanceof RangeError) return { problem: "is nested too deeply to be read" }
    const message = error instanceof Error ? error.message : ""
    if (/more tha[nt] \d+ tokens/.test(message)) return { problem: `has more than ${tokensMax} tokens` }
    return { problem: "is not GraphQL" }
  }
}

/** Why a document has no size. */
class Unmeasurable extends Error {}

/** Measures each fragment once, however often it is used. */
class Measuring {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #known = new Map<string, QuerySize>()
  readonly #open = new Set<string>()

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments
  }

  set({ selections }: SelectionSetNode): QuerySize {
    let { depth, fields, introspects } = nothing
    for (const each of selections) {
      const isField = each.kind === Kind.FIELD
      const inner = each.kind === Kind.FRAGMENT_SPREAD ? this.#fragment(each.name.value) : this.#inside(each)
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0))
      fields += inner.fields + (isField ? 1 : 0)
      introspects ||= inner.introspects || (isField && /^__(?:schema|type)$/.test(each.name.value))
    }
    return { depth, fields, introspects }
  }

  #inside({ selectionSet }: { readonly selectionSet?: SelectionSetNode | undefined }): QuerySize {
    return selectionSet === undefined ? nothing : this.set(selectionSet)
  }

  #fragment(name: string): QuerySize {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const fragment = this.#fragments.get(name)
    if (fragment === undefined)
      throw new Unmeasurable(`uses a fragment \`${name.slice(0, 100)}\` that it does not have`)
    if (this.#open.has(name))
      throw new Unmeasurable(`has a fragment \`${name.slice(0, 100)}\` that contains itself`)
    this.#open.add(name)
    const size = this.set(fragment.selectionSet)
    this.#open.delete(name)
    this.#known.set(name, size)
    return size
  }
}
