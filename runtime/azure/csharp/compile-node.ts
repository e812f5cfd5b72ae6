import type { CsNode } from "../../plan/csharp.ts"
import { Anonymous } from "./collections.ts"
import { compileBinary, compileUnary } from "./compile-operator.ts"
import { type CsClosure, compileStatement, returned } from "./compile-statement.ts"
import { align, formatValue } from "./composite-format.ts"
import { contextObject, type OutPlace } from "./context-object.ts"
import { Decimal } from "./decimal.ts"
import { CsException, nullReference } from "./errors.ts"
import { callLate } from "./late.ts"
import { convertNumber, isNumberType } from "./numbers.ts"
import { chargeItems, chargeText, currentHost, nested } from "./run.ts"
import { type Member, memberById, typeInfo } from "./table.ts"
import { type CsType, parseType } from "./type.ts"
import { box, cast, defaultOf, isInstance, unbox } from "./type-test.ts"
import { toText } from "./values.ts"

type Node<K extends CsNode["k"]> = Extract<CsNode, { k: K }>

/**
 * One compiler for each kind of node. What does not change between requests is resolved outside the returned closure, so that a request
 * pays for the evaluation only.
 */
const compilers: { [K in CsNode["k"]]: (node: Node<K>) => CsClosure } = {
  const: (node) => {
    const value = constant(node)
    return () => value
  },
  named:
    ({ kind, name }) =>
    () =>
      currentHost().namedValue(kind, name),
  context: () => () => contextObject,
  local:
    ({ slot }) =>
    (frame) =>
      frame[slot],
  set: ({ slot, value }) => {
    const run = compileNode(value)
    return (frame) => {
      const made = run(frame)
      frame[slot] = made
      return made
    }
  },
  // `out` arguments: the callee writes through this object into the caller's frame.
  out:
    ({ slot }) =>
    (frame): OutPlace => ({
      set: (value) => {
        frame[slot] = value
      },
    }),
  call: compileCall,
  late: ({ name, form, on, args, at }) => {
    const [target, values] = [compileNode(on), args.map(compileNode)]
    return (frame) => {
      const self = target(frame)
      // JavaScript would read a property of null as a TypeError without a place.
      if (self === null || self === undefined) throw placed(nullReference(), at)
      const given = values.map((value) => value(frame))
      return guard(() => callLate(self, name, form, given), at)
    }
  },
  invoke: ({ on, args, at }) => {
    const [target, values] = [compileNode(on), args.map(compileNode)]
    return (frame) => {
      const called = target(frame)
      // A delegate that was never assigned.
      if (typeof called !== "function") throw placed(nullReference(), at)
      const given = values.map((value) => value(frame))
      // Recursion of the program is limited by its depth, not by the stack of the process.
      return nested(() => (called as (...values: unknown[]) => unknown)(...given))
    }
  },
  binary: ({ op, type, left, right }) => compileBinary(op, type, compileNode(left), compileNode(right)),
  unary: ({ op, type, on }) => compileUnary(op, type, compileNode(on)),
  concat: compileConcat,
  format: compileFormat,
  if: ({ test, yes, no }) => {
    const [ask, onYes, onNo] = [compileNode(test), compileNode(yes), compileNode(no)]
    // `=== true`: a dynamic condition is converted before, so only booleans arrive here.
    return (frame) => (ask(frame) === true ? onYes(frame) : onNo(frame))
  },
  convert: ({ from, to, on }) => {
    const [run, change] = [compileNode(on), convert(from, to)]
    return (frame) => change(run(frame))
  },
  is: ({ type, on, slot }) => {
    const [run, wanted] = [compileNode(on), parseType(type)]
    // A boxed number is unboxed only where a variable takes it.
    if (slot === undefined) return (frame) => isInstance(run(frame), wanted)
    const unboxed = convert("object", type)
    return (frame) => {
      const value = run(frame)
      const is = isInstance(value, wanted)
      if (is) frame[slot] = unboxed(value)
      return is
    }
  },
  as: ({ type, on }) => {
    const [run, wanted] = [compileNode(on), parseType(type)]
    return (frame) => {
      const value = run(frame)
      return isInstance(value, wanted) ? value : null
    }
  },
  safe: ({ slot, on, then }) => {
    const [target, rest] = [compileNode(on), compileNode(then)]
    return (frame) => {
      // `undefined` is a slot that was never written.
      const value = target(frame)
      if (value === null || value === undefined) return null
      frame[slot] = value
      return rest(frame)
    }
  },
  sequence: ({ first, rest, keep }) => {
    const [begin, others] = [compileNode(first), rest.map(compileNode)]
    return (frame) => {
      const before = begin(frame)
      let last = before
      for (const other of others) last = other(frame)
      return keep === "first" ? before : last
    }
  },
  array: ({ type, items }) => {
    const runs = items.map(compileNode)
    const isBytes = type === "byte"
    return (frame) => {
      // Charged before the items are made, so that a program cannot allocate first.
      chargeItems(runs.length)
      const made = runs.map((run) => run(frame))
      // Methods of the library take byte arrays as typed arrays.
      return isBytes ? Uint8Array.from(made as number[]) : made
    }
  },
  "new-array": compileNewArray,
  anonymous: ({ names, items }) => {
    const runs = items.map(compileNode)
    return (frame) =>
      new Anonymous(new Map(names.map((name, index) => [name, (runs[index] as CsClosure)(frame)])))
  },
  field: ({ name, on }) => {
    const run = compileNode(on)
    return (frame) => {
      const value = run(frame)
      if (!(value instanceof Anonymous)) throw nullReference()
      return value.fields.get(name) ?? null
    }
  },
  lambda: compileLambda,
  throw: ({ on }) => {
    const run = compileNode(on)
    return (frame) => {
      const thrown = run(frame)
      // `throw null` throws this exception in .NET, too.
      throw thrown instanceof CsException ? thrown : nullReference()
    }
  },
}

type Convert = (value: unknown) => unknown

/** Compiles a node by its kind. The type of the table guarantees that each kind has a compiler. */
export function compileNode(node: CsNode): CsClosure {
  return (compilers[node.k] as (node: CsNode) => CsClosure)(node)
}

function constant({ type, value }: Node<"const">): unknown {
  if (typeof value !== "string") return value
  // Numbers with more digits than a double are texts in the plan, because JSON has no other form.
  if (type === "long" || type === "ulong") return BigInt(value)
  if (type === "decimal") return Decimal.parse(value)
  return type === "double" || type === "float" ? Number(value) : value
}

/** Sets the source offset of an exception, unless an inner node has set it. */
function placed(exception: CsException, at: number | undefined): CsException {
  // The innermost place is the most precise one.
  exception.at ??= at
  return exception
}

/** The error as a C# exception with its source offset. */
function relocated(error: unknown, at: number | undefined): unknown {
  if (error instanceof CsException) return placed(error, at)
  // A TypeError of the library: a member of null.
  return error instanceof TypeError ? placed(nullReference(), at) : error
}

function guard(run: () => unknown, at: number | undefined): unknown {
  try {
    return run()
  } catch (error) {
    throw relocated(error, at)
  }
}

/** A member that the library lacks is a fault of the plan, not of the request: plans are compiled with the same library. */
function compileCall({ member: id, on, args, types, at }: Node<"call">): CsClosure {
  const member = memberById(id)
  if (member === undefined) throw new Error(`the library has no member ${id}`)
  if (member.isStatic === (on !== undefined)) throw new Error(`the call of ${id} does not fit it`)
  const values = args.map(compileNode)
  const call = withTypes(member, (types ?? []).map(parseType))
  if (on === undefined) return staticCall(call, values, at)
  return member.extension
    ? extensionCall(call, compileNode(on), values, at)
    : memberCall(call, compileNode(on), values, at)
}

/** A call of an extension method. .NET passes null to these; they check it themselves. */
function extensionCall(
  call: Call,
  target: CsClosure,
  values: readonly CsClosure[],
  at: number | undefined,
): CsClosure {
  return (frame) => {
    const self = target(frame) ?? null
    try {
      return call(self, ...values.map((value) => value(frame)))
    } catch (error) {
      throw relocated(error, at)
    }
  }
}

type Call = (...values: unknown[]) => unknown

/** A member call, specialized by the number of arguments: most calls have few or none, and then need no array. */
function memberCall(
  call: Call,
  target: CsClosure,
  values: readonly CsClosure[],
  at: number | undefined,
): CsClosure {
  const [first, second] = values
  if (first === undefined)
    return (frame) => {
      const self = present(target(frame), at)
      try {
        return call(self)
      } catch (error) {
        throw relocated(error, at)
      }
    }
  if (second === undefined)
    return (frame) => {
      const self = present(target(frame), at)
      try {
        return call(self, first(frame))
      } catch (error) {
        throw relocated(error, at)
      }
    }
  if (values.length === 2)
    return (frame) => {
      const self = present(target(frame), at)
      try {
        return call(self, first(frame), second(frame))
      } catch (error) {
        throw relocated(error, at)
      }
    }
  return (frame) => {
    const self = present(target(frame), at)
    try {
      return call(self, ...values.map((value) => value(frame)))
    } catch (error) {
      throw relocated(error, at)
    }
  }
}

function present(self: unknown, at: number | undefined): unknown {
  if (self === null || self === undefined) throw placed(nullReference(), at)
  return self
}

/** A member with type arguments, which it takes first. */
function withTypes({ run, typed }: Member, types: readonly CsType[]): Call {
  const call = run as Call
  if (!typed) return call
  return (self, first, second, ...rest) =>
    rest.length === 0 ? call(types, self, first, second) : call(types, self, first, second, ...rest)
}

/** Calls without a target. Up to two arguments are passed without an array: these are nearly all calls of published documents. */
function staticCall(call: Call, values: readonly CsClosure[], at: number | undefined): CsClosure {
  const [first, second] = values
  return (frame) => {
    try {
      if (first === undefined) return call()
      if (second === undefined) return call(first(frame))
      if (values.length === 2) return call(first(frame), second(frame))
      return call(...values.map((value) => value(frame)))
    } catch (error) {
      throw relocated(error, at)
    }
  }
}

/** Two and three parts, the usual lengths, have closures without a loop. Texts are charged so that a program cannot fill the memory. */
function compileConcat({ parts }: Node<"concat">): CsClosure {
  const runs = parts.map(compileNode)
  const [first, second, third] = runs as [CsClosure, CsClosure, CsClosure | undefined]
  if (runs.length === 2)
    return (frame) => {
      const text = toText(first(frame)) + toText(second(frame))
      chargeText(text.length)
      return text
    }
  if (runs.length === 3 && third !== undefined)
    return (frame) => {
      const text = toText(first(frame)) + toText(second(frame)) + toText(third(frame))
      chargeText(text.length)
      return text
    }
  return (frame) => {
    let text = ""
    for (const run of runs) text += toText(run(frame))
    chargeText(text.length)
    return text
  }
}

/** An interpolated string. `align`: the width in characters, negative for the left edge; `format`: a .NET format string. */
function compileFormat({ parts }: Node<"format">): CsClosure {
  const runs = parts.map(({ on, align: width, format, type }) => {
    const run = compileNode(on)
    const write = (value: unknown): string =>
      format === undefined ? toText(value) : formatValue(value, format, type)
    if (width === undefined) return (frame: unknown[]) => write(run(frame))
    return (frame: unknown[]) => align(write(run(frame)), width)
  })
  return (frame) => {
    let text = ""
    for (const run of runs) text += run(frame)
    chargeText(text.length)
    return text
  }
}

/** Bytes have a typed array because the crypto and encoding members take one. Other elements begin with the default value of their type. */
function compileNewArray({ type, length }: Node<"new-array">): CsClosure {
  const run = compileNode(length)
  const element = parseType(type)
  return (frame) => {
    const count = Number(run(frame))
    if (count < 0) throw new CsException("OverflowException", "Arithmetic operation resulted in an overflow.")
    chargeItems(count)
    return type === "byte" ? new Uint8Array(count) : new Array(count).fill(defaultOf(element))
  }
}

/**
 * A function of the program. All functions share the frame, so that they can access each other's variables. A recursive call saves the slots of the
 * outer call and restores them.
 */
function compileLambda({ params, from, to, body }: Node<"lambda">): CsClosure {
  const run = "k" in body ? compileNode(body) : returned(compileStatement(body, compileNode))
  return (frame) => {
    let running = 0
    return (...values: unknown[]): unknown => {
      const kept = running > 0 ? frame.slice(from, to) : undefined
      for (let index = 0; index < params.length; index++) frame[params[index] as number] = values[index]
      running++
      try {
        return run(frame)
      } finally {
        running--
        if (kept !== undefined)
          for (let index = 0; index < kept.length; index++) frame[from + index] = kept[index]
      }
    }
  }
}

/** The conversion from one type to another. User-defined conversions of a type are members instead. */
function convert(from: string, to: string): Convert {
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

/** Conversions with a nullable side. A null that must become a value type throws, as a cast does in C#; otherwise null stays null. */
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
