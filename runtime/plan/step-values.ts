import * as z from "zod"
import { type NamedResource, named } from "./facts.ts"
import { headerName } from "./header-name.ts"
import { constantOr, everyPlace, type Place } from "./places.ts"
import { expression, name, type Text, text } from "./text.ts"

/** Name of a variable that steps and expressions of one exchange share. */
export const variableName = z.string().min(1).max(256)

/** A whole number that is known when the plan is made, or found per request. */
export const count = z.union([z.number().int().min(0).max(1_000_000_000_000), z.strictObject({ expression })])

export type Count = z.infer<typeof count>

/** Yes or no, known when the plan is made or found per request. */
export const flag = z.union([z.boolean(), z.strictObject({ expression })])

export type Flag = z.infer<typeof flag>

/** Which message of the exchange a step works on. */
export const message = z.enum(["request", "response"])

/** A name known when the plan is made, or found per request and checked then. */
export const dynamicName = z.strictObject({ text })

/**
 * What a body is made of. `value`: an expression whose value is written as JSON (maps, lists) or as text or bytes (strings, bytes).
 * `liquid`: a template with `body`, `context` (APIM's names) and what the language has (`request`, `var`, …).
 */
export const bodyContent = z.union([
  z.strictObject({ text }),
  z.strictObject({ value: expression }),
  z.strictObject({ liquid: z.string().max(262_144), xsiNil: z.enum(["blank", "null"]).optional() }),
])

export type BodyContent = z.infer<typeof bodyContent>

/** What an answer is made of: `respond`, and requests of our own. */
export const headerLines = z
  .array(
    z.strictObject({
      name: headerName,
      action: z.enum(["set", "append", "default", "remove"]),
      values: z.array(text).max(100),
    }),
  )
  .max(100)

export type HeaderLines = z.infer<typeof headerLines>

/** What a variable or the cache gets: a text, or the value of an expression. */
export const textOrExpression = z.union([text, z.strictObject({ expression })])

export type TextOrExpression = z.infer<typeof textOrExpression>

/** How a request of our own, or to the backend, says who we are. */
export const authentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: text, password: text }),
  z.strictObject({ scheme: z.literal("bearer"), token: text }),
  /** A token of a declared client. */
  z.strictObject({ scheme: z.literal("token"), client: name }),
  /** Shown in TLS. */
  z.strictObject({ scheme: z.literal("certificate"), certificate: name }),
])

export type Authentication = z.infer<typeof authentication>

/** The name that stands in the plan; `*` where only a request decides. */
export function constantName(name: string | { readonly text: Text }): string {
  return typeof name === "string" ? name : constantOr(name.text)
}

/** What a template reads cannot be seen from outside. */
export function contentRead(content: BodyContent | undefined): readonly Place[] {
  return content !== undefined && "liquid" in content ? everyPlace : []
}

/** The place of a value in the cache. */
export function cacheKey(key: Text): Place {
  return `cache:${constantOr(key)}`
}

/** The number, or what it is by default where only a request decides. */
export function constantCount(value: Count, byDefault: number): number {
  return typeof value === "number" ? value : byDefault
}

/** The declared thing that a request of our own, or to the backend, authenticates with. */
export function namedAuthentication(authentication: Authentication | undefined): NamedResource[] {
  if (authentication?.scheme === "token")
    return named("tokenClients", "authentication", authentication.client)
  return authentication?.scheme === "certificate"
    ? named("certificates", "authentication", authentication.certificate)
    : []
}
