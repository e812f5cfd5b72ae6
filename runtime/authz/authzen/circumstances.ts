import type { LoadedModel } from "../../check/loaded-model.ts"
import { contextField } from "../context.ts"
import type { JsonFields } from "../fields.ts"

/** Properties, by the prefix of their names in conditions. */
export interface Properties {
  readonly subject?: JsonFields | undefined
  readonly resource?: JsonFields | undefined
  readonly action?: JsonFields | undefined
}

/**
 * Values for conditions: `subject_NAME`, `resource_NAME` and `action_NAME` from the properties; the request's own `context` overrides them.
 * A missing property gets the empty value of its parameter's type, so that a condition can handle requests with and without it.
 */
export function contextOf(model: LoadedModel, properties: Properties, context: unknown): JsonFields {
  const values: Record<string, unknown> = Object.create(null)
  for (const [name, empty] of emptyValuesOf(model)) values[name] = empty
  for (const [prefix, fields] of Object.entries(properties))
    for (const [name, value] of Object.entries(fields ?? {})) values[`${prefix}_${name}`] = value
  for (const [name, value] of Object.entries(contextField(context, "context") ?? {})) values[name] = value
  return values
}

const emptyOfType: Readonly<Record<string, unknown>> = {
  TYPE_NAME_STRING: "",
  TYPE_NAME_BOOL: false,
  TYPE_NAME_INT: 0,
  TYPE_NAME_UINT: 0,
  TYPE_NAME_DOUBLE: 0,
  TYPE_NAME_LIST: [],
  TYPE_NAME_MAP: {},
}

const known = new WeakMap<LoadedModel, ReadonlyMap<string, unknown>>()

/**
 * The parameters of a model's conditions that are properties, with the empty values of their types. Times, addresses and `any` have no
 * empty value, and neither has a name with two types.
 */
function emptyValuesOf(model: LoadedModel): ReadonlyMap<string, unknown> {
  const before = known.get(model)
  if (before !== undefined) return before
  const types = new Map<string, Set<string>>()
  for (const { parameters } of Object.values(model.plan.model.conditions ?? {}))
    for (const [name, { type_name: type }] of Object.entries(parameters ?? {}))
      if (/^(?:subject|resource|action)_/.test(name))
        types.set(name, (types.get(name) ?? new Set()).add(type))
  const values = new Map<string, unknown>()
  for (const [name, [type = "", ...others]] of types)
    if (others.length === 0 && Object.hasOwn(emptyOfType, type)) values.set(name, emptyOfType[type])
  known.set(model, values)
  return values
}
