import type { Subscriber } from "../../runtime/identity/keys.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { ClaimRule } from "../../runtime/plan/step-values.ts"
import { type CredentialStep, isCredential, shownTo } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { stepsOfRoute } from "./route-part.ts"

/** Which of the two plans something comes from. */
export type Side = "before" | "after"

/** What callers of one kind show. A token is signed as the plan of `side` has its issuer. */
export type ShownBy =
  | { readonly is: "nothing" }
  | { readonly is: "key"; readonly key: string }
  | {
      readonly is: "token"
      readonly side: Side
      readonly issuer: string
      readonly claims: Readonly<Record<string, unknown>>
    }

/** One kind of callers of a route. `name`: in words, for people. */
export interface CallerKind {
  readonly name: string
  readonly shown: ShownBy
}

/** A step that verifies tokens by the keys of issuers. */
type TokenStep = Extract<
  CredentialStep,
  { readonly issuers: readonly string[]; readonly claimStatus: unknown }
>

function verifiesByIssuers(step: CredentialStep): step is TokenStep {
  return "issuers" in step && "claimStatus" in step
}

type Claims = Readonly<Record<string, unknown>>

const subject = "caller"
/** Callers of a route that are compared; more of them are of products. */
const callersMax = 24

/** The keys of subscriptions that callers show: one for each product of the plans. */
export function issuedKeys(plans: readonly PlanBody[]): ReadonlyMap<string, Subscriber> {
  const products = new Set(plans.flatMap(({ products }) => Object.keys(products)))
  return new Map(
    [...products].map((product) => [keyOf(product), { name: `of ${product}`, product, api: undefined }]),
  )
}

const keyOf = (product: string): string => `key-of-product-${product}`

/** The kinds of callers that a route distinguishes before or after the change. Each kind occurs once. */
export function callersOf(plans: Readonly<Record<Side, PlanBody>>, key: string): readonly CallerKind[] {
  const found = new Map<string, CallerKind>()
  const add = (caller: CallerKind) => {
    if (!found.has(caller.name)) found.set(caller.name, caller)
  }
  add({ name: "without a credential", shown: { is: "nothing" } })
  for (const side of ["before", "after"] as const) {
    const plan = plans[side]
    for (const step of stepsOfRoute(plan, key).values()) {
      if (!isCredential(step)) continue
      if (verifiesByIssuers(step)) for (const each of tokensOf(plans, step, side)) add(each)
      const shown = shownTo(step)
      if (shown.is === "key") {
        add({ name: "with an unknown subscription key", shown: { is: "key", key: "unknown" } })
        for (const each of keysFor(Object.values(plans), shown.api)) add(each)
      }
    }
  }
  return [...found.values()].slice(0, callersMax)
}

/** Ways to show who one is that this comparison cannot play, in words. */
export function unplayedOf(plan: PlanBody, key: string): string[] {
  const words = {
    password: "passwords",
    certificate: "client certificates",
    signature: "signatures",
    session: "logins",
  } as const
  return [...stepsOfRoute(plan, key).values()].flatMap((step) => {
    if (!isCredential(step)) return []
    const { is } = shownTo(step)
    if (is === "token") return verifiesByIssuers(step) ? [] : ["opaque tokens"]
    return is === "key" ? [] : [words[is]]
  })
}

function keysFor(plans: readonly PlanBody[], api: string): CallerKind[] {
  const opening = plans.flatMap(({ products }) =>
    Object.entries(products).flatMap(([name, { apis }]) => (apis.includes(api) ? [name] : [])),
  )
  return [...new Set(opening)].sort().map((product) => ({
    name: `with a key of product ${product}`,
    shown: { is: "key", key: keyOf(product) },
  }))
}

/**
 * Tokens of each issuer: without the claims that the step asks for, and with them; for each audience, if the plans accept several. An issuer whose
 * address is different in the two plans signs others before and after.
 */
function tokensOf(plans: Readonly<Record<Side, PlanBody>>, step: TokenStep, side: Side): CallerKind[] {
  return step.issuers.flatMap((issuer) => {
    const [here, there] = [
      plans[side].issuers[issuer],
      plans[side === "before" ? "after" : "before"].issuers[issuer],
    ]
    const asked = claimsFor(step.claims, here?.claims ?? {})
    const known = [step.audiences, here?.audiences, there?.audiences].flatMap((each) => constants(each))
    const audiences = [...new Set(known)]
    const moved = there !== undefined && digestOf(there.source) !== digestOf(here?.source ?? null)
    const name = `with a token of ${issuer}${moved ? (side === "before" ? ", as it was" : ", as it is now") : ""}`
    const of = (words: string, claims: Claims): CallerKind => ({
      name: `${name}${words}`,
      shown: { is: "token", side, issuer, claims: { ...claims, sub: subject } },
    })
    const suffix = Object.keys(asked).length === 0 ? "" : ` with ${wordsOf(asked)}`
    return [
      of("", {}),
      ...(suffix === "" ? [] : [of(suffix, asked)]),
      ...(audiences.length < 2 ? [] : audiences.map((aud) => of(` for ${aud}${suffix}`, { ...asked, aud }))),
    ]
  })
}

function wordsOf(claims: Claims): string {
  return Object.entries(claims)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(" ") : JSON.stringify(value)}`)
    .join(", ")
}

/** Claims that meet all rules, as far as their values are constant. Dots in a name walk into objects. */
function claimsFor(rules: readonly ClaimRule[], types: Readonly<Record<string, string>>): Claims {
  const claims: Record<string, unknown> = {}
  for (const { claim, test, values, separator = " " } of rules) {
    const texts = values.filter((each) => typeof each === "string")
    const wanted = test === "has-all" ? texts : texts.slice(0, 1)
    const isList = /^list/.test(types[claim] ?? "")
    const value = test === "present" ? ["1"] : wanted
    put(claims, claim, isList ? value : value.join(separator === "" ? "" : separator))
  }
  return claims
}

function put(claims: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", ...rest] = path.split(".")
  if (rest.length === 0) claims[first] = merged(claims[first], value)
  else {
    const inner = (claims[first] ?? {}) as Record<string, unknown>
    put(inner, rest.join("."), value)
    claims[first] = inner
  }
}

/** Several rules of one claim add their values. */
function merged(before: unknown, value: unknown): unknown {
  if (before === undefined) return value
  return Array.isArray(before) ? [...before, ...[value].flat()] : `${before} ${value}`
}

/** The constant ones of texts. */
function constants(texts: readonly (Text | object)[] | null | undefined): string[] {
  return (texts ?? []).filter((each) => typeof each === "string")
}
