import { typeInfo, typeNames } from "../../../runtime/azure/csharp/table.ts"
import { arrayOf, type CsType, generic, named } from "../../../runtime/azure/csharp/type.ts"
import { didYouMean } from "../../core/nearest.ts"
import { CsharpMistake } from "./source.ts"
import type { TypeSyntax } from "./syntax-tree.ts"

/** System names of the types with C# keywords. */
const aliases: Readonly<Record<string, string>> = {
  String: "string",
  Int32: "int",
  Int64: "long",
  Int16: "short",
  UInt32: "uint",
  UInt64: "ulong",
  UInt16: "ushort",
  Byte: "byte",
  SByte: "sbyte",
  Boolean: "bool",
  Double: "double",
  Single: "float",
  Decimal: "decimal",
  Char: "char",
  Object: "object",
}

/** Known namespaces. Types in any other namespace are unknown. */
const namespaces = new Set([
  "System",
  "System.Text",
  "System.Linq",
  "System.Net",
  "System.Web",
  "System.IO",
  "System.Xml",
  "System.Xml.Linq",
  "System.Xml.XPath",
  "System.Collections",
  "System.Collections.Generic",
  "System.Globalization",
  "System.Text.RegularExpressions",
  "System.Security",
  "System.Security.Cryptography",
  "System.Security.Cryptography.X509Certificates",
  "Newtonsoft",
  "Newtonsoft.Json",
  "Newtonsoft.Json.Linq",
  "System.Security.Claims",
])

export function isNamespace(name: string): boolean {
  return namespaces.has(name)
}

/** The library's name of a type, or undefined. `name` may be qualified with a known namespace. */
export function libraryName(name: string): string | undefined {
  const dot = name.lastIndexOf(".")
  if (dot >= 0 && !namespaces.has(name.slice(0, dot))) return undefined
  const last = name.slice(dot + 1)
  const known = Object.hasOwn(aliases, last) ? (aliases[last] as string) : last
  return typeInfo(known) === undefined || known === "?" || known === "[]" ? undefined : known
}

/** Resolves a written type to a type of the library. @throws CsharpMistake with the nearest name */
export function resolveType(syntax: TypeSyntax): CsType {
  let type = resolveBare(syntax)
  for (const suffix of syntax.suffix) {
    if (suffix === "[]") type = arrayOf(type)
    // `string?` only matters for the null checks of newer compilers.
    else if (isValueType(type)) type = generic("?", type)
  }
  return type
}

/** A type without its suffixes. Namespaces are ignored: the library has no two types of one name. */
function resolveBare(syntax: TypeSyntax): CsType {
  const args = syntax.args.map(resolveType)
  const last = syntax.name.slice(syntax.name.lastIndexOf(".") + 1)
  const delegate = delegateType(last, args)
  if (delegate !== undefined) return delegate
  if (last === "dynamic" || last === "void") return named(last)
  if (last === "Nullable" && args.length === 1) return generic("?", args[0] as CsType)
  const name = libraryName(syntax.name)
  if (name === undefined) throw unknownType(syntax)
  const wanted = typeInfo(name)?.generics.length ?? 0
  // `IEnumerable` and `Dictionary` without type arguments hold any type. Tuples may be shorter than in the library.
  const filled = args.length === 0 ? new Array<CsType>(wanted).fill(named("object")) : args
  if (args.length > wanted || (args.length < wanted && args.length > 0 && !name.endsWith("Tuple")))
    throw new CsharpMistake(
      "type",
      `\`${last}\` has ${wanted === 0 ? "no" : wanted} type arguments`,
      syntax.start,
      syntax.end,
      "Write one type between `<` and `>` for each type parameter.",
    )
  const { fields } = syntax
  return filled.length === 0 ? named(name) : { name, args: filled, ...(fields && { fields }) }
}

function delegateType(name: string, args: readonly CsType[]): CsType | undefined {
  if (name === "Func" && args.length > 0) return { name, args }
  if (name === "Action") return { name, args }
  if (name === "Predicate" && args.length === 1) return generic("Func", args[0] as CsType, named("bool"))
  if (name === "Comparison" && args.length === 1)
    return generic("Func", args[0] as CsType, args[0] as CsType, named("int"))
  return undefined
}

/** The finding for an unknown type. */
export function unknownType(syntax: {
  readonly name: string
  readonly start: number
  readonly end: number
}): CsharpMistake {
  const known = [...typeNames()].filter((name) => /^[A-Za-z]/.test(name))
  const last = syntax.name.slice(syntax.name.lastIndexOf(".") + 1)
  return new CsharpMistake(
    "unknown-type",
    `unknown type \`${syntax.name}\`${didYouMean(last, [...known, ...Object.keys(aliases)])}`,
    syntax.start,
    syntax.end,
    "Use a type of System that policies support, of Newtonsoft.Json.Linq, of System.Xml.Linq, or of `context`.",
  )
}

export function isValueType(type: CsType): boolean {
  return typeInfo(type.name)?.isValue === true
}
