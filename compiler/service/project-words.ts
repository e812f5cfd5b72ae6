import type { CelType } from "../../runtime/expression/types.ts"
import type { Compiled } from "../compile.ts"
import type { BoundBlock, BoundStatement } from "../gateway/bind/bound.ts"

/** Words that a project uses without declaring them: names of headers, of query parameters, and of claims. Completion proposes them again. */
export class ProjectWords {
  /** As first written; names that differ only in case are one. */
  readonly #headers = new Map<string, string>()
  readonly #queries = new Set<string>()
  readonly #claims = new Map<string, CelType>()

  constructor({ program, insight, described }: Pick<Compiled, "program" | "insight" | "described">) {
    this.#visit(program.root)
    for (const contexts of insight.contexts.values())
      for (const { claims } of contexts)
        if (claims !== "any")
          for (const [name, type] of Object.entries(claims ?? {})) this.#claims.set(name, type)
    for (const { source } of insight.contexts.keys()) this.#expression(source)
    for (const { operation } of described.values())
      for (const { in: place, name } of operation.parameters) {
        if (place === "header") this.#addHeader(name)
        if (place === "query") this.#queries.add(name)
      }
  }

  get headers(): readonly string[] {
    return [...this.#headers.values()].sort()
  }

  get queries(): readonly string[] {
    return [...this.#queries].sort()
  }

  /** With their types; `dyn` for a claim that no issuer declares. */
  get claims(): ReadonlyMap<string, CelType> {
    return this.#claims
  }

  #addHeader(name: string): void {
    const key = name.toLowerCase()
    if (!this.#headers.has(key)) this.#headers.set(key, name)
  }

  #addClaim(name: string): void {
    if (!this.#claims.has(name)) this.#claims.set(name, "dyn")
  }

  #visit(block: BoundBlock | undefined): void {
    for (const statement of block?.statements ?? []) {
      this.#statement(statement)
      this.#visit(statement.block)
      this.#visit(statement.otherwise)
    }
  }

  #statement({ args }: BoundStatement): void {
    for (const { slot, argument } of args.filled) {
      const [part] = argument.kind === "text" ? argument.parts : []
      if (part?.kind !== "literal") continue
      if (slot.kind === "header-name") this.#addHeader(part.value)
      if (slot.kind === "query-name") this.#queries.add(part.value)
    }
    for (const { text } of args.filled.flatMap(({ argument }) =>
      argument.kind === "word" ? [argument] : [],
    )) {
      const claim = /^jwt\.([A-Za-z_]\w*)$/.exec(text)?.[1]
      if (claim !== undefined) this.#addClaim(claim)
    }
  }

  #expression(source: string): void {
    for (const [, what, name = ""] of source.matchAll(/\.(headers?|query|queries)\(\s*"([^"\\\n]+)"/g)) {
      if (what?.startsWith("header") === true) this.#addHeader(name)
      else this.#queries.add(name)
    }
    for (const [, claim = ""] of source.matchAll(/\bjwt\.([A-Za-z_]\w*)(?!\w*\()/g)) this.#addClaim(claim)
    for (const [, name = ""] of source.matchAll(/(?<![\w.])query\.([A-Za-z_]\w*)/g)) this.#queries.add(name)
  }
}
