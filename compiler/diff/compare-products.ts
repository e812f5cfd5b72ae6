import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Product } from "../../runtime/plan/resources.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listChanges, ownOf, pairsOf, same } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"
import { effectsOfAdding, effectsOfRemoving } from "./step-effects.ts"
import { inside } from "./step-touch.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

type Subscription = PlanBody["subscriptions"][string]

/** Compares products and subscriptions: which APIs a key opens, and for which callers. */
export function compareProducts(before: PlanBody, after: PlanBody): UnplacedChange[] {
  return [...productChanges(before, after), ...subscriptionChanges(before, after)]
}

/** Products: which APIs their keys give access to. */
function productChanges(before: PlanBody, after: PlanBody): UnplacedChange[] {
  return pairsOf(before.products, after.products).flatMap(({ key: name, old, next }) => {
    const about = {
      subject: { kind: "product", name },
      scope: { kind: "product", name },
      path: `products.${name}`,
    } as const
    const words = (product: Product | undefined) => productWords(name, product)
    if (next === undefined)
      return [
        changeOf({ ...about, action: "removed", before: words(old) }, [
          closes("issued keys for it are no longer valid"),
          // An open product admits callers without a key. They lose access too, but not because of a key.
          ...(old !== undefined && isOpen(old) ? [closedWithoutKey(old)] : []),
        ]),
      ]
    if (old === undefined)
      return [
        changeOf(
          { ...about, action: "added", after: words(next) },
          isOpen(next)
            ? opens(`callers without a key may call ${apiWords(next.apis)}`)
            : neutral("it has no effect until there is a subscription to it"),
        ),
      ]
    // Compared by their text: fields that mean the same (`open false`, no `open`) are no difference.
    if (words(old) === words(next)) return []
    const { removed, added } = listChanges(old.apis, next.apis)
    const who = subscribersOf(name, after)
    const findings: Finding[] = []
    if (added.length > 0) findings.push(opens(`${who} may call ${apiWords(added)}`))
    if (removed.length > 0) findings.push(closes(`${who} may no longer call ${apiWords(removed)}`))
    findings.push(...termChanges(old, next))
    if (findings.length === 0) findings.push(neutral("the same APIs, listed in another way"))
    return [changeOf({ ...about, action: "changed", before: words(old), after: words(next) }, findings)]
  })
}

/** An unpublished product admits no callers without a key, even if it is `open`. */
function isOpen({ open, unpublished }: Product): boolean {
  return open === true && unpublished !== true
}

/** What callers without a key lose when the product is closed. */
function closedWithoutKey({ apis }: Product): Finding {
  return closes(`${apiWords(apis)} can no longer be called without a key`)
}

/** The changes of a product except its APIs. */
function termChanges(old: Product, next: Product): Finding[] {
  const findings: Finding[] = []
  if (isOpen(old) !== isOpen(next))
    findings.push(
      isOpen(next) ? opens(`callers without a key may call ${apiWords(next.apis)}`) : closedWithoutKey(old),
    )
  if (old.unpublished !== next.unpublished)
    findings.push(
      next.unpublished
        ? closes("no new subscriptions to it are possible; issued keys stay valid")
        : opens("callers can subscribe to it"),
    )
  if (old.approval !== next.approval)
    findings.push(
      next.approval
        ? closes("new subscriptions must now be approved")
        : opens("new subscriptions no longer need an approval"),
    )
  // Without a number, an owner may have any number of subscriptions.
  const most = ({ subscriptionsPerOwner }: Product) => subscriptionsPerOwner ?? Number.POSITIVE_INFINITY
  if (most(old) !== most(next))
    findings.push(
      (most(next) > most(old) ? opens : closes)(
        `an owner can have ${next.subscriptionsPerOwner ?? "any number of"} subscriptions to it`,
      ),
    )
  // A price changes invoices, not access.
  if (priceWords(old) !== priceWords(next))
    findings.push(
      neutral(`a call costs ${priceWords(next) ?? "nothing"} instead of ${priceWords(old) ?? "nothing"}`),
    )
  return findings
}

function priceWords({ price }: Product): string | undefined {
  return price === undefined ? undefined : `${price.amount} ${price.currency}`
}

/** A product as it is written in gateway.conf. */
function productWords(name: string, product: Product | undefined): string {
  const { apis = [], open, unpublished, approval, subscriptionsPerOwner, price } = product ?? {}
  const statements = [
    `apis ${apis.join(" ")}`,
    ...(open ? ["open"] : []),
    ...(unpublished ? ["unpublished"] : []),
    ...(approval ? ["approval required"] : []),
    ...(subscriptionsPerOwner === undefined ? [] : [`subscriptions ${subscriptionsPerOwner} per owner`]),
    ...(price === undefined ? [] : [`price ${price.amount} ${price.currency} per call`]),
  ]
  return `product ${name} { ${statements.join("; ")} }`
}

/** The subscriptions in gateway.conf. Issued keys are in the database, which a comparison of plans does not read. */
function subscribersOf(product: string, { subscriptions }: PlanBody): string {
  const names = Object.entries(subscriptions)
    .filter(([, { scope }]) => "product" in scope && scope.product === product)
    .map(([name]) => `\`${name}\``)
    .sort()
  return names.length === 0 ? "subscribers" : listWords(names)
}

/** Subscriptions of gateway.conf. */
function subscriptionChanges(before: PlanBody, after: PlanBody): UnplacedChange[] {
  return pairsOf(before.subscriptions, after.subscriptions).flatMap(({ key: name, old, next }) => {
    const about = {
      subject: { kind: "subscription", name },
      scope: { kind: "subscription", name },
      path: `subscriptions.${name}`,
    } as const
    // Names of secrets, never their values: a plan does not contain them.
    const words = ({ scope, key, secondary }: Subscription) =>
      `subscription ${name} { ${scopeWords(scope)}; key ${key}${secondary === undefined ? "" : `; secondary ${secondary}`} }`
    if (old === undefined && next !== undefined)
      return [
        changeOf(
          { ...about, action: "added", after: words(next) },
          opens(`callers with the key may call ${apiWords(apisOf(next, after))}`),
        ),
      ]
    if (old !== undefined && next === undefined)
      return [
        changeOf(
          { ...about, action: "removed", before: words(old) },
          closes(`callers with the key may no longer call ${apiWords(apisOf(old, before))}`),
        ),
      ]
    // Values of the secrets are compared with the secrets (`secretChange`).
    if (old === undefined || next === undefined || words(old) === words(next)) return []
    return [
      changeOf(
        { ...about, action: "changed", before: words(old), after: words(next) },
        scopeChanges(old, next, before, after),
      ),
    ]
  })
}

/** What the callers with a key gain or lose, and which keys stop working. */
function scopeChanges(old: Subscription, next: Subscription, before: PlanBody, after: PlanBody): Finding[] {
  const { removed, added } = listChanges(apisOf(old, before), apisOf(next, after))
  const findings: Finding[] = []
  if (added.length > 0) findings.push(opens(`callers with the key may call ${apiWords(added)}`))
  if (removed.length > 0)
    findings.push(closes(`callers with the key may no longer call ${apiWords(removed)}`))
  findings.push(...productStatements(old, next, before, after))
  // An additional key shuts nobody out, a replaced one does.
  const keys = listChanges(keysOf(old), keysOf(next))
  if (keys.removed.length > 0) {
    const now = keysOf(next).map((key) => `\`${key}\``)
    const is = now.length === 1 ? "the key is the secret" : "the keys are the secrets"
    findings.push(breaking(`${is} ${listWords(now)}; the old one is refused`))
  } else for (const key of keys.added) findings.push(opens(`the secret \`${key}\` is now also its key`))
  return findings.length > 0 ? findings : [neutral("it still gives access to the same APIs")]
}

/** The effects for a subscription that moves to another product: the limits and other statements of the old product no longer apply. */
function productStatements(
  old: Subscription,
  next: Subscription,
  before: PlanBody,
  after: PlanBody,
): Finding[] {
  const [was, is] = [productOf(old), productOf(next)]
  if (was === is) return []
  const [gone, come] = [statementsOf(was, before), statementsOf(is, after)]
  // Both products have statements of the same content: only the names differ, and nothing changes for the caller.
  if (same(Object.keys(gone).sort(), Object.keys(come).sort())) return []
  const changes = (findings: readonly Finding[], how: string) =>
    findings.map(({ risk, why }) => ({ risk, why: `${how}: ${why}` }))
  return [
    ...changes(
      Object.values(gone).flatMap((step) => effectsOfRemoving(step, before.steps)),
      `its calls no longer belong to the product \`${was}\``,
    ),
    ...changes(
      Object.values(come).flatMap((step) => effectsOfAdding(step, after.steps)),
      `its calls belong to the product \`${is}\``,
    ),
  ]
}

function productOf({ scope }: Subscription): string | undefined {
  return "product" in scope ? scope.product : undefined
}

/** Steps that run only for calls of a product, keyed by their content without the product's name. */
function statementsOf(product: string | undefined, { steps }: PlanBody): Record<string, Step> {
  if (product === undefined) return {}
  // The lowering writes exactly this condition around the statements of a product (`lower/limits.ts`), so it identifies them.
  const test = `subscription.product == ${JSON.stringify(product)}`
  const own = Object.values(steps).filter((step) => "test" in step && step.test.text.includes(test))
  const nameless = (step: Step) =>
    // Counters and conditions contain the product's name. Without it, equal statements of two products have equal keys.
    canonicalJson(["test" in step && step.test.text, inside(step, steps)])
      .replaceAll(JSON.stringify(test).slice(1, -1), "")
      .replaceAll(`product ${product}`, "")
  return Object.fromEntries(own.map((step) => [nameless(step), step]))
}

function keysOf({ key, secondary }: Subscription): readonly string[] {
  return secondary === undefined ? [key] : [key, secondary]
}

function scopeWords(scope: Subscription["scope"]): string {
  if ("product" in scope) return `product ${scope.product}`
  return "api" in scope ? `api ${scope.api}` : "api *"
}

function apisOf({ scope }: Subscription, { products, routes }: PlanBody): readonly string[] {
  if ("product" in scope) return ownOf(products, scope.product)?.apis ?? []
  // `api *` means the APIs of this plan: a plan with another API extends the subscription.
  return "api" in scope ? [scope.api] : [...new Set(Object.values(routes).map(({ api }) => api))].sort()
}

function apiWords(apis: readonly string[]): string {
  return apis.length === 0 ? "nothing" : listWords(apis.map((api) => `\`${api}\``))
}
