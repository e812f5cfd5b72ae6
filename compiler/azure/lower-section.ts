import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import { attributeOf, type Element, type PolicyDocument, type PolicyNode } from "./ast.ts"
import { refusalOf, refused, rightName } from "./elements/refused.ts"
import { combining } from "./elements/structure.ts"
import { policies } from "./elements/table.ts"
import { fits, listed } from "./shape.ts"
import type { DocumentHost, DocumentPlace, DocumentSection, Used } from "./site.ts"
import { type Context, numbered, Use } from "./use.ts"

/** Fragments that include each other twice would otherwise double with each level. */
const fragmentsMax = 20
const stepsMax = 5_000

/** Makes the steps of one section of a document. `outer` are the steps of outer scopes for this section: `<base />` inserts them. */
export function lowerSection(
  element: Element,
  document: PolicyDocument,
  {
    section,
    place,
    host,
    outer,
  }: { section: DocumentSection; place: DocumentPlace; host: DocumentHost; outer: readonly Used[] },
): Used[] {
  const parent = { element, path: "" }
  return new SectionLowering(section, place, host, outer).nodes(element.children, document, [], parent)
}

/**
 * Lowers one section with its fragments. The number of policies is limited over all of them, because fragments may contain each other many
 * times.
 */
class SectionLowering {
  readonly #section: DocumentSection
  readonly #place: DocumentPlace
  readonly #host: DocumentHost
  readonly #outer: readonly Used[]
  #steps = 0

  constructor(section: DocumentSection, place: DocumentPlace, host: DocumentHost, outer: readonly Used[]) {
    this.#section = section
    this.#place = place
    this.#host = host
    this.#outer = outer
  }

  /** `parent`: the element that contains the nodes. */
  nodes(
    nodes: readonly PolicyNode[],
    document: PolicyDocument,
    fragments: readonly PolicyDocument[],
    parent: { readonly element: Element; readonly path: string },
  ): Used[] {
    const steps: Used[] = []
    let answered = false
    for (const node of nodes) {
      if (node.kind === "comment") continue
      if (node.kind === "text") {
        this.#host.report.add("SP7001", trimmed(node.raw.span), "there is text between policies", {
          help: "Remove it; the settings of a policy belong in its element.",
        })
        continue
      }
      // Unreachable policies are still lowered, so that their mistakes are found.
      if (answered)
        this.#host.report.add(
          "SP7018",
          node.nameSpan,
          `\`${node.name}\` follows a policy that always responds`,
        )
      const number = numbered(node, parent.element.children)
      const path = parent.path === "" ? number : `${parent.path}/${number}`
      steps.push(...this.#element(node, document, fragments, path))
      answered = answers(node)
    }
    this.#steps += steps.length
    return steps
  }

  /** One policy. `path` is its place in the section, for `context.LastError`. */
  #element(
    element: Element,
    document: PolicyDocument,
    fragments: readonly PolicyDocument[],
    path: string,
  ): Used[] {
    const { report } = this.#host
    const { name } = element
    if (this.#steps > stepsMax) {
      // Reported once; infinity marks that.
      if (this.#steps !== Number.POSITIVE_INFINITY)
        report.add(
          "SP7003",
          element.nameSpan,
          `with its fragments the section has more than ${stepsMax} policies`,
        )
      this.#steps = Number.POSITIVE_INFINITY
      return []
    }
    // `<base />` inserts the steps of outer documents, which are lowered already.
    if (name === "base") return fits(element, combining.base, document, report) ? [...this.#outer] : []
    if (name === "include-fragment") return this.#fragment(element, document, fragments, path)
    const row = Object.hasOwn(policies, name) ? policies[name] : undefined
    if (row === undefined) {
      this.#reportUnknown(element)
      return []
    }
    if (!row.sections.includes(this.#section)) {
      report.add("SP7006", element.nameSpan, `\`${name}\` is not allowed in \`${this.#section}\``, {
        help: `It is allowed in ${listed(row.sections, "or")}.`,
      })
      return []
    }
    if (!fits(element, row, document, report)) return []
    const context: Context = {
      document,
      section: this.#section,
      place: this.#place,
      host: this.#host,
      policy: element,
      path,
      inside: (nodes, parent) => this.nodes(nodes, document, fragments, parent),
    }
    return row.lower(new Use(element, row, context)) ?? []
  }

  /** A name that is no policy: refused, misspelt or unknown. */
  #reportUnknown({ name, nameSpan }: Element): void {
    const { report } = this.#host
    const refusal = refusalOf(name)
    if (refusal !== undefined) {
      report.add("SP7011", nameSpan, `\`${name}\` is not supported: ${refusal.why}`, {
        help: refusal.instead,
      })
      return
    }
    const right = rightName(name)
    // Refused names, too: a misspelt one gets its reason at the next try.
    const known = [...Object.keys(policies), ...Object.keys(combining), ...Object.keys(refused)]
    report.add(
      "SP7005",
      nameSpan,
      `unknown policy \`${shown(name)}\`${right === undefined ? didYouMean(name, known) : ""}`,
      right === undefined ? {} : { help: `Write \`${right}\`.` },
    )
  }

  /** The policies of a fragment, in the place of `include-fragment`. A fragment inside itself has no end. */
  #fragment(
    element: Element,
    document: PolicyDocument,
    fragments: readonly PolicyDocument[],
    path: string,
  ): Used[] {
    const { report } = this.#host
    if (!fits(element, combining["include-fragment"], document, report)) return []
    const raw = attributeOf(element, "fragment-id")?.raw
    if (raw === undefined) return []
    const id = raw.span.file.text.slice(raw.span.start, raw.span.end).trim()
    const fragment = this.#host.fragment(id, raw.span)
    if (fragment?.root === undefined) return []
    // Through others as well: the list contains all fragments around this one.
    if (fragments.includes(fragment) || fragments.length >= fragmentsMax) {
      const what = fragments.includes(fragment)
        ? "includes itself"
        : `is nested in more than ${fragmentsMax} others`
      report.add("SP7013", raw.span, `the fragment \`${shown(id)}\` ${what}`)
      return []
    }
    if (fragment.root.name !== "fragment") {
      report.add("SP7002", fragment.root.nameSpan, `\`${shown(id)}\` is not a fragment`, {
        help: "Use a file that starts with `<fragment>`.",
        related: [{ span: raw.span, message: "included here" }],
      })
      return []
    }
    const parent = { element: fragment.root, path }
    return this.nodes(fragment.root.children, fragment, [...fragments, fragment], parent)
  }
}

/** Whether the steps after an element never run. */
function answers(element: Element): boolean {
  return element.name === "return-response" || element.name === "mock-response"
}

/** A span without surrounding white space. */
function trimmed({ file, start, end }: Span): Span {
  const text = file.text.slice(start, end)
  return file.span(start + text.length - text.trimStart().length, start + text.trimEnd().length)
}
