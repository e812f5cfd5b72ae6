import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { same } from "./same.ts"
import type { Keywords } from "./schema-assertions.ts"

/** Whether no value fits two of some schemas, as far as their types or the values of a property that all require say so. References are not followed. */
export function disjoint(schemas: readonly ValueSchema[]): boolean {
  return schemas.every((one, at) => schemas.slice(at + 1).every((other) => areDisjoint(one, other)))
}

function areDisjoint(one: ValueSchema, other: ValueSchema): boolean {
  if (typeof one === "boolean" || typeof other === "boolean") return one === false || other === false
  return byTypes(one, other) || byValues(one, other) || byProperty(one, other)
}

function byTypes(one: Keywords, other: Keywords): boolean {
  const typesOf = ({ type }: Keywords) => (type === undefined ? undefined : ([type].flat() as string[]))
  const [first, second] = [typesOf(one), typesOf(other)]
  if (first === undefined || second === undefined) return false
  const group = (type: string) => (type === "integer" ? "number" : type)
  return !first.some((type) => second.some((each) => group(each) === group(type)))
}

function byValues(one: Keywords, other: Keywords): boolean {
  const valuesOf = (schema: Keywords) =>
    "const" in schema ? [schema["const"]] : (schema["enum"] as unknown[] | undefined)
  const [first, second] = [valuesOf(one), valuesOf(other)]
  if (first === undefined || second === undefined) return false
  return !first.some((value) => second.some((each) => same(each, value)))
}

/** What a discriminator is: one property that both require, with other values. */
function byProperty(one: Keywords, other: Keywords): boolean {
  if (one["type"] !== "object" || other["type"] !== "object") return false
  const required = ({ required }: Keywords) => (required ?? []) as readonly string[]
  const propertyOf = ({ properties }: Keywords, name: string): ValueSchema | undefined =>
    properties !== undefined && Object.hasOwn(properties as object, name)
      ? (properties as Record<string, ValueSchema>)[name]
      : undefined
  return required(one).some((name) => {
    const [first, second] = [propertyOf(one, name), propertyOf(other, name)]
    if (!required(other).includes(name) || typeof first !== "object" || typeof second !== "object")
      return false
    return byTypes(first, second) || byValues(first, second)
  })
}
