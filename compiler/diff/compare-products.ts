import type { PlanBody } from "../../runtime/plan/plan.ts"
import { breaking, closes, type Finding, neutral, opens } from "./finding.ts"
import { listChanges, ownOf, pairsOf } from "./same.ts"
import { type Told, tell } from "./told.ts"
import { listWords } from "./words.ts"

type Subscription = PlanBody["subscriptions"][string]

/** Products and subscriptions: which APIs a key opens, and for whom. */
export function compareProducts(before: PlanBody, after: PlanBody): Told[] {
  return [...productChanges(before, after), ...subscriptionChanges(before, after)]
}

function productChanges(before: PlanBody, after: PlanBody): Told[] {
  return pairsOf(before.products, after.products).flatMap(({ key: name, old, next }) => {
    const about = {
      subject: { kind: "product", name },
      scope: { kind: "product", name },
      path: `products.${name}`,
    } as const
    const words = (apis: readonly string[]) => `product ${name} { apis ${apis.join(" ")} }`
    if (next === undefined)
      return [
        tell(
          { ...about, action: "removed", before: words(old?.apis ?? []) },
          neutral("what its subscriptions open is told there"),
        ),
      ]
    if (old === undefined)
      return [
        tell(
          { ...about, action: "added", after: words(next.apis) },
          neutral("it opens nothing before somebody has a subscription to it"),
        ),
      ]
    if (words(old.apis) === words(next.apis)) return []
    const { removed, added } = listChanges(old.apis, next.apis)
    const who = subscribersOf(name, after)
    const findings: Finding[] = []
    if (added.length > 0) findings.push(opens(`${who} may call ${apiWords(added)}`))
    if (removed.length > 0) findings.push(closes(`${who} may not call ${apiWords(removed)} any more`))
    if (findings.length === 0) findings.push(neutral("the same APIs, listed in another way"))
    return [tell({ ...about, action: "changed", before: words(old.apis), after: words(next.apis) }, findings)]
  })
}

function subscribersOf(product: string, { subscriptions }: PlanBody): string {
  const names = Object.entries(subscriptions)
    .filter(([, { scope }]) => "product" in scope && scope.product === product)
    .map(([name]) => `\`${name}\``)
    .sort()
  return names.length === 0 ? "who subscribes to it" : listWords(names)
}

function subscriptionChanges(before: PlanBody, after: PlanBody): Told[] {
  return pairsOf(before.subscriptions, after.subscriptions).flatMap(({ key: name, old, next }) => {
    const about = {
      subject: { kind: "subscription", name },
      scope: { kind: "subscription", name },
      path: `subscriptions.${name}`,
    } as const
    const words = ({ scope, key }: Subscription) =>
      `subscription ${name} { ${"product" in scope ? `product ${scope.product}` : `api ${scope.api}`}; key ${key} }`
    if (old === undefined && next !== undefined)
      return [
        tell(
          { ...about, action: "added", after: words(next) },
          opens(`who has the key may call ${apiWords(apisOf(next, after))}`),
        ),
      ]
    if (old !== undefined && next === undefined)
      return [
        tell(
          { ...about, action: "removed", before: words(old) },
          closes(`who has the key may not call ${apiWords(apisOf(old, before))} any more`),
        ),
      ]
    if (old === undefined || next === undefined || words(old) === words(next)) return []
    return [
      tell(
        { ...about, action: "changed", before: words(old), after: words(next) },
        scopeChanges(old, next, before, after),
      ),
    ]
  })
}

function scopeChanges(old: Subscription, next: Subscription, before: PlanBody, after: PlanBody): Finding[] {
  const { removed, added } = listChanges(apisOf(old, before), apisOf(next, after))
  const findings: Finding[] = []
  if (added.length > 0) findings.push(opens(`who has the key may call ${apiWords(added)}`))
  if (removed.length > 0) findings.push(closes(`who has the key may not call ${apiWords(removed)} any more`))
  if (old.key !== next.key)
    findings.push(breaking(`the key is the secret \`${next.key}\`; the old one is refused`))
  return findings.length > 0 ? findings : [neutral("it opens the same APIs")]
}

function apisOf({ scope }: Subscription, { products }: PlanBody): readonly string[] {
  return "product" in scope ? (ownOf(products, scope.product)?.apis ?? []) : [scope.api]
}

function apiWords(apis: readonly string[]): string {
  return apis.length === 0 ? "nothing" : listWords(apis.map((api) => `\`${api}\``))
}
