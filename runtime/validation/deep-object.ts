import { decodeText, type Pair } from "./pairs.ts"
import { type SchemaShape, textShape, valuesOfTexts } from "./shape.ts"

const partsMax = 1000
const levelsMax = 8

/** A value with the keys that lead to it. */
interface Leaf {
  readonly keys: readonly string[]
  readonly text: string
}

class Misfit extends Error {}

/**
 * A value in the style `deepObject`: `name[key]=…`. If the schema allows such a value, also `name[key][inner]=…`, `name[0]=…` and `name[]=…`. OpenAPI
 * leaves these undefined, but they are in common use. Undefined if the parameter is absent.
 */
export function deepValue(
  name: string,
  shape: SchemaShape,
  pairs: readonly Pair[],
): { readonly value: unknown } | { readonly problem: string } | undefined {
  const leaves: Leaf[] = []
  for (const pair of pairs) {
    if (!pair.name.startsWith(`${name}[`)) continue
    const inside = pair.name.slice(name.length)
    const keys = /^(?:\[[^[\]]*\])+$/.test(inside) ? inside.slice(1, -1).split("][") : []
    if (keys.length === 0 || keys.length > levelsMax) return { problem: misfit(pair.name) }
    leaves.push({ keys, text: decodeText(pair.raw) })
  }
  if (leaves.length === 0) return undefined
  if (leaves.length > partsMax) return { problem: `has more than ${partsMax} parts` }
  try {
    return { value: valueAt(name, leaves, shape) }
  } catch (error) {
    if (error instanceof Misfit) return { problem: error.message }
    throw error
  }
}

function valueAt(place: string, leaves: readonly Leaf[], shape: SchemaShape): unknown {
  const ends = leaves.filter(({ keys }) => keys.length === 0).map(({ text }) => text)
  // Several texts where the schema expects one remain a list, so that the schema rejects them.
  if (ends.length === leaves.length) return valuesOfTexts(ends, shape) ?? ends
  const { types } = shape
  const isList = types.has("array") && !types.has("object")
  if (ends.length > 0 || !(isList || types.has("object") || types.size === 0))
    throw new Misfit(misfit(`${place}[${leaves.find(({ keys }) => keys.length > 0)?.keys[0] ?? ""}]`))
  const inside = new Map<string, Leaf[]>()
  for (const { keys, text } of leaves) {
    const [first = "", ...rest] = keys
    // Each `[]` is a separate item.
    const key = isList && first === "" ? `-${inside.size}` : first
    if (isList ? !/^(?:-?\d{1,4})$/.test(key) : key === "") throw new Misfit(misfit(`${place}[${first}]`))
    inside.set(key, [...(inside.get(key) ?? []), { keys: rest, text }])
  }
  const shapeOf = (key: string): SchemaShape => shape.properties.get(key) ?? shape.others ?? textShape
  if (isList) return [...inside.values()].map((each) => valueAt(`${place}[]`, each, shape.items ?? textShape))
  return Object.fromEntries(
    [...inside].map(([key, each]) => [key, valueAt(`${place}[${key}]`, each, shapeOf(key))]),
  )
}

function misfit(name: string): string {
  return `has no property \`${name.slice(0, 100)}\``
}
