import { decodeText, type Pair } from "./pairs.ts"
import { type SchemaShape, textShape, valuesOfTexts } from "./shape.ts"

const partsMax = 1000
const levelsMax = 8

/** A value under the keys that lead to it. */
interface Leaf {
  readonly keys: readonly string[]
  readonly text: string
}

class Misfit extends Error {}

/**
 * A value in the style `deepObject`: `name[key]=…`, and `name[key][inner]=…`, `name[0]=…`, `name[]=…` where the schema has a place for such a value
 * (OpenAPI leaves these open; they are what is in use). Undefined: there is none.
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
  // Where one is expected, several are shown as the list they are, and judged as that.
  if (ends.length === leaves.length) return valuesOfTexts(ends, shape) ?? ends
  const { types } = shape
  const isList = types.has("array") && !types.has("object")
  if (ends.length > 0 || !(isList || types.has("object") || types.size === 0))
    throw new Misfit(misfit(`${place}[${leaves.find(({ keys }) => keys.length > 0)?.keys[0] ?? ""}]`))
  const inside = new Map<string, Leaf[]>()
  for (const { keys, text } of leaves) {
    const [first = "", ...rest] = keys
    // Each `[]` is an item of its own.
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
