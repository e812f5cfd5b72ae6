import type { MediaMap } from "../../plan/content-rules.ts"
import { fitOf, type MediaType, mediaTypeOf } from "../../validation/media-type.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { compileTest } from "../values/value.ts"

/** The media type a body is judged by; `written` is what its Content-Type says. */
export type CountsAs = (exchange: Exchange, written: string | undefined) => string | undefined

/**
 * What media types count as: what the first rule that fits says, by the type or by a condition; else `missing` where there is no type or an empty one, else `any`. A type that no rule names and
 * that can't be read is one like any other: only a condition or `any` takes it.
 */
export function compileMediaMap(plan: MediaMap | undefined, provision: Provision): CountsAs {
  if (plan === undefined) return (_, written) => written
  const rules = plan.rules.map((rule) => {
    if ("when" in rule) {
      const test = compileTest(rule.when, provision)
      return { to: rule.to, fits: (exchange: Exchange) => test(exchange) }
    }
    const range = mediaTypeOf(rule.from)
    if (range === undefined) throw new Error(`\`${rule.from}\` is no media type`)
    return { to: rule.to, fits: (_: Exchange, type: MediaType | undefined) => isOf(range, type) }
  })
  return (exchange, written) => {
    const type = written === undefined ? undefined : mediaTypeOf(written)
    const found = rules.find(({ fits }) => fits(exchange, type))
    if (found !== undefined) return found.to
    const isMissing = written === undefined || written.trim() === ""
    return (isMissing ? plan.missing : undefined) ?? plan.any ?? written
  }
}

function isOf(range: MediaType, type: MediaType | undefined): boolean {
  return type !== undefined && fitOf(range, type) > 0
}
