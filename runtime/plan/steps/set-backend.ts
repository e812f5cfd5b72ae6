import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { name, type Text, text } from "../text.ts"

type Target =
  | { readonly backend: string }
  | { readonly weighted: readonly { readonly backend: string }[] }
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
 * The backend for `forward`: a declared one; one of several by weight or by the value of a text (`cases`, then `otherwise`, then the route's own or,
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
        key: text.optional(),
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
    names: named("backends", "target", ...backendsOf(target)),
    ends: ("by" in target && target.strict === true) || "url" in target ? ["fail"] : [],
    ...("url" in target ? { fits: "narrow" } : {}),
  }),
)
