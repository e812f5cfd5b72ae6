import * as z from "zod"
import type { KindFacts, Role, StepFacts } from "./facts.ts"
import type { CredentialFacts } from "./step-values.ts"

/** The schema of a kind of step. It is strict: an unknown field is an error. */
type SchemaOf<Kind extends string, Shape extends z.ZodRawShape> = z.ZodObject<
  { kind: z.ZodLiteral<Kind> } & Shape,
  z.core.$strict
>

/** A kind of step: its fields and its facts. */
export interface StepContract<Kind extends string = string, Shape extends z.ZodRawShape = z.ZodRawShape>
  extends KindFacts {
  readonly kind: Kind
  readonly schema: SchemaOf<Kind, Shape>
  readonly facts: (step: z.infer<SchemaOf<Kind, Shape>>) => StepFacts
}

/**
 * Declares a kind of step. The files of the same name in `compiler/gateway/steps` (its text) and `runtime/policies` (its execution) belong to it;
 * `steps.ts` lists all kinds.
 *
 * @param facts what one step does, by its fields; see `StepFacts`.
 */
export function defineStep<
  const Kind extends string,
  const Known extends KindFacts & { readonly role: Exclude<Role, "credential"> },
  Shape extends z.ZodRawShape,
>(
  kind: Kind,
  known: Known,
  shape: Shape,
  facts: StepContract<Kind, Shape>["facts"],
): StepContract<Kind, Shape> & Known {
  return { ...known, kind, schema: schemaOf(kind, shape), facts }
}

const credential = { role: "credential", rehearsed: "run" } as const

/** Like `defineStep`, for a step that authenticates the caller by a credential. */
export function defineCredential<const Kind extends string, Shape extends z.ZodRawShape>(
  kind: Kind,
  shape: Shape,
  facts: (step: z.infer<SchemaOf<Kind, Shape>>) => CredentialFacts,
): StepContract<Kind, Shape> & typeof credential {
  return { ...credential, kind, schema: schemaOf(kind, shape), facts }
}

function schemaOf<const Kind extends string, Shape extends z.ZodRawShape>(
  kind: Kind,
  shape: Shape,
): SchemaOf<Kind, Shape> {
  return z.strictObject({ kind: z.literal(kind), ...shape }) as unknown as SchemaOf<Kind, Shape>
}
