import type { Backend } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { TextArgument, Word } from "../ast.ts"
import { type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { inlineBackend, lowerBackend } from "./backend.ts"
import type { OwnCredentialPlans } from "./own-credentials.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** All backends, declared by name or written as URLs. The plan gets those that routes use. */
export class Backends {
  readonly #values: Values
  readonly #report: Report
  readonly #all = new Map<string, { backend: Backend | undefined; span: Span }>()
  readonly #used = new Set<string>()
  readonly #hashKeys = new Map<string, TextArgument | Word>()
  readonly #inline = new Map<BoundStatement, string | undefined>()

  /** Backends are lowered at once, so that mistakes in unused ones are reported too; only used ones become part of the plan. */
  constructor(program: Program, values: Values, credentials: OwnCredentialPlans, report: Report) {
    this.#values = values
    this.#report = report
    for (const declared of program.all("backend")) {
      this.#all.set(declared.name, {
        backend: lowerBackend(declared, values, credentials, report),
        span: declared.span,
      })
      const key = statementOf(declared.bound.block, "balance")?.args.text("key")
      if (key !== undefined) this.#hashKeys.set(declared.name, key)
    }
  }

  /** The name of the backend that a `backend` statement refers to; undefined when the statement is not understood (reported). */
  use(statement: BoundStatement): string | undefined {
    const word = statement.args.word("backend")
    if (word === undefined) return this.#useInline(statement)
    if (!this.#all.has(word.text)) return undefined
    this.#used.add(word.text)
    return word.text
  }

  /** Whether a backend with this name is declared. If so, marks it as used. */
  useDeclared(name: string): boolean {
    if (!this.#all.has(name)) return false
    this.#used.add(name)
    return true
  }

  /** The text that selects the target of a backend with `balance hash`. */
  hashKey(name: string): TextArgument | Word | undefined {
    return this.#hashKeys.get(name)
  }

  /** The used backends with the places of their declarations. */
  used(): { name: string; backend: Backend; span: Span }[] {
    return [...this.#used].sort().flatMap((name) => {
      const found = this.#all.get(name)
      return found?.backend === undefined ? [] : [{ name, backend: found.backend, span: found.span }]
    })
  }

  #useInline(statement: BoundStatement): string | undefined {
    if (!this.#inline.has(statement)) this.#inline.set(statement, this.#declareInline(statement))
    return this.#inline.get(statement)
  }

  #declareInline(statement: BoundStatement): string | undefined {
    const url = lowerUrl(statement.args.text("url"), this.#values, this.#report)
    if (url === undefined) return undefined
    const { name, backend } = inlineBackend(url)
    if (!this.#all.has(name)) this.#all.set(name, { backend, span: headSpan(statement.statement) })
    this.#used.add(name)
    return name
  }
}
