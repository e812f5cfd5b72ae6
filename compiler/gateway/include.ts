import type { Related, Report } from "../core/diagnostic.ts"
import { isPattern } from "../core/glob.ts"
import type { Project } from "../core/load.ts"
import type { Span } from "../core/source.ts"
import type { Document, Statement, TextArgument } from "./ast.ts"
import { parseGateway } from "./parser.ts"

/** An `include` that was followed: the path of the file, and the span of the statement's text. */
interface Link {
  readonly path: string
  readonly at: Span | undefined
}

/**
 * Reads and parses a file and everything it includes, in textual order: a file precedes the files it includes. Cycles, repeated inclusions
 * and unreadable files are findings (SP00xx) at the `include`; the other files are still loaded. Empty when the entry file cannot be read.
 * Only `include` at the top level of a file counts. `parse` can return what it made of an equal file before.
 */
export function loadDocuments(
  project: Project,
  entry: string,
  report: Report,
  parse: typeof parseGateway = parseGateway,
): Document[] {
  const loading = new Loading(project, report, parse)
  loading.visit({ path: entry, at: undefined }, [])
  return loading.documents
}

/** Loads files depth-first, each once. `#first` has the place of the first `include`, for findings about the second. */
class Loading {
  readonly documents: Document[] = []
  readonly #project: Project
  readonly #report: Report
  readonly #parse: typeof parseGateway
  readonly #first = new Map<string, Span | undefined>()

  constructor(project: Project, report: Report, parse: typeof parseGateway) {
    this.#project = project
    this.#report = report
    this.#parse = parse
  }

  /** `chain` is the list of links from the entry to the file that has the `include`. */
  visit(link: Link, chain: readonly Link[]): void {
    if (this.#isRepeated(link, chain)) return
    this.#first.set(link.path, link.at)
    const file = this.#project.read(link.path, link.at)
    if (file === undefined) return
    const document = this.#parse(file, this.#report)
    this.documents.push(document)
    for (const statement of document.statements) {
      if (statement.keyword.text !== "include" || statement.broken) continue
      const text = this.#pathOf(statement)
      if (text === undefined) continue
      for (const path of this.#targets(text.path, text.at))
        this.visit({ path, at: text.at }, [...chain, link])
    }
  }

  /** A file that includes itself through others is an error; one that is included twice is reported and read once. */
  #isRepeated(link: Link, chain: readonly Link[]): boolean {
    if (!this.#first.has(link.path) || link.at === undefined) return false
    const from = chain.findIndex((above) => above.path === link.path)
    if (from !== -1) {
      const way = [...chain.slice(from).map((above) => `\`${above.path}\``), `\`${link.path}\``].join(" → ")
      const related = chain
        .slice(from + 1)
        .flatMap((above) => relatedAt(above.at, `\`${above.path}\` is included here`))
      this.#report.add("SP0010", link.at, `the files include each other: ${way}`, { related })
      return true
    }
    const related = relatedAt(this.#first.get(link.path), "included here first")
    this.#report.add("SP0011", link.at, `\`${link.path}\` is included already`, { related })
    return true
  }

  #pathOf(statement: Statement): { path: string; at: Span } | undefined {
    const [argument, ...more] = statement.args
    const path = argument?.kind === "text" ? constantOf(argument) : undefined
    if (path !== undefined && path !== "" && more.length === 0 && statement.block === undefined)
      return { path, at: (argument as TextArgument).span }
    this.#report.add("SP0013", statement.span, "`include` takes one string and nothing else")
    return undefined
  }

  #targets(path: string, at: Span): readonly string[] {
    if (isPattern(path)) return this.#project.match(path, at)
    const resolved = this.#project.resolve(path, at)
    return resolved === undefined ? [] : [resolved]
  }
}

function relatedAt(span: Span | undefined, message: string): Related[] {
  return span === undefined ? [] : [{ span, message }]
}

/** The value of a text without expressions. */
function constantOf(text: TextArgument): string | undefined {
  let value = ""
  for (const part of text.parts) {
    if (part.kind === "cel") return undefined
    value += part.value
  }
  return value
}
