import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import type { Declaration, Program } from "../program.ts"
import type { KeyUses } from "./key-uses.ts"
import type { Values } from "./values.ts"

/** Products with those of their APIs that have routes. */
export function lowerProducts(program: Program, report: Report): PlanBody["products"] {
  const products: PlanBody["products"] = {}
  for (const { name, bound } of program.all("product")) {
    const apis = new Map<string, Span>()
    for (const word of statementsOf(bound.block, "apis").flatMap(({ args }) => args.words("api"))) {
      const earlier = apis.get(word.text)
      if (earlier !== undefined) {
        report.add("SP2016", word.span, `the API \`${word.text}\` is there twice`, {
          related: [{ span: earlier, message: "the first" }],
        })
      } else if (program.find("api", word.text) !== undefined) apis.set(word.text, word.span)
    }
    products[name] = { apis: [...apis.keys()].sort() }
  }
  return products
}

/** Subscriptions; `keyed` are the APIs with a route that asks for a key. */
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
    if (key !== undefined) keyUses.add(key, "subscription")
    if (scope === undefined || key === undefined || program.find("secret", key.text)?.kind !== "secret")
      continue
    values.needSecret(key.text)
    subscriptions[declared.name] = { scope: scope.plan, key: key.text }
    const excused = program.damaged || program.isMisnamed("api")
    if (!excused && !scope.apis.some((api) => keyed.has(api))) {
      report.add(
        "SP3018",
        declared.span,
        `no operation it covers asks for a key, so \`${declared.name}\` is never looked at`,
      )
    }
  }
  return subscriptions
}

function scopeOf(
  { bound, name }: Declaration,
  program: Program,
  report: Report,
): { plan: PlanBody["subscriptions"][string]["scope"]; apis: string[] } | undefined {
  const { block } = bound
  const product = statementOf(block, "product")
  const api = statementOf(block, "api")
  if (product !== undefined && api !== undefined) {
    report.add("SP2017", api.statement.keyword.span, "a subscription opens a product or one API", {
      related: [{ span: product.statement.keyword.span, message: "`product`" }],
    })
    return undefined
  }
  if (!mentions(block, "product") && !mentions(block, "api")) {
    if (block?.damaged === false)
      report.add("SP2009", headSpan(bound.statement), `\`${name}\` has neither \`product\` nor \`api\``, {
        help: "Add `product NAME`, or `api NAME`.",
      })
    return undefined
  }
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
