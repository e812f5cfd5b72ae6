import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Product } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { Word } from "../ast.ts"
import { type BoundStatement, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { mayHide } from "../bind/hidden.ts"
import type { Declaration, Program } from "../program.ts"
import type { KeyUses } from "./key-uses.ts"
import type { Values } from "./values.ts"

/** Products with those of their APIs that have routes. */
export function lowerProducts(program: Program, report: Report): PlanBody["products"] {
  const products: Record<string, Product> = {}
  const opened = new Map<string, { product: string; span: Span }>()
  for (const { name, bound } of program.all("product")) {
    const apis = new Map<string, Span>()
    for (const word of statementsOf(bound.block, "apis").flatMap(({ args }) => args.words("api"))) {
      const earlier = apis.get(word.text)
      if (earlier !== undefined) {
        report.add("SP2016", word.span, `the API \`${word.text}\` is given twice`, {
          related: [{ span: earlier, message: "the first" }],
        })
        // An unknown API is reported by the binder.
      } else if (program.find("api", word.text) !== undefined) apis.set(word.text, word.span)
    }
    products[name] = { apis: [...apis.keys()].sort(), ...termsOf(bound) }
    // Which of two open products counts a call without a key would be chance.
    if (products[name].open && !products[name].unpublished) checkOpen(name, apis, opened, report)
  }
  return products
}

/** The settings of a product except its APIs. */
function termsOf({ block }: BoundStatement): Omit<Product, "apis"> {
  const says = (keyword: string) => statementOf(block, keyword) !== undefined
  const perOwner = statementOf(block, "subscriptions")?.args.value<number>("count")
  const price = statementOf(block, "price")?.args
  const [amount, currency] = [price?.value<string>("amount"), price?.value<string>("currency")]
  return {
    ...(says("unpublished") && { unpublished: true }),
    ...(says("open") && { open: true }),
    ...(says("approval") && { approval: true }),
    ...(perOwner !== undefined && { subscriptionsPerOwner: perOwner }),
    ...(amount !== undefined && currency !== undefined && { price: { amount, currency } }),
  }
}

/** A call without a key must belong to exactly one product. */
function checkOpen(
  name: string,
  apis: ReadonlyMap<string, Span>,
  opened: Map<string, { product: string; span: Span }>,
  report: Report,
): void {
  for (const [api, span] of apis) {
    const other = opened.get(api)
    if (other === undefined) opened.set(api, { product: name, span })
    else
      report.add("SP3026", span, `\`${api}\` is in the open products \`${other.product}\` and \`${name}\``, {
        related: [{ span: other.span, message: "the other one" }],
      })
  }
}

/** Subscriptions; `keyed` are the APIs with a route that demands a key. */
export function lowerSubscriptions(
  program: Program,
  values: Values,
  keyed: ReadonlySet<string>,
  keyUses: KeyUses,
  report: Report,
): PlanBody["subscriptions"] {
  const subscriptions: PlanBody["subscriptions"] = {}
  for (const declared of program.all("subscription")) {
    const key = statementOf(declared.bound.block, "key")?.args.word("key")
    const scope = scopeOf(declared, program, report)
    const secondary = statementOf(declared.bound.block, "secondary")?.args.word("key")
    // A value would be text in the plan.
    const isSecret = (word: Word) => program.find("secret", word.text)?.kind === "secret"
    for (const word of [key, secondary]) if (word !== undefined) keyUses.add(word, "subscription")
    // The subscription is left out, so that no key opens more than the text says.
    if (scope === undefined || key === undefined || !isSecret(key)) continue
    if (secondary !== undefined && !isSecret(secondary)) continue
    for (const word of [key, secondary]) if (word !== undefined) values.needSecret(word.text)
    subscriptions[declared.name] = {
      scope: scope.plan,
      key: key.text,
      ...(secondary !== undefined && { secondary: secondary.text }),
    }
    // Damaged text may contain the `auth subscription` that seems to be missing.
    const excused =
      program.damaged || program.isMisnamed("api") || report.has("SP2009") || report.has("SP3004")
    const covered = scope.apis === "all" ? [...keyed] : scope.apis
    if (!excused && !covered.some((api) => keyed.has(api))) {
      report.add(
        "SP3018",
        declared.span,
        `none of its operations requires a subscription key, so \`${declared.name}\` is never used`,
      )
    }
  }
  return subscriptions
}

/** What a subscription gives access to. */
function scopeOf(
  { bound, name }: Declaration,
  program: Program,
  report: Report,
): { plan: PlanBody["subscriptions"][string]["scope"]; apis: string[] | "all" } | undefined {
  const { block } = bound
  const said = ["product", "api"].flatMap((keyword) => statementOf(block, keyword) ?? [])
  const [first, second] = said
  if (first !== undefined && second !== undefined) {
    report.add(
      "SP2017",
      second.statement.keyword.span,
      "a subscription has either `product` or `api`, not both",
      {
        related: [{ span: first.statement.keyword.span, message: `\`${first.row.keyword}\`` }],
      },
    )
    return undefined
  }
  if (!["product", "api"].some((keyword) => mentions(block, keyword))) {
    // A damaged block may have had the statement.
    if (block !== undefined && !["product", "api"].some((keyword) => mayHide(block, keyword)))
      report.add("SP2009", headSpan(bound.statement), `\`${name}\` has neither \`product\` nor \`api\``, {
        help: "Add `product NAME`, or `api NAME`.",
      })
    return undefined
  }
  const product = statementOf(block, "product")
  const api = statementOf(block, "api")
  // `api *` has no name.
  if (api !== undefined && api.args.filled.length === 0) return { plan: { all: true }, apis: "all" }
  const found = program.find(
    product === undefined ? "api" : "product",
    (product?.args.word("product") ?? api?.args.word("api"))?.text ?? "",
  )
  if (found === undefined) return undefined
  if (found.kind === "api") return { plan: { api: found.name }, apis: [found.name] }
  const apis = statementsOf(found.bound.block, "apis").flatMap(({ args }) =>
    args.words("api").map((word) => word.text),
  )
  return { plan: { product: found.name }, apis }
}
