import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { Operation, Requirement } from "../../openapi/api-document.ts"
import type { Statement, TextArgument, Word } from "../ast.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import { Constants } from "../bind/constants.ts"
import { bindStatements } from "../bind.ts"
import type { PartRecorder, Unmet } from "../recorder.ts"
import type { RouteSource } from "../routes.ts"
import { blocks } from "../schema/blocks.ts"
import { auth } from "../schema/scopes.ts"
import { Memo } from "./memo.ts"
import type { Item } from "./scope.ts"

/** Operations with security demands that gateway.conf does not map to `auth`, grouped by demand. */
interface UnmetDemand extends Unmet {
  readonly demand: string
  readonly routes: Set<string>
}

const operationDepth = 4

/** The `auth` of operations whose documents demand security. */
export class DescribedAuth {
  readonly #report: Report
  readonly #recorder: PartRecorder | undefined
  readonly #memo: Memo
  readonly #unmet = new Map<string, UnmetDemand>()

  /** `recorder` notes what is reported after all routes. */
  constructor(report: Report, recorder?: PartRecorder) {
    this.#report = report
    this.#recorder = recorder
    this.#memo = new Memo(recorder)
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
    this.tellUnmet({ statement: described.described.statement, operation, route: key })
    return undefined
  }

  /** Call it after all routes. */
  report(): void {
    for (const { statement, operation, route, demand, routes } of this.#unmet.values()) {
      const count = routes.size
      const more =
        count === 1 ? "" : `, and ${count - 1} more of this document ${count === 2 ? "does" : "do"}`
      this.#report.add("SP8010", operation.span, `the document requires ${demand} for \`${route}\`${more}`, {
        related: [{ span: headSpan(statement.statement), message: "the document is declared here" }],
        // A route has one `auth`: mapping each of the schemes does not help.
        ...((operation.security ?? []).every(({ schemes }) => schemes.length > 1) && {
          help: "Schemes that are demanded together cannot be mapped. Write `auth` in the operation for one of them, and let the backend, or a `policy`, check the others.",
        }),
      })
    }
  }

  /** Notes an operation whose demand nothing meets. */
  tellUnmet(each: Unmet): void {
    this.#recorder?.note(({ describedAuth }) => describedAuth.tellUnmet(each))
    const { statement, operation, route } = each
    const demand = (operation.security ?? []).map(wordsOf).join(" or ")
    const { file, start } = statement.statement.span
    const key = `${start} ${file.path} ${demand}`
    const known = this.#unmet.get(key)
    if (known === undefined) this.#unmet.set(key, { ...each, demand, routes: new Set([route]) })
    else known.routes.add(route)
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
    const key = `${this.#memo.idOf(mapping)} ${JSON.stringify([...scopes].sort())}`
    return this.#memo.once(key, () => this.#make(mapping, scopes, at ?? headSpan(mapping.statement)))
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
