import * as z from "zod"

/** Name of a type or relation as OpenFGA's server accepts it (`^[^:#@\s]+$`); the text language is narrower. */
const typeName = z.string().regex(/^[^:#@\s]{1,254}$/)
const relationName = z.string().regex(/^[^:#@\s]{1,50}$/)
const conditionName = z.string().regex(/^[^:#@\s]{1,50}$/)

/** Who may stand on the left of a tuple: `type`, `type#relation` or `type:*`, each perhaps only under a condition. */
export const relationReference = z.strictObject({
  type: typeName,
  relation: relationName.optional(),
  wildcard: z.strictObject({}).optional(),
  condition: conditionName.optional(),
})
export type RelationReference = z.infer<typeof relationReference>

const objectRelation = z.strictObject({ object: z.string().optional(), relation: relationName })

/** How a relation is computed: OpenFGA's `Userset`, exactly one key. Its JSON names are camelCase on the wire. */
export type Userset =
  | { this: Record<string, never> }
  | { computedUserset: { object?: string | undefined; relation: string } }
  | {
      tupleToUserset: {
        tupleset: { object?: string | undefined; relation: string }
        computedUserset: { object?: string | undefined; relation: string }
      }
    }
  | { union: { child: Userset[] } }
  | { intersection: { child: Userset[] } }
  | { difference: { base: Userset; subtract: Userset } }

export const userset: z.ZodType<Userset> = z.lazy(() =>
  z.union([
    z.strictObject({ this: z.strictObject({}) }),
    z.strictObject({ computedUserset: objectRelation }),
    z.strictObject({
      tupleToUserset: z.strictObject({ tupleset: objectRelation, computedUserset: objectRelation }),
    }),
    z.strictObject({ union: z.strictObject({ child: z.array(userset) }) }),
    z.strictObject({ intersection: z.strictObject({ child: z.array(userset) }) }),
    z.strictObject({ difference: z.strictObject({ base: userset, subtract: userset }) }),
  ]),
)

const sourceInfo = z.strictObject({ file: z.string() })

/** A type and how each of its relations is computed; `metadata` says which subjects a relation takes directly. */
export const typeDefinition = z.strictObject({
  type: typeName,
  relations: z.record(relationName, userset).optional(),
  metadata: z
    .strictObject({
      relations: z
        .record(
          relationName,
          z.strictObject({
            directly_related_user_types: z.array(relationReference).optional(),
            module: z.string().optional(),
            source_info: sourceInfo.optional(),
          }),
        )
        .optional(),
      module: z.string().optional(),
      source_info: sourceInfo.optional(),
    })
    .optional(),
})
export type TypeDefinition = z.infer<typeof typeDefinition>

/** `TYPE_NAME_STRING`, `TYPE_NAME_LIST` with one generic type, … */
export type ConditionParameter = { type_name: string; generic_types?: ConditionParameter[] | undefined }
export const conditionParameter: z.ZodType<ConditionParameter> = z.lazy(() =>
  z.strictObject({
    type_name: z
      .string()
      .regex(/^TYPE_NAME_(ANY|BOOL|STRING|INT|UINT|DOUBLE|DURATION|TIMESTAMP|MAP|LIST|IPADDRESS)$/),
    generic_types: z.array(conditionParameter).optional(),
  }),
)

/** A named CEL expression over typed parameters, which a tuple may demand. */
export const condition = z.strictObject({
  name: conditionName,
  expression: z.string(),
  parameters: z.record(z.string(), conditionParameter).optional(),
  metadata: z.strictObject({ module: z.string().optional(), source_info: sourceInfo.optional() }).optional(),
})
export type Condition = z.infer<typeof condition>

/**
 * An authorization model as OpenFGA's JSON, without its id, in canonical spelling: absent keys are absent, never null or empty.
 * Strict: what arrives over HTTP (either spelling, unknown keys allowed) is brought into this form by runtime/model first.
 */
export const authorizationModel = z.strictObject({
  schema_version: z.string(),
  type_definitions: z.array(typeDefinition),
  conditions: z.record(conditionName, condition).optional(),
})
export type AuthorizationModel = z.infer<typeof authorizationModel>
