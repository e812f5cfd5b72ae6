import * as z from "zod"
import { csharpProgram } from "./csharp.ts"

/** Name of a declared resource (`orders_v1`, `acme-ci`). The binder and this schema reject `__proto__` and similar names. */
export const name = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/)
  .refine((text) => !["__proto__", "constructor", "prototype"].includes(text), "is a reserved name")

/**
 * A CEL expression. `type` is the type that the compiler inferred (notation of runtime/expression/types.ts). `secrets`: those that are keys of its
 * `hmac`; absent: none.
 */
const celExpression = z.strictObject({
  lang: z.literal("cel"),
  text: z.string().max(16_384),
  type: z.string(),
  secrets: z
    .array(z.strictObject({ secret: name }))
    .min(1)
    .max(20)
    .optional(),
})

/** A C# expression of a policy document, compiled to a program. `text` is its source, for people; `type` is in C#'s notation. */
const csharpExpression = z.strictObject({
  lang: z.literal("cs"),
  text: z.string().max(16_384),
  type: z.string().max(500),
  program: csharpProgram,
})

/** An expression in either language of the configuration. */
export const expression = z.discriminatedUnion("lang", [celExpression, csharpExpression])
export type Expression = z.infer<typeof expression>
/** An expression of a policy document. */
export type CsharpExpression = z.infer<typeof csharpExpression>

/** A value from outside, resolved by the runtime when it loads the plan. `file` is relative to the runtime's working directory and is read again when it changes. */
export const reference = z.union([
  z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), default: z.string().optional() }),
  z.strictObject({ file: z.string().min(1) }),
])
export type Reference = z.infer<typeof reference>

/**
 * A piece of text: constant; a named value (`values`) or secret (`secrets`) of the plan; or an expression evaluated per request. In JSON text, an
 * expression inside JSON quotes is escaped (`json-string`); elsewhere it becomes a JSON value (`json-value`). In XML it is escaped for element content
 * (`xml-text`) or an attribute value (`xml-attribute`).
 */
export const textPart = z.union([
  z.string(),
  z.strictObject({ value: name }),
  z.strictObject({ secret: name }),
  z.strictObject({
    expression,
    as: z.enum(["json-string", "json-value", "xml-text", "xml-attribute"]).optional(),
  }),
])
export type TextPart = z.infer<typeof textPart>

/** Constant text, or parts joined in order. */
export const text = z.union([z.string(), z.strictObject({ text: z.array(textPart).min(1) })])
export type Text = z.infer<typeof text>

/** Text made of constants and named values only: known when the plan is loaded. */
export const loadText = z.union([
  z.string(),
  z.strictObject({ text: z.array(z.union([z.string(), z.strictObject({ value: name })])).min(1) }),
])

/** Key of the plan's `steps`: first 16 hex digits of the SHA-256 of the step's canonical JSON. Equal steps are one entry, even if several routes use them. */
export const stepId = z.string().regex(/^[0-9a-f]{16}$/)

export type LoadText = z.infer<typeof loadText>
