import { type CsType, generic, named, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { looseArguments, readArguments } from "./arguments.ts"
import { checkAssign, checkStep } from "./check-assign.ts"
import { checkAnonymous, checkArray, checkNew } from "./check-new.ts"
import { checkBinary, checkIf, checkUnary } from "./check-operator.ts"
import { checkIs, checkSwitch } from "./check-pattern.ts"
import { checkTuple, zeroTuple } from "./check-tuple.ts"
import { change, demand, explicit } from "./conversions.ts"
import {
  asSequence,
  callOf,
  candidates,
  choose,
  getMember,
  indexMember,
  lateBound,
  unknownMember,
} from "./members.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type { ExpressionSyntax } from "./syntax-tree.ts"
import { refuseNamespace, typeAt } from "./type-at.ts"
import { isValueType, resolveType } from "./type-names.ts"
import { type Typed, typed, types } from "./typed.ts"

type Of<K extends ExpressionSyntax["kind"]> = Extract<ExpressionSyntax, { kind: K }>

/** Checks an expression and returns its typed node. @throws CsharpMistake at the first mistake */
export function checkExpression(expression: ExpressionSyntax, scope: Scope, wanted?: CsType): Typed {
  scope.work(expression)
  switch (expression.kind) {
    case "literal":
      return literal(expression)
    case "text":
      return text(expression)
    case "interpolated":
      return interpolated(expression, scope)
    case "name":
      return name(expression, scope)
    case "member":
      return member(expression, scope)
    case "call":
      return call(expression, scope)
    case "index": {
      const on = checkExpression(expression.on, scope)
      return indexMember(on, readArguments(expression.args, scope), undefined, scope, expression)
    }
    case "safe":
      return safe(expression, scope)
    // The value behind `?.`: `safe` keeps it in a variable with a name that C# cannot have.
    case "hole": {
      const hole = scope.find("?")
      if (hole === undefined) throw scope.unknown("?", expression.start, expression.end)
      return typed({ k: "local", slot: hole.slot }, hole.type)
    }
    case "cast":
      return cast(expression, scope)
    case "as": {
      const type = resolveType(expression.type)
      const on = checkExpression(expression.on, scope)
      return typed(
        { k: "as", type: printType(type), on: demand(on, types.object, expression.on) },
        // `as int` cannot be null in C#, so the result is `int?`.
        isValueType(type) ? generic("?", type) : type,
      )
    }
    default:
      return checkOther(expression, scope, wanted)
  }
}

/** The rarer kinds of expressions. `wanted`: the type that the context expects, for `new()` and `default`. */
function checkOther(expression: ExpressionSyntax, scope: Scope, wanted: CsType | undefined): Typed {
  switch (expression.kind) {
    case "unary":
      return checkUnary(expression, scope)
    case "binary":
      return checkBinary(expression, scope)
    case "if":
      return checkIf(expression, scope, wanted)
    case "is":
      return checkIs(expression, scope)
    case "switch":
      return checkSwitch(expression, scope, wanted)
    case "assign":
      return checkAssign(expression, scope)
    case "step":
      return checkStep(expression, scope)
    case "new":
      return checkNew(expression, scope, wanted)
    case "array":
      return checkArray(expression, scope)
    case "anonymous":
      return checkAnonymous(expression, scope)
    case "tuple":
      return checkTuple(expression, scope, wanted)
    case "throw":
      return typed({ k: "throw", on: checkExpression(expression.on, scope).node }, types.never)
    // `typeof(T)`: programs compare and print types, so their names are enough.
    case "type":
      return typed(
        { k: "const", type: "string", value: printType(resolveType(expression.type)) },
        types.string,
      )
    case "default":
      return defaultValue(expression.type === undefined ? wanted : resolveType(expression.type), expression)
    default:
      throw new CsharpMistake(
        "type",
        "a function is allowed here only if its type is known",
        expression.start,
        expression.end,
        "Pass it to a method, or declare its type: `Func<string, string> f = …`.",
      )
  }
}

/** The default value of a type. */
function defaultValue(
  type: CsType | undefined,
  place: { readonly start: number; readonly end: number },
): Typed {
  if (type === undefined)
    throw new CsharpMistake(
      "type",
      "the type of `default` is not known here",
      place.start,
      place.end,
      "Write `default(T)`.",
    )
  // Reference types and nullable types begin with null.
  if (!isValueType(type)) return typed({ k: "const", type: "null", value: null }, type)
  if (type.name === "ValueTuple") return zeroTuple(type, (arg) => defaultValue(arg, place), place)
  const [zero] = candidates(type, "default", "method", true)
  return typed({ k: "call", member: zero?.member.id ?? "", args: [] }, type)
}

function literal({ type, value }: Of<"literal">): Typed {
  // A constant is kept beside the node: it decides about overloads and indexes of dictionaries.
  return { node: { k: "const", type, value }, type: named(type), constant: value }
}

function piece(part: string | { kind: "value" | "secret"; name: string }): CsNode {
  return typeof part === "string"
    ? { k: "const", type: "string", value: part }
    : { k: "named", kind: part.kind, name: part.name }
}

/** A text. Named values that are known only when the plan is loaded make it a concatenation. */
function text({ pieces }: Of<"text">): Typed {
  const [only, second] = pieces
  // No named value inside: the text is a constant.
  if (second === undefined && (only === undefined || typeof only === "string"))
    return { node: piece(only ?? ""), type: types.string, constant: only ?? "" }
  return typed(
    pieces.length === 1 ? piece(only as string) : { k: "concat", parts: pieces.map(piece) },
    types.string,
  )
}

/** An interpolated string. The type of each hole is kept, because formats depend on it. */
function interpolated({ parts }: Of<"interpolated">, scope: Scope): Typed {
  const made = parts.map((part) => {
    if (typeof part === "string" || "kind" in part) return { on: piece(part), type: "string" }
    const value = checkExpression(part.value, scope)
    // Boxing preserves a type that a number alone does not show: `{x:X2}` of a byte.
    const on = value.type.name === "void" ? demand(value, types.object, part.value) : value.node
    return {
      on,
      type: printType(value.type),
      ...(part.align === undefined ? {} : { align: part.align }),
      ...(part.format === undefined ? {} : { format: part.format }),
    }
  })
  const constant = parts.every((part) => typeof part === "string") ? parts.join("") : undefined
  return {
    node: { k: "format", parts: made },
    type: types.string,
    ...(constant === undefined ? {} : { constant }),
  }
}

function name(expression: Of<"name">, scope: Scope): Typed {
  const variable = scope.find(expression.name)
  // A variable hides the context, as in C#.
  if (variable !== undefined) return typed({ k: "local", slot: variable.slot }, variable.type)
  if (expression.name === "context") return typed({ k: "context" }, named("IProxyContext"))
  throw scope.unknown(expression.name, expression.start, expression.end)
}

/** A member: of a type if the left side names one, otherwise of a value. A local variable with the name of a type comes first. */
function member(expression: Of<"member">, scope: Scope): Typed {
  const place = { start: expression.nameStart, end: expression.end }
  const owner = typeAt(expression.on, scope)
  if (owner === undefined) {
    refuseNamespace(expression.on, scope)
    return getMember(checkExpression(expression.on, scope), expression.name, place, scope)
  }
  // Static members are looked up before values: `DateTime.Now`.
  const [found] = candidates(owner, expression.name, "get", true)
  if (found === undefined) throw unknownMember(owner, expression.name, true, place)
  const value = callOf(choose([found], [], [], scope, place, expression.name), undefined, place.start)
  // Folded to a constant, so that texts built from it are constants, too.
  return owner.name === "string" && expression.name === "Empty"
    ? { ...value, node: { k: "const", type: "string", value: "" }, constant: "" }
    : value
}

/** A call: of a function, of a static member, of an extension written as a static call, or of a method. */
function call(expression: Of<"call">, scope: Scope): Typed {
  const { on } = expression
  if (on.kind === "name") return callName(expression, on, scope)
  if (on.kind !== "member") return invoke(checkExpression(on, scope), expression, scope)
  const place = { start: on.nameStart, end: on.end }
  // Written type arguments decide the overload: `Value<string>("a")`.
  const written = (on.types ?? []).map(resolveType)
  const extended = asExtension(expression, on, scope)
  if (extended !== undefined) return call(extended, scope)
  const owner = typeAt(on.on, scope)
  if (owner !== undefined) {
    const found = candidates(owner, on.name, "method", true)
    // Operators are methods by name, but C# does not let programs call them.
    if (found.length === 0 || on.name.startsWith("op_")) throw unknownMember(owner, on.name, true, place)
    return callOf(
      choose(found, readArguments(expression.args, scope), written, scope, place, on.name),
      undefined,
      place.start,
    )
  }
  refuseNamespace(on.on, scope)
  return method(checkExpression(on.on, scope), on, written, expression, scope)
}

/** Rewrites `ExpressionSyntaxExtensions.AsJwt(text)` to `text.AsJwt()`. */
function asExtension(expression: Of<"call">, on: Of<"member">, scope: Scope): Of<"call"> | undefined {
  const holder = "ExpressionSyntaxExtensions"
  if (on.on.kind !== "name" || on.on.name !== holder || scope.find(holder) !== undefined) return undefined
  const [first, ...args] = expression.args
  const target = first?.value
  return target === undefined ? undefined : { ...expression, on: { ...on, on: target }, args }
}

/** A method of a value. What is not found on its type may exist at run time, if the type is dynamic. */
function method(
  target: Typed,
  on: Of<"member">,
  written: readonly CsType[],
  expression: Of<"call">,
  scope: Scope,
): Typed {
  const place = { start: on.nameStart, end: on.end }
  const found = on.name.startsWith("op_") ? [] : candidates(target.type, on.name, "method", false)
  const given = readArguments(expression.args, scope)
  if (found.length > 0) {
    // LINQ on a string or JSON value works on its elements.
    const sequence = asSequence(target, found[0]?.member)
    const fitting = sequence === target ? found : candidates(sequence.type, on.name, "method", false)
    return callOf(choose(fitting, given, written, scope, place, on.name), sequence.node, place.start)
  }
  const late = lateBound(target, on.name, "method", given, place)
  if (late !== undefined) return late
  // A property with a function, or a dictionary used like a method: `context.Request.MatchedParameters("id")`.
  if (candidates(target.type, on.name, "get", false).length > 0)
    return invoke(getMember(target, on.name, place, scope), expression, scope)
  throw unknownMember(target.type, on.name, false, place)
}

/** A call of a local function. Parameters with defaults may be left out. */
function callName(expression: Of<"call">, on: Of<"name">, scope: Scope): Typed {
  if (on.name === "nameof" && scope.find("nameof") === undefined) return nameOf(expression)
  const variable = scope.find(on.name)
  if (variable === undefined) throw scope.unknown(on.name, on.start, on.end)
  const { declared } = variable
  // C# demands constants as defaults, so they can become arguments of the call.
  const missing = (declared?.params ?? [])
    .slice(expression.args.length)
    .flatMap(({ fallback }) => fallback ?? [])
  const args = [
    ...expression.args,
    ...missing.map((value) => ({ value, start: value.start, end: value.end })),
  ]
  return invoke(typed({ k: "local", slot: variable.slot }, variable.type), { ...expression, args }, scope)
}

/** `nameof` is a constant: the last part of the name. */
function nameOf(expression: Of<"call">): Typed {
  const value = expression.args[0]?.value
  const last = value?.kind === "name" || value?.kind === "member" ? value.name : undefined
  if (last === undefined)
    throw new CsharpMistake(
      "syntax",
      "`nameof` takes a name",
      expression.start,
      expression.end,
      "Write the name as a string.",
    )
  return { node: { k: "const", type: "string", value: last }, type: types.string, constant: last }
}

/** Calls a function of the program. Calling a dictionary looks up a value, because some published policies do that. */
function invoke(target: Typed, expression: Of<"call">, scope: Scope): Typed {
  const { name: kind, args: signature } = target.type
  const given = readArguments(expression.args, scope)
  if (kind !== "Func" && kind !== "Action") {
    const found = candidates(target.type, "GetValueOrDefault", "method", false)
    if (found.length > 0)
      return callOf(
        choose(found, given, [], scope, expression, "GetValueOrDefault"),
        target.node,
        expression.start,
      )
    const loose = target.type.name === "dynamic" ? looseArguments(given) : undefined
    if (loose !== undefined)
      return typed({ k: "invoke", on: target.node, args: loose, at: expression.start }, types.dynamic)
    throw new CsharpMistake(
      "type",
      `\`${printType(target.type)}\` cannot be called`,
      expression.start,
      expression.end,
      "Call a method or a function.",
    )
  }
  const params = kind === "Func" ? signature.slice(0, -1) : signature
  if (params.length !== given.length)
    throw new CsharpMistake(
      "no-overload",
      `the function takes ${params.length} arguments, not ${given.length}`,
      expression.start,
      expression.end,
      "Pass one argument for each parameter.",
    )
  const args = given.map((argument, index) => {
    if (argument.kind === "value") return demand(argument.value, params[index] as CsType, argument.at)
    const made =
      argument.kind === "lambda"
        ? scope.rules.delegate(argument.lambda, params[index] as CsType, scope)
        : undefined
    if (made === undefined)
      throw new CsharpMistake(
        "type",
        "the argument has the wrong type",
        argument.at.start,
        argument.at.end,
        "Pass a value of the type of the parameter.",
      )
    return made
  })
  return typed(
    { k: "invoke", on: target.node, args, at: expression.start },
    kind === "Func" ? (signature.at(-1) as CsType) : types.void,
  )
}

/** `a?.b`: the value is kept in a slot, so that it is evaluated once. A value type becomes nullable. */
function safe(expression: Of<"safe">, scope: Scope): Typed {
  const on = checkExpression(expression.on, scope)
  const inner = scope.inner()
  const bare = on.type.name === "?" ? (on.type.args[0] as CsType) : on.type
  const hole = inner.declare("?", bare)
  const rest = checkExpression(expression.rest, inner)
  const type = isValueType(rest.type) ? generic("?", rest.type) : rest.type
  // biome-ignore lint/suspicious/noThenProperty: a plan is data and is never awaited.
  return typed({ k: "safe", slot: hole.slot, on: on.node, then: rest.node }, type)
}

/** A cast. From `dynamic` it is decided at run time. */
function cast(expression: Of<"cast">, scope: Scope): Typed {
  const type = resolveType(expression.type)
  if (expression.on.kind === "lambda") {
    const made = scope.rules.delegate(expression.on, type, scope)
    if (made !== undefined) return typed(made, type)
  }
  const on = checkExpression(expression.on, scope, type)
  const node = on.type.name === "dynamic" ? change(on.node, types.object, type) : explicit(on, type)
  if (node === undefined)
    throw new CsharpMistake(
      "type",
      `\`${printType(on.type)}\` cannot be cast to \`${printType(type)}\``,
      expression.start,
      expression.end,
      castHelp(on.type, type),
    )
  return typed(node, type)
}

function castHelp(from: CsType, to: CsType): string {
  if (to.name === "string") return "Use `.ToString()`."
  return from.name === "string" ? `Parse it: \`${printType(to)}.Parse(…)\`.` : "Convert it with `Convert`."
}
