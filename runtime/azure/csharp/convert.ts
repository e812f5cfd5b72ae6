import { nullReference } from "./errors.ts"
import { convertNumber, isNumberType } from "./numbers.ts"
import { typeInfo } from "./table.ts"
import { parseType } from "./type.ts"
import { box, cast, unbox } from "./type-test.ts"

type Convert = (value: unknown) => unknown

/** The conversion from one type to another; conversions a type declares itself are members and not these. */
export function convert(from: string, to: string): Convert {
  const [source, target] = [parseType(from), parseType(to)]
  if (source.name === "?" || target.name === "?") return throughNull(from, to)
  if (isNumberType(from) && isNumberType(to)) return (value) => convertNumber(value, from, to, false)
  if (from === "char" && isNumberType(to))
    return (value) => convertNumber((value as string).charCodeAt(0), "int", to, false)
  if (isNumberType(from) && to === "char")
    return (value) => String.fromCharCode(Number(convertNumber(value, from, "ushort", false)))
  if (isValueType(from)) return to === "object" ? (value) => box(value, from) : (value) => value
  if (isNumberType(to) || to === "char" || to === "bool" || isValueType(to))
    return (value) => unbox(value, target)
  return (value) => cast(value, target)
}

function isValueType(name: string): boolean {
  return isNumberType(name) || name === "bool" || name === "char" || typeInfo(name)?.isValue === true
}

function throughNull(from: string, to: string): Convert {
  const [bareFrom, bareTo] = [from.replace(/\?$/, ""), to.replace(/\?$/, "")]
  const inner = bareFrom === bareTo ? (value: unknown): unknown => value : convert(bareFrom, bareTo)
  if (to.endsWith("?") || !isValueType(bareTo))
    return (value) => (value === null || value === undefined ? null : inner(value))
  return (value) => {
    if (value === null || value === undefined) throw nullReference()
    return inner(value)
  }
}
