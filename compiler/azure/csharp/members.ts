import { compilePattern } from "../../../runtime/azure/csharp/pattern.ts"
import {
  lineage,
  type Member,
  type MemberKind,
  typeInfo,
  typeNames,
} from "../../../runtime/azure/csharp/table.ts"
import { type CsType, named, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { didYouMean } from "../../core/nearest.ts"
import { type Fit, fitMember, type Given, looseArguments } from "./arguments.ts"
import { change, isBoxedField } from "./conversions.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import { type Typed, typed, types } from "./typed.ts"

interface Place {
  readonly start: number
  readonly end: number
}

interface Candidate {
  readonly member: Member
  readonly owner: ReadonlyMap<string, CsType>
}

/** The members of a type with this name and kind. Own members come before inherited ones. */
export function candidates(type: CsType, name: string, kind: MemberKind, isStatic: boolean): Candidate[] {
  const found: Candidate[] = []
  for (const at of lineage(type)) {
    const info = typeInfo(at.name)
    if (info === undefined) continue
    const owner = new Map(info.generics.map((generic, index) => [generic, at.args[index] ?? types.object]))
    for (const member of info.members.get(name) ?? [])
      if (member.kind === kind && member.isStatic === isStatic) found.push({ member, owner })
    // Constructors and conversions are not inherited.
    if (kind === "new") break
  }
  return found
}

/** All member names of a type, for suggestions. */
function namesOf(type: CsType, isStatic: boolean): string[] {
  const names = new Set<string>()
  for (const at of lineage(type))
    for (const [name, members] of typeInfo(at.name)?.members ?? [])
      if (/^[A-Z]/.test(name) && members.some((member) => member.isStatic === isStatic)) names.add(name)
  return [...names]
}

/** A message lists all members of a type only up to this number. */
const shownMax = 16

/** The finding for an unknown member: the nearest name, and what to use instead. */
export function unknownMember(type: CsType, name: string, isStatic: boolean, place: Place): CsharpMistake {
  return new CsharpMistake(
    "unknown-member",
    `\`${printType(type)}\` has no member \`${name}\`${didYouMean(name, namesOf(type, isStatic))}`,
    place.start,
    place.end,
    type.name === "object"
      ? "Cast the value to its type first: `((JObject)value)`."
      : (refusalOfMember(type.name, name) ?? membersOf(type, isStatic)),
  )
}

/** The type's own members, as help for an unknown one. */
function membersOf(type: CsType, isStatic: boolean): string {
  const ofAll = new Set(namesOf(types.object, isStatic))
  const own = namesOf(type, isStatic).filter((name) => !ofAll.has(name))
  return own.length === 0 || own.length > shownMax
    ? "Use a member of the type; policies can use only a part of .NET."
    : `It has ${own.map((name) => `\`${name}\``).join(", ")}.`
}

/** Chooses the overload whose parameters fit the arguments best. @throws CsharpMistake when no overload fits, or the choice is ambiguous */
export function choose(
  found: readonly Candidate[],
  given: readonly Given[],
  written: readonly CsType[],
  scope: Scope,
  place: Place,
  name: string,
): Fit {
  let best: Fit | undefined
  let mistake: unknown
  for (const { member, owner } of found) {
    scope.work(place)
    try {
      const way = fitMember(member, owner, given, written, scope)
      if (way !== undefined && (best === undefined || way.cost < best.cost)) best = way
    } catch (error) {
      if (!(error instanceof CsharpMistake) || error.finding.kind === "limit") throw error
      mistake ??= error
    }
  }
  if (best !== undefined) {
    checkPatterns(best, given, place)
    return best
  }
  if (mistake !== undefined) throw mistake
  throw noOverload(found, given, place, name)
}

/** Checks literal patterns at compile time. */
function checkPatterns({ member, args }: Fit, given: readonly Given[], place: Place): void {
  if (member.owner !== "Regex") return
  const index = member.parameters.findIndex(({ name }) => name === "pattern")
  const pattern = args[index]
  if (pattern?.k !== "const" || typeof pattern.value !== "string") return
  const why = compilePattern(pattern.value)
  if (typeof why !== "string") return
  const { start, end } = given[index]?.at ?? place
  throw new CsharpMistake(
    "type",
    `the pattern cannot be used: ${why}`,
    start,
    end,
    "Write the pattern without that, or match in two steps.",
  )
}

/** The finding for arguments that no overload takes; up to three overloads are shown. */
function noOverload(
  found: readonly Candidate[],
  given: readonly Given[],
  place: Place,
  name: string,
): CsharpMistake {
  const shown = given.map((argument) =>
    argument.kind === "value" ? printType(argument.value.type) : argument.kind === "out" ? "out" : "=>",
  )
  const takes = found
    .slice(0, 3)
    .map(
      ({ member }) =>
        `\`${name}(${member.parameters.map(({ type, kind }) => `${kind === "in" ? "" : `${kind} `}${printType(type)}`).join(", ")})\``,
    )
  return new CsharpMistake(
    "no-overload",
    `\`${name}\` does not take (${shown.join(", ")})`,
    place.start,
    place.end,
    takes.length === 0 ? "Pass other arguments." : `Call it as ${takes.join(" or ")}.`,
  )
}

/** The call of the chosen member. */
export function callOf(way: Fit, on: CsNode | undefined, at: number): Typed {
  const node: CsNode = {
    k: "call",
    member: way.member.id,
    ...(on === undefined ? {} : { on }),
    args: [...way.args],
    ...(way.types.length === 0 ? {} : { types: [...way.types] }),
    at,
  }
  return typed(node, way.result)
}

/** A property of a value. */
export function getMember(on: Typed, name: string, place: Place, scope: Scope): Typed {
  if (on.type.name === "anonymous") {
    const index = on.type.fields?.indexOf(name) ?? -1
    const type = on.type.args[index]
    if (type !== undefined) {
      const field: CsNode = { k: "field", name, on: on.node }
      return typed(isBoxedField(type) ? change(field, types.object, type) : field, type)
    }
  }
  const item = on.type.name === "ValueTuple" ? (on.type.fields?.indexOf(name) ?? -1) : -1
  if (item >= 0) return getMember(on, `Item${item + 1}`, place, scope)
  // The library's tuple types have seven items. A tuple with two items must not have a third.
  const isBehind =
    on.type.name.endsWith("Tuple") && Number(/^Item(\d)$/.exec(name)?.[1]) > on.type.args.length
  if (isBehind) throw unknownMember(on.type, name, false, place)
  const [found] = candidates(on.type, name, "get", false)
  if (found !== undefined && !name.startsWith("op_")) {
    noteNeeds(found.member.id, on.node, scope)
    return callOf(choose([found], [], [], scope, place, name), on.node, place.start)
  }
  const late = lateBound(on, name, "get", [], place)
  if (late !== undefined) return late
  throw unknownMember(on.type, name, false, place)
}

/**
 * A member of a value whose type is only known at run time: of `dynamic`, and of `object` when some type of the library has a member with this
 * name. Policies rely on the latter for the contents of variables.
 */
export function lateBound(
  on: Typed,
  name: string,
  form: "get" | "method" | "index",
  given: readonly Given[],
  place: Place,
): Typed | undefined {
  if (on.type.name !== "dynamic" && !(on.type.name === "object" && isKnown(name, form))) return undefined
  const args = looseArguments(given)
  return args === undefined
    ? undefined
    : typed({ k: "late", name, form, on: on.node, args, at: place.start }, types.dynamic)
}

function isKnown(name: string, form: MemberKind): boolean {
  for (const type of typeNames()) {
    const members = typeInfo(type)?.members.get(name) ?? []
    if (members.some((member) => member.kind === form && !member.isStatic && !name.startsWith("op_")))
      return true
  }
  return false
}

/** Records the bodies that a program reads. The body of a response in a variable is available already. */
function noteNeeds(member: string, on: CsNode, scope: Scope): void {
  const { shared } = scope
  if (member === "IProxyContext.Response") shared.readsResponse = true
  if (member === "IRequest.Body") shared.needs |= 1
  if (member === "IResponse.Body") {
    const isBackend = on.k === "call" && on.member === "IProxyContext.Response"
    if (isBackend || (on.k === "local" && shared.readsResponse)) shared.needs |= 2
  }
}

/** `x[…]`, or `x[…] = value` when a value is given. */
export function indexMember(
  on: Typed,
  given: readonly Given[],
  value: Given | undefined,
  scope: Scope,
  place: Place,
): Typed {
  const kind = value === undefined ? "index" : "index-set"
  const found = candidates(on.type, "this", kind, false)
  if (found.length > 0) {
    const way = choose(found, given, [], scope, place, `${printType(on.type)}[]`)
    if (value === undefined) return callOf(way, on.node, place.start)
    const target = found.find(({ member }) => member === way.member) as Candidate
    const wanted: Member = {
      ...way.member,
      parameters: [...way.member.parameters, valueParameter(way.member)],
    }
    const set = choose(
      [{ member: wanted, owner: target.owner }],
      [...given, value],
      [],
      scope,
      place,
      `${printType(on.type)}[]`,
    )
    return callOf(set, on.node, place.start)
  }
  const late = value === undefined ? lateBound(on, "this", "index", given, place) : undefined
  if (late !== undefined) return late
  throw new CsharpMistake(
    "unknown-member",
    `\`${printType(on.type)}\` ${value === undefined ? "cannot be indexed with square brackets" : "does not allow assignments with square brackets"}`,
    place.start,
    place.end,
    on.type.name === "object"
      ? "Cast the value to its type first: `((JObject)value)`."
      : "Use a list, dictionary, JObject or JArray.",
  )
}

/** A setter takes the value as an additional argument of the member's type. */
export function valueParameter(member: Member): Member["parameters"][number] {
  return { name: "value", type: member.result, kind: "in", fallback: undefined }
}

/** A JObject is a sequence of tokens and of pairs. Policies use the pairs, as `foreach` does. */
export function asSequence(on: Typed, member: Member | undefined): Typed {
  const isSequence = member === undefined || member.owner === "IEnumerable"
  if (!isSequence) return on
  const pairs =
    on.type.name === "JObject"
      ? "JObject.op_Pairs():IEnumerable<KeyValuePair<string,JToken>>"
      : on.type.name === "IVariables"
        ? "IVariables.op_Elements():IEnumerable<KeyValuePair<string,object>>"
        : undefined
  if (pairs === undefined) return on
  const element: CsType = {
    name: "KeyValuePair",
    args: [types.string, named(on.type.name === "JObject" ? "JToken" : "object")],
  }
  return typed({ k: "call", member: pairs, on: on.node, args: [] }, { name: "IEnumerable", args: [element] })
}

/** Members of Azure API Management that are deliberately unsupported: the reason, and the alternative. Key: type and member. */
const refused: Readonly<Record<string, string>> = {
  "ISubscription.PrimaryKey":
    "Use `context.Subscription.Key`, the key that the request contains: stored keys are digests and cannot be read.",
  "ISubscription.SecondaryKey":
    "Use `context.Subscription.Key`, the key that the request contains: stored keys are digests and cannot be read.",
}

/** Why a member is deliberately unsupported. Undefined for any other member. */
function refusalOfMember(type: string, name: string): string | undefined {
  const key = `${type}.${name}`
  return Object.hasOwn(refused, key) ? refused[key] : undefined
}
