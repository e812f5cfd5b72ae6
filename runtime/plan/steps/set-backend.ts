import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { cookieName } from "../http-syntax.ts"
import { answerFields, headerOf } from "../places.ts"
import { name, type Text, text } from "../text.ts"

type Target =
  | { readonly backend: string }
  | { readonly weighted: readonly { readonly backend: string }[]; readonly cookie?: object | undefined }
  | { readonly cases: readonly { readonly backend: string }[]; readonly otherwise: string | null }
  | { readonly url: Text }

function backendsOf(target: Target): string[] {
  if ("backend" in target) return [target.backend]
  if ("weighted" in target) return target.weighted.map(({ backend }) => backend)
  if ("url" in target) return []
  const { cases, otherwise } = target
  return [...cases.map(({ backend }) => backend), ...(otherwise === null ? [] : [otherwise])]
}

/**
 * The backend for `forward`: a declared one; one of several by weight, where one without a healthy target is passed over; one by the value of a text (`cases`, then `otherwise`, then the route's own or,
 * with `strict`, an error); or a URL. The URL must be http or https. Dynamic parts stay within a path segment or, with `raw`, may be the whole URL.
 */
export const setBackend = defineStep(
  "set-backend",
  { role: "change", rehearsed: "run" },
  {
    target: z.union([
      z.strictObject({ backend: name }),
      z.strictObject({
        weighted: z
          .array(z.strictObject({ backend: name, weight: z.number().int().min(0).max(1000) }))
          .min(1)
          .max(50),
        /** Requests with the same text go to the same backend; an empty text is as none. */
        key: text.optional(),
        /** Instead of a key: a cookie with a random id, which the gateway sets. `seconds` absent: until the browser closes. */
        cookie: z
          .strictObject({ name: cookieName, seconds: z.number().int().min(1).max(34_560_000).optional() })
          .optional(),
      }),
      z.strictObject({
        by: text,
        cases: z.array(z.strictObject({ value: z.string(), backend: name })).max(200),
        otherwise: name.nullable(),
        strict: z.literal(true).optional(),
      }),
      z.strictObject({ url: text, raw: z.boolean() }),
    ]),
  },
  ({ target }) => ({
    writes: ["backend"],
    ...("weighted" in target && target.cookie !== undefined
      ? { reads: [headerOf("request", "cookie")], leaves: answerFields("set-cookie") }
      : {}),
    names: named("backends", "target", ...backendsOf(target)),
    ends: ("by" in target && target.strict === true) || "url" in target ? ["fail"] : [],
    ...("url" in target ? { fits: "narrow" } : {}),
  }),
)
