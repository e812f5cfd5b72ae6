import { type CsType, named, parseType, substitute } from "./type.ts"

/** A parameter of a member. `kind`: a normal parameter, the remaining arguments (`params`), or an output (`out`). */
export interface Parameter {
  readonly name: string
  readonly type: CsType
  readonly kind: "in" | "params" | "out"
  /** The default value; undefined if the argument is required. */
  readonly fallback: string | number | boolean | null | undefined
}

/** The syntax of a member: `x.Name`, `x.Name = `, `x.Name(…)`, `new X(…)`, `x[…]`, `x[…] = `. */
export type MemberKind = "get" | "set" | "method" | "new" | "index" | "index-set"

type Implementation = (...values: never[]) => unknown

/** One member of a type: its name, its signature and its implementation. */
export interface Member {
  /** `string.Substring(int,int)`: the id in plans. */
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly kind: MemberKind
  readonly isStatic: boolean
  /** The implementation takes the type arguments first, as an array of types. */
  readonly typed: boolean
  /** A .NET extension method: callable on null. */
  readonly extension: boolean
  readonly generics: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly result: CsType
  readonly run: Implementation
}

/** One type of the library. */
export interface TypeInfo {
  readonly name: string
  readonly generics: readonly string[]
  /** Its base types, in terms of its own parameters. */
  readonly bases: readonly CsType[]
  /** A value type: copied on assignment, never null. */
  readonly isValue: boolean
  readonly members: ReadonlyMap<string, readonly Member[]>
  /** Whether a value has this type; undefined for types without values at run time. */
  readonly holds: ((value: unknown) => boolean) | undefined
}

const types = new Map<string, TypeInfo>()
const members = new Map<string, Member>()
/** By element type: the type with the additional members of its sequences. */
const sequenceMembers = new Map<string, CsType>()

interface Declaration {
  readonly bases?: readonly string[]
  /** Its members are extension methods for every sequence of this type or of a derived type. */
  readonly ofSequencesOf?: string
  readonly value?: boolean
  readonly holds?: (value: unknown) => boolean
}

/**
 * Declares a type: `name` with its parameters (`List<T>`), and for each member its signature in C#'s word order (`static Join<T>(string separator,
 * IEnumerable<T> values): string`) with its implementation. Instance members get the object first; `extension` members also accept null.
 */
export function declareType(
  written: string,
  declaration: Declaration,
  rows: Readonly<Record<string, Implementation>>,
): void {
  const type = parseType(written)
  const byName = new Map<string, Member[]>()
  for (const [signature, run] of Object.entries(rows)) {
    const member = readSignature(type.name, signature, run)
    const twin = members.get(member.id)
    if (twin !== undefined) throw new Error(`${member.id} is declared twice`)
    members.set(member.id, member)
    const list = byName.get(member.name)
    if (list === undefined) byName.set(member.name, [member])
    else list.push(member)
  }
  if (declaration.ofSequencesOf !== undefined)
    sequenceMembers.set(declaration.ofSequencesOf, named(type.name))
  if (types.has(type.name)) throw new Error(`${type.name} is declared twice`)
  types.set(type.name, {
    name: type.name,
    generics: type.args.map((arg) => arg.name),
    bases: (declaration.bases ?? []).map(parseType),
    isValue: declaration.value === true,
    members: byName,
    holds: declaration.holds,
  })
}

const shape =
  /^(static )?(extension )?(typed )?(set )?(this(?=\[)|[A-Za-z_][A-Za-z0-9_]*)(?:<([A-Za-z, ]+)>)?(?:([([])(.*)[)\]])?: (.+)$/

/**
 * Reads a row of the library, e.g. `static Parse(string text): int`. The text is the declaration and, with the parameters, the id by which
 * plans name the member.
 */
function readSignature(owner: string, signature: string, run: Implementation): Member {
  const found = shape.exec(signature)
  if (found === null) throw new Error(`the signature ${owner}.${signature} cannot be read`)
  const [, isStatic, extension, typed, set, name = "", generics, bracket, list, result = ""] = found
  const parameters = list === undefined || list === "" ? [] : splitList(list).map(readParameter)
  const kind: MemberKind =
    name === "this"
      ? set === undefined
        ? "index"
        : "index-set"
      : bracket === undefined
        ? set === undefined
          ? "get"
          : "set"
        : name === "new"
          ? "new"
          : "method"
  const tail = bracket === undefined ? "" : `(${parameters.map(parameterKey).join(",")})`
  // Conversions from one type to several differ only in their result.
  const target = name.startsWith("op_") ? `:${typeKey(parseType(result))}` : ""
  const marks = `${generics === undefined ? "" : `<${generics.split(", ").length}>`}${tail}${set === undefined ? "" : "="}${target}`
  return {
    id: `${owner}.${name}${marks}`,
    owner,
    name,
    kind,
    isStatic: isStatic !== undefined || name === "new",
    typed: typed !== undefined,
    extension: extension !== undefined,
    generics: generics?.split(", ") ?? [],
    parameters,
    result: parseType(result),
    run,
  }
}

function parameterKey(parameter: Parameter): string {
  const type = typeKey(parameter.type)
  return parameter.kind === "in" ? type : `${parameter.kind} ${type}`
}

function typeKey(type: CsType): string {
  if (type.name === "[]") return `${typeKey(type.args[0] as CsType)}[]`
  if (type.name === "?") return `${typeKey(type.args[0] as CsType)}?`
  return type.args.length === 0 ? type.name : `${type.name}<${type.args.map(typeKey).join(",")}>`
}

/** Splits at the commas outside `<…>`. */
function splitList(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < list.length; at++) {
    if (list[at] === "<") depth++
    else if (list[at] === ">") depth--
    else if (list[at] === "," && depth === 0) {
      parts.push(list.slice(from, at).trim())
      from = at + 1
    }
  }
  parts.push(list.slice(from).trim())
  return parts
}

/** A parameter: `params` and `out`, the type, the name, a default in JSON. */
function readParameter(written: string): Parameter {
  const found = /^(params |out )?([^ =]+(?:<.*>)?(?:\[\])*\??)(?: ([a-zA-Z]+))?(?: = (.+))?$/.exec(written)
  if (found === null) throw new Error(`the parameter ${written} cannot be read`)
  const [, kind, type = "", name = "", fallback] = found
  return {
    name,
    type: parseType(type),
    kind: kind === undefined ? "in" : (kind.trim() as "params" | "out"),
    fallback: fallback === undefined ? undefined : (JSON.parse(fallback) as string | number | boolean | null),
  }
}

/** A type by name; undefined if the library does not have it. */
export function typeInfo(name: string): TypeInfo | undefined {
  return types.get(name)
}

/** The names of all types. */
export function typeNames(): Iterable<string> {
  return types.keys()
}

/** The member with an id from a plan; undefined if the library does not have it. */
export function memberById(id: string): Member | undefined {
  return members.get(id)
}

/** Types whose members extend a sequence of the element, e.g. those of `IEnumerable<byte>`. */
function extensionsOf({ args: [element] }: CsType, known: readonly CsType[]): CsType[] {
  if (element === undefined) return []
  const names = new Set([element.name])
  for (const name of names) for (const base of types.get(name)?.bases ?? []) names.add(base.name)
  return [...names].flatMap((name) => {
    const holder = sequenceMembers.get(name)
    return holder === undefined || known.includes(holder) ? [] : [holder]
  })
}

/** A type and all its base types, nearest first, with the parameters replaced. Every list ends with `object`. */
export function lineage(type: CsType): CsType[] {
  const found: CsType[] = [type]
  for (const at of found) {
    const info = types.get(at.name)
    if (info === undefined) continue
    if (at.name === "IEnumerable") found.push(...extensionsOf(at, found))
    const bound = new Map(info.generics.map((name, index) => [name, at.args[index] ?? parseType("object")]))
    for (const base of info.bases) {
      const made = substitute(base, bound)
      if (!found.some((other) => other.name === made.name && other.args.length === made.args.length))
        found.push(made)
    }
  }
  if (type.name !== "object" && type.name !== "void") found.push(parseType("object"))
  return found
}
