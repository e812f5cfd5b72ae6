import type { Report } from "../../core/diagnostic.ts"
import type { Statement, Word } from "../ast.ts"
import { type BoundBlock, type BoundStatement, statementsOf } from "../bind/bound.ts"
import { mayHide } from "../bind/hidden.ts"
import { cuttable } from "../bind/names.ts"
import { checkPolicies, usesMax } from "../check/policies.ts"
import type { Program } from "../program.ts"
import type { RouteScope } from "../routes.ts"

/** A statement that applies to a route, and where it is written. */
export interface Item {
  readonly bound: BoundStatement
  /** The scope's name in counters. Statements of a policy belong to the scope that uses it. */
  readonly scope: string
  /** The scope's level from the outside: 0 gateway, 1 product, 2 API, 3 version, 4 operation. */
  readonly depth: number
  /** The policies through which it was inserted. */
  readonly via: readonly string[]
  readonly product: string | undefined
}

function isInside({ span }: Word, statement: Statement): boolean {
  const { file, start, end } = statement.span
  return span.file === file && start <= span.start && span.end <= end
}

/** Declarations whose blocks can be around a route, or used there. */
const declarations = ["gateway", "product", "policy", "api"]

const kinds: ReadonlySet<string> = new Set([...cuttable, "respond", "policy"])

/**
 * Finds the statements that apply in a scope: its own in textual order, with `use` replaced by the policy's statements, and the outer ones
 * that `without` does not remove.
 */
export class Scopes {
  readonly #program: Program
  readonly #report: Report
  readonly #without = new Map<Word, boolean>()
  readonly #products = new Map<string, Item[]>()
  /** Policies with too many uses. They are already reported, so only their own statements are expanded. */
  readonly #excessive: ReadonlySet<string>
  #uses = 0

  /** Statements of products apply to every route of their APIs. */
  constructor(program: Program, report: Report) {
    this.#program = program
    this.#report = report
    this.#excessive = checkPolicies(program, report)
    for (const { name, bound } of program.all("product")) {
      const counted = ["limit", "quota", "policy"].flatMap((keyword) => statementsOf(bound.block, keyword))
      const items = counted.map((each) => ({
        bound: each,
        scope: `product ${name}`,
        depth: 1,
        via: [],
        product: name,
      }))
      const apis = new Set(
        statementsOf(bound.block, "apis").flatMap((each) => each.args.words("api").map((word) => word.text)),
      )
      for (const api of apis) this.#products.set(api, [...(this.#products.get(api) ?? []), ...items])
    }
  }

  /** Outer items, then the scope's own. */
  inside(outer: readonly Item[], scope: RouteScope, depth: number): Item[] {
    let kept = outer
    for (const statement of statementsOf(scope.block, "without")) {
      for (const word of statement.args.words("name")) kept = this.#cut(kept, word)
    }
    this.#uses = 0
    return [...kept, ...this.#own(scope.block, scope.label, depth, [])]
  }

  /** Limits of the products that include the API. */
  productItems(api: string): readonly Item[] {
    return this.#products.get(api) ?? []
  }

  /** Call it after all routes: reports each `without` that never removed anything. */
  reportIdle(): void {
    const { root } = this.#program
    // A declaration that was not understood may be one around the route, with what `without` removes.
    if (declarations.some((each) => mayHide(root, each))) return
    for (const [word, cut] of this.#without) {
      const policy = this.#program.find("policy", word.text)
      if (cut || (policy === undefined && !cuttable.includes(word.text))) continue
      // A policy comes with `use`, and so may a statement.
      const searched = policy === undefined ? [word.text, "use"] : ["use"]
      const around = [...this.#shared(), ...this.#blocksAround(word)]
      if (around.some((block) => searched.some((each) => mayHide(block, each)))) continue
      this.#report.add("SP3012", word.span, `no outer block has a \`${word.text}\` that applies here`)
    }
  }

  /** Blocks that apply to several APIs. */
  #shared(): readonly (BoundBlock | undefined)[] {
    const declared = (["policy", "product"] as const).flatMap((kind) => this.#program.all(kind))
    return [this.#program.gateway?.block, ...declared.map(({ bound }) => bound.block)]
  }

  /** The API of a route with this word, and its versions: operations outside of a version belong to each. */
  #blocksAround(word: Word): (BoundBlock | undefined)[] {
    const api = this.#program.all("api").find(({ bound }) => isInside(word, bound.statement))?.bound.block
    const versions = api?.statements.filter(({ row }) => row.keyword === "version") ?? []
    return [api, ...versions.map(({ block }) => block)]
  }

  #cut(items: readonly Item[], word: Word): readonly Item[] {
    const keyword = cuttable.includes(word.text)
    const kept = items.filter(({ bound, via }) =>
      keyword ? bound.row.keyword !== word.text : !via.includes(word.text),
    )
    this.#without.set(word, (this.#without.get(word) ?? false) || kept.length < items.length)
    return kept
  }

  /** Statements of a block and, in their place, those of the policies it uses. `via`: the policies that led here. */
  #own(block: BoundBlock | undefined, scope: string, depth: number, via: readonly string[]): Item[] {
    const items: Item[] = []
    const used = new Set<string>()
    for (const bound of block?.statements ?? []) {
      if (kinds.has(bound.row.keyword)) items.push({ bound, scope, depth, via, product: undefined })
      if (bound.row.keyword !== "use" || this.#excessive.has(via.at(-1) ?? "")) continue
      for (const word of bound.args.words("policy")) items.push(...this.#use(word, used, scope, depth, via))
    }
    return items
  }

  /** A policy inside itself ends here without a finding; `checkPolicies` reports the cycle. */
  #use(word: Word, used: Set<string>, scope: string, depth: number, via: readonly string[]): Item[] {
    const policy = this.#program.find("policy", word.text)
    if (policy === undefined) return []
    if (via.includes(policy.name)) return []
    if (used.has(policy.name)) {
      this.#report.add("SP2016", word.span, `the policy \`${policy.name}\` is used twice in this block`)
      return []
    }
    used.add(policy.name)
    this.#uses += 1
    if (this.#uses > usesMax) {
      if (this.#uses === usesMax + 1)
        this.#report.add(
          "SP3016",
          word.span,
          `policies that use policies are used more than ${usesMax} times in one block`,
        )
      return []
    }
    return this.#own(policy.bound.block, `${scope} policy ${policy.name}`, depth, [...via, policy.name])
  }
}
