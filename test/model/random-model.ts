import fc from "fast-check"
import type {
  AuthorizationModel,
  Condition,
  ConditionParameter,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"

const typeNames = ["user", "team", "model", "a.b/c", "list"]
const relationNames = ["member", "type", "from-here", "constructor", "r/1"]
const conditionNames = ["late", "office", "or"]
const primitives = ["BOOL", "STRING", "INT", "UINT", "DOUBLE", "DURATION", "TIMESTAMP", "IPADDRESS"]

const relation = fc.constantFrom(...relationNames)
const computed = relation.map((name): Userset => ({ computedUserset: { relation: name } }))
const from = fc.tuple(relation, relation).map(
  ([wanted, parent]): Userset => ({
    tupleToUserset: { tupleset: { relation: parent }, computedUserset: { relation: wanted } },
  }),
)

/** A definition; with `direct` its first leaf takes tuples, the others do not. */
function rewrite(direct: boolean, depth: number): fc.Arbitrary<Userset> {
  const leaf = direct ? fc.constant<Userset>({ this: {} }) : fc.oneof(computed, from)
  if (depth === 0) return leaf
  const first = rewrite(direct, depth - 1)
  const rest = fc.array(rewrite(false, depth - 1), { minLength: 1, maxLength: 3 })
  const children = fc.tuple(first, rest).map(([one, more]) => [one, ...more])
  return fc.oneof(
    { weight: 2, arbitrary: leaf },
    children.map((child): Userset => ({ union: { child } })),
    children.map((child): Userset => ({ intersection: { child } })),
    fc
      .tuple(first, rewrite(false, depth - 1))
      .map(([base, subtract]): Userset => ({ difference: { base, subtract } })),
  )
}

const reference: fc.Arbitrary<RelationReference> = fc
  .record({
    type: fc.constantFrom(...typeNames),
    kind: fc.constantFrom("plain", "wildcard", "userset"),
    relation,
    // `or` can be defined but not named behind `with`.
    condition: fc.option(fc.constantFrom("late", "office"), { nil: undefined }),
  })
  .map(({ type, kind, relation: name, condition }) => ({
    type,
    ...(kind === "userset" ? { relation: name } : {}),
    ...(kind === "wildcard" ? { wildcard: {} } : {}),
    ...(condition === undefined ? {} : { condition }),
  }))

const definition = fc
  .record({
    names: fc.subarray(relationNames),
    bodies: fc.array(
      fc.oneof(
        fc.tuple(rewrite(true, 2), fc.array(reference, { minLength: 1, maxLength: 3 })),
        fc.tuple(rewrite(false, 2), fc.constant([])),
      ),
      { minLength: relationNames.length, maxLength: relationNames.length },
    ),
  })
  .map(({ names, bodies }): Omit<TypeDefinition, "type"> => {
    if (names.length === 0) return {}
    const parts = names.map((name, at) => ({ name, body: bodies[at] as (typeof bodies)[number] }))
    const listed = parts.filter(({ body }) => body[1].length > 0)
    const relations = Object.fromEntries(parts.map(({ name, body }) => [name, body[0]]))
    if (listed.length === 0) return { relations }
    const metadata = listed.map(({ name, body }) => [name, { directly_related_user_types: body[1] }])
    return { relations, metadata: { relations: Object.fromEntries(metadata) } }
  })

const parameter: fc.Arbitrary<ConditionParameter> = fc
  .tuple(fc.constantFrom(...primitives), fc.constantFrom("", "LIST", "MAP"))
  .map(([inner, outer]) =>
    outer === ""
      ? { type_name: `TYPE_NAME_${inner}` }
      : { type_name: `TYPE_NAME_${outer}`, generic_types: [{ type_name: `TYPE_NAME_${inner}` }] },
  )

const expression = fc.constantFrom(
  "x > 1",
  'x == "{ # }"',
  "x\n    && y // } not the end",
  '{"a": x}.size() == 1',
  '"""\n } # \n""" == x',
  "r'\\' == x",
)

const conditions = fc.uniqueArray(fc.constantFrom(...conditionNames), { maxLength: 3 }).chain((names) =>
  fc.tuple(
    ...names.map((name) =>
      fc
        .record({
          expression,
          parameters: fc.dictionary(fc.constantFrom("x", "y", "type"), parameter, { minKeys: 1 }),
        })
        .map((body): [string, Condition] => [name, { name, ...body, parameters: { ...body.parameters } }]),
    ),
  ),
)

/**
 * Models whose names and forms the text language has. What they say may be nonsense: relations and conditions need not be there. Their lists of types
 * stand in the first place.
 */
export const randomModel: fc.Arbitrary<AuthorizationModel> = fc
  .record({
    schema_version: fc.constantFrom("1.1", "1.2"),
    types: fc.tuple(...typeNames.map((type) => fc.tuple(fc.constant(type), definition))),
    conditions,
  })
  .map(({ schema_version, types, conditions: made }) => ({
    schema_version,
    type_definitions: types.map(([type, body]) => ({ type, ...body })),
    ...(made.length === 0 ? {} : { conditions: Object.fromEntries(made) }),
  }))
