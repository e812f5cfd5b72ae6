import { Anonymous } from "./collections.ts"
import { CsException } from "./errors.ts"
import { JObject } from "./json-tree.ts"
import { lineage, type Member, type MemberKind, typeInfo, typeNames } from "./table.ts"
import { named } from "./type.ts"
import { isInstance } from "./type-test.ts"

/**
 * A member of an `object` whose type is known only at run time, like C#'s `dynamic`: the first member with this name and kind whose parameters accept
 * the arguments. @throws RuntimeBinderException
 */
export function callLate(self: unknown, name: string, form: MemberKind, args: readonly unknown[]): unknown {
  if (self instanceof Anonymous && form === "get" && self.fields.has(name)) return self.fields.get(name)
  // On a `dynamic` JObject, a name is one of its properties.
  const property = self instanceof JObject && form === "get" ? self.get(name) : null
  if (property !== null) return property
  const member = findMember(self, name, form, args)
  if (member === undefined && self instanceof JObject && form === "get") return null
  if (member === undefined)
    throw new CsException(
      "RuntimeBinderException",
      `The value has no member '${name}' that takes these arguments.`,
    )
  const rest = member.parameters.slice(args.length).map((parameter) => parameter.fallback)
  return (member.run as (...values: unknown[]) => unknown)(self, ...args, ...rest)
}

/**
 * The first member with this name that takes the arguments, from the value's own type to its bases. Typed members are left out: their type
 * arguments are known only to the compiler.
 */
function findMember(
  self: unknown,
  name: string,
  form: MemberKind,
  args: readonly unknown[],
): Member | undefined {
  for (const type of typesOf(self))
    for (const member of typeInfo(type)?.members.get(name) ?? [])
      if (member.kind === form && !member.isStatic && !member.typed && takes(member, args)) return member
  return undefined
}

function typesOf(self: unknown): string[] {
  const own: string[] = []
  // No value has the type `T?`: that is only the type of a variable.
  for (const name of typeNames()) if (name !== "?" && isInstance(self, named(name))) own.push(name)
  const all = own.flatMap((name) => lineage(named(name)).map((type) => type.name))
  return [...new Set([...own, ...all])]
}

/** A parameter of a type variable (`T`, at most two letters, unknown as a type) takes any value. */
function takes(member: Member, args: readonly unknown[]): boolean {
  if (args.length > member.parameters.length) return false
  return member.parameters.every((parameter, index) => {
    if (parameter.kind !== "in") return false
    if (index >= args.length) return parameter.fallback !== undefined
    const value = args[index]
    return (
      value === null ||
      isInstance(value, parameter.type) ||
      (typeInfo(parameter.type.name) === undefined && parameter.type.name.length <= 2)
    )
  })
}
