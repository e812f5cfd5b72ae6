import * as z from "zod"

/** A key in one line: base64 of its SubjectPublicKeyInfo, as between the lines of `openssl pkey -pubout`. `name` is shown to people. */
const signer = z.strictObject({
  key: z.string().regex(/^[A-Za-z0-9+/]{40,300}={0,2}$/),
  name: z.string().min(1).max(100).optional(),
})
/** A key whose holder may sign plans. */
export type PlanSigner = z.infer<typeof signer>

/** What must be true before a plan may replace the one that contains these rules. The control listener enforces them. */
export const changeRules = z.strictObject({
  /** Absent: plans need no signature. */
  signers: z.array(signer).min(1).max(20).optional(),
})
/** See `changeRules`. */
export type ChangeRules = z.infer<typeof changeRules>
