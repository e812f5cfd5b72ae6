import { claimAt } from "../../identity/claim-at.ts"
import type { Claims } from "../../identity/verifier.ts"
import type { ClaimRule } from "../../plan/step-values.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** Why claims violate a rule: the claim is absent, or has other values. */
export type ClaimFault = "TokenClaimNotFound" | "TokenClaimValueNotAllowed"

/** The first rule that claims violate. */
export interface ClaimFailure {
  readonly fault: ClaimFault
  /** Name of the claim. */
  readonly claim: string
}

/** Checks claims against rules; undefined when all rules hold. */
export type ClaimRules = (claims: Claims, exchange: Exchange) => ClaimFailure | undefined

/** Compiles rules on claims. Values are compared as text, exactly. A claim that is not a string, number, boolean or a list of those matches no value. */
export function compileClaimRules(rules: readonly ClaimRule[], provision: Provision): ClaimRules {
  const compiled = rules.map(({ claim, test, values, separator = " " }) => {
    const texts = values.map((value) => compileText(value, provision, anyText))
    const constants = texts.map((each) => each.constant)
    const known = constants.includes(undefined) ? undefined : (constants as string[])
    const wantedOf = (exchange: Exchange) => known ?? texts.map((each) => each.of(exchange))
    return { claim, meets: tests[test], separator, wantedOf }
  })
  return (claims, exchange) => {
    for (const { claim, meets, separator, wantedOf } of compiled) {
      const value = claimAt(claims, claim)
      if (value === undefined || value === null) return { fault: "TokenClaimNotFound", claim }
      if (!meets(value, wantedOf(exchange), separator)) return { fault: "TokenClaimValueNotAllowed", claim }
    }
    return undefined
  }
}

type Test = (value: unknown, wanted: readonly string[], separator: string) => boolean

/** The tests of claims. Lists in a text are separated as the rule says. */
const tests: { readonly [Name in ClaimRule["test"]]: Test } = {
  present: () => true,
  "has-any": (value, wanted, separator) => {
    const held = listOf(value, separator)
    return wanted.some((item) => held.includes(item))
  },
  "has-all": (value, wanted, separator) => {
    const held = listOf(value, separator)
    return wanted.every((item) => held.includes(item))
  },
  "equals-any": (value, wanted) => {
    const text = scalar(value)
    return text !== undefined && wanted.includes(text)
  },
}

/** The claim as a list: an array, or a string split at the separator (space-separated words: RFC 8693 §4.2). */
function listOf(value: unknown, separator: string): readonly string[] {
  if (typeof value === "string") return separator === "" ? [value] : value.split(separator)
  if (Array.isArray(value)) return value.map(scalar).filter((item) => item !== undefined)
  const text = scalar(value)
  return text === undefined ? [] : [text]
}

function scalar(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined
}
