import * as z from "zod"

/** A key in one line: base64 of its SubjectPublicKeyInfo, as between the lines of `openssl pkey -pubout`. `name` is shown to people. */
const signer = z.strictObject({
  key: z.string().regex(/^[A-Za-z0-9+/]{40,300}={0,2}$/),
  name: z.string().min(1).max(100).optional(),
})
/** A key whose holder may sign plans. */
export type PlanSigner = z.infer<typeof signer>

/** The classes of changes that need consent; the compiler's comparison of plans says what they mean. */
export const changeClasses = ["opens", "closes", "breaking"] as const
/** One of `changeClasses`. */
export type ChangeClass = (typeof changeClasses)[number]

const consentRule = z.strictObject({
  class: z.enum(changeClasses),
  /** Only if the changes concern more than this share of the running plan's routes, in percent. Absent: always. */
  abovePercent: z.number().min(0).max(100).optional(),
  /** A group of operators (see `control`), or a role. Absent: everybody who may apply plans. */
  of: z.string().min(1).max(256).optional(),
  /** Of another person: neither who applies the plan nor who made it, and nobody without a name of their own. */
  another: z.literal(true).optional(),
})
/** Whose consent a class of changes needs. */
export type ConsentRule = z.infer<typeof consentRule>

/** What must be true before a plan may replace the one that contains these rules. The control listener enforces them. */
export const changeRules = z.strictObject({
  /** Absent: plans need no signature. */
  signers: z.array(signer).min(1).max(20).optional(),
  /** Absent: changes need no consent. */
  consents: z.array(consentRule).min(1).max(30).optional(),
})
/** See `changeRules`. */
export type ChangeRules = z.infer<typeof changeRules>

/** A rule as gateway.conf has it. */
export function consentRuleText({ class: of, abovePercent, of: group, another }: ConsentRule): string {
  const above = abovePercent === undefined ? "" : ` above ${abovePercent}%`
  const needed = group === undefined ? "consent" : JSON.stringify(group)
  return `${of}${above} needs ${needed}${another === true ? " by another" : ""}`
}
