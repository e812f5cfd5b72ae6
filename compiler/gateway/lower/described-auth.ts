import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { Operation, Requirement } from "../../openapi/api-document.ts"
import type { Statement, TextArgument, Word } from "../ast.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import { Constants } from "../bind/constants.ts"
import { bindStatements } from "../bind.ts"
import type { Described } from "../described.ts"
import type { RouteSource } from "../routes.ts"
import { blocks } from "../schema/blocks.ts"
import { auth } from "../schema/scopes.ts"
import type { Item } from "./scope.ts"

/** Operations with security demands that gateway.conf does not map to `auth`, grouped by demand. */
interface Unmet {
  readonly described: Described
  readonly route: string
  readonly demand: string
  readonly span: Span
  count: number
}

const operationDepth = 4

/** The `auth` of operations whose documents demand security. */
export class DescribedAuth {
  readonly #report: Report
  readonly #made = new Map<BoundStatement, Map<string, BoundStatement>>()
  readonly #unmet = new Map<string, Unmet>()

  constructor(report: Report) {
    this.#report = report
  }

  /**
   * The `auth` statements of a route. `nearest` is the nearest `auth` of gateway.conf and is used if it belongs to the operation.
   * Otherwise, `openapi { security … }` maps the demanded schemes. Without a mapping, `nearest` is used, except `auth none` if the document
   * demands security. Undefined in that last case (reported).
   */
  of({ described, scopes, key }: RouteSource, nearest: readonly Item[]): readonly Item[] | undefined {
    if (described === undefined || nearest.some(({ depth }) => depth === operationDepth)) return nearest
    const { operation } = described
    const mappings = statementsOf(described.described.statement.block, "security")
    const mapped = this.#mapped(operation, mappings)
    if (mapped.length > 0) {
      const label = scopes.operation.label
      return mapped.map((bound) => ({
        bound,
        scope: label,
        depth: operationDepth,
        via: [],
        product: undefined,
      }))
    }
    if (!demands(operation)) return nearest
    const open = nearest.length === 0 || nearest.some(({ bound }) => isNone(bound))
    if (!open && mappings.length === 0) return nearest
    this.#note(described.described, operation, key)
    return undefined
  }

  /** Call it after all routes. */
  report(): void {
    for (const { described, route, demand, span, count } of this.#unmet.values()) {
      const more =
        count === 1 ? "" : `, and ${count - 1} more of this document ${count === 2 ? "does" : "do"}`
      this.#report.add("SP8010", span, `the document requires ${demand} for \`${route}\`${more}`, {
        related: [
          { span: headSpan(described.statement.statement), message: "the document is declared here" },
        ],
      })
    }
  }

  #note(described: Described, { security, span }: Operation, route: string): void {
    const demand = (security ?? []).map(wordsOf).join(" or ")
    const key = `${described.statement.statement.span.start} ${described.statement.statement.span.file.path} ${demand}`
    const known = this.#unmet.get(key)
    if (known === undefined) this.#unmet.set(key, { described, route, demand, span, count: 1 })
    else known.count += 1
  }

  /** The `auth` statements for an operation of a document. No demand of the document, or an empty one, gives those without a scheme. */
  #mapped({ security }: Operation, mappings: readonly BoundStatement[]): BoundStatement[] {
    if (
      security === undefined ||
      security.length === 0 ||
      security.every(({ schemes }) => schemes.length === 0)
    )
      return mappings
        .filter((each) => each.args.value("scheme") === undefined)
        .map((each) => this.#auth(each, []))
    const ways = security.flatMap(({ schemes }) => {
      const [only] = schemes
      // A demand for two schemes at once cannot be expressed as a list of alternatives.
      if (only === undefined || schemes.length > 1) return []
      return mappings
        .filter((each) => each.args.value<string>("scheme") === only.name)
        .map((each) => this.#auth(each, only.scopes, only.span))
    })
    // Schemes that map to the same `auth` (a bearer token described twice) yield one statement.
    return [...new Map(ways.map((way) => [wayOf(way), way])).values()]
  }

  /** The `auth` of a `security SCHEME` line, with the demanded scopes. */
  #auth(mapping: BoundStatement, scopes: readonly string[], at?: Span): BoundStatement {
    let made = this.#made.get(mapping)
    if (made === undefined) {
      made = new Map()
      this.#made.set(mapping, made)
    }
    const key = JSON.stringify([...scopes].sort())
    let bound = made.get(key)
    if (bound === undefined) {
      bound = this.#make(mapping, scopes, at ?? headSpan(mapping.statement))
      made.set(key, bound)
    }
    return bound
  }

  /** Makes an `auth` of `security SCHEME auth …`. Scopes that the document demands become a rule on the claim `scope`. */
  #make(mapping: BoundStatement, scopes: readonly string[], at: Span): BoundStatement {
    const form = auth.forms[mapping.row.forms.indexOf(mapping.form)] ?? mapping.form
    const { keyword, args, ...rest } = mapping.statement
    // Remove the words `SCHEME auth`, which precede the arguments of `auth`.
    const statement: Statement = { ...rest, keyword: { ...keyword, text: "auth" }, args: args.slice(2) }
    const name = form.block
    const takesClaims = name !== undefined && blocks[name].rows.some((row) => row.keyword === "claim")
    if (scopes.length === 0 || name === undefined || !takesClaims)
      return { ...mapping, row: auth, form, statement }
    const claim = bindStatements(name, [claimStatement(scopes, at)], undefined, {
      report: this.#report,
      constants: new Constants([]),
    })
    const block: BoundBlock = {
      name,
      statements: [...(mapping.block?.statements ?? []), ...claim.statements],
      damaged: mapping.block?.damaged ?? false,
      guesses: mapping.block?.guesses ?? [],
      unknown: mapping.block?.unknown ?? [],
    }
    return { ...mapping, row: auth, form, statement, block }
  }
}

/** `claim scope has all "…"`, placed where the document demands the scopes. */
function claimStatement(scopes: readonly string[], span: Span): Statement {
  const word = (text: string): Word => ({ kind: "word", text, span })
  const text = (value: string): TextArgument => ({
    kind: "text",
    form: "quoted",
    parts: value === "" ? [] : [{ kind: "literal", value, span }],
    span,
  })
  const args = [word("scope"), word("has"), word("all"), ...scopes.map(text)]
  return { keyword: word("claim"), args, block: undefined, otherwise: undefined, broken: false, span }
}

function demands({ security }: Operation): boolean {
  return (
    security !== undefined && security.length > 0 && !security.some(({ schemes }) => schemes.length === 0)
  )
}

function isNone({ statement }: BoundStatement): boolean {
  const [word] = statement.args
  return word?.kind === "word" && word.text === "none"
}

/** The text of a generated `auth`, without the name of its scheme. */
function wayOf({ statement, block }: BoundStatement): string {
  const [first] = statement.args
  const written = first === undefined ? "" : first.span.file.text.slice(first.span.start, statement.span.end)
  const scopes = (block?.statements ?? []).map((each) =>
    each.statement.args.flatMap((arg) =>
      arg.kind === "text" ? arg.parts.map((part) => ("value" in part ? part.value : "")) : [],
    ),
  )
  return JSON.stringify([first?.span.file.path, written, scopes])
}

function wordsOf({ schemes }: Requirement): string {
  return schemes.map(({ name }) => `\`${name}\``).join(" and ")
}
