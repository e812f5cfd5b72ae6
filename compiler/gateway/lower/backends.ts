import type { Backend } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { TextArgument, Word } from "../ast.ts"
import { type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { type PartRecorder, type Recorded, recorded, used } from "../recorder.ts"
import { inlineBackend, lowerBackend } from "./backend.ts"
import type { OwnCredentialPlans } from "./own-credentials.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** All backends, declared by name or written as URLs. The plan gets those that routes use. */
export class Backends {
  readonly #recorder: PartRecorder | undefined
  readonly #values: Values
  readonly #report: Report
  readonly #all = new Map<string, { backend: Backend | undefined; span: Span }>()
  readonly #used = new Set<string>()
  readonly #hashKeys = new Map<string, TextArgument | Word>()
  readonly #inline = new Map<BoundStatement, Recorded<string | undefined>>()

  /** Backends are lowered at once, so that mistakes in unused ones are reported too; only used ones become part of the plan. */
  constructor(program: Program, values: Values, credentials: OwnCredentialPlans, report: Report) {
    this.#recorder = program.recorder
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
    return this.useDeclared(word.text) ? word.text : undefined
  }

  /** Whether a backend with this name is declared. If so, marks it as used. */
  useDeclared(name: string): boolean {
    if (!this.#all.has(name)) return false
    this.#recorder?.note(({ backends }) => backends.useDeclared(name))
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

  /** Adds a backend that is written as a URL. */
  addInline(name: string, backend: Backend, span: Span): void {
    this.#recorder?.note(({ backends }) => backends.addInline(name, backend, span))
    if (!this.#all.has(name)) this.#all.set(name, { backend, span })
    this.#used.add(name)
  }

  #useInline(statement: BoundStatement): string | undefined {
    const known = this.#inline.get(statement)
    if (known !== undefined) return used(this.#recorder, known)
    const made = recorded(this.#recorder, () => this.#declareInline(statement))
    this.#inline.set(statement, made)
    return made.value
  }

  #declareInline(statement: BoundStatement): string | undefined {
    const url = lowerUrl(statement.args.text("url"), this.#values, this.#report)
    if (url === undefined) return undefined
    const { name, backend } = inlineBackend(url)
    this.addInline(name, backend, headSpan(statement.statement))
    return name
  }
}
