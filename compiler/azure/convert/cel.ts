/**
 * Types that both languages have. `long`: 64-bit integer; `int`: 32-bit integer; `time`: timestamp; `id`: new unique id; `group`: a matched
 * group of a pattern; `response`: response of a `send-request` in a variable; `jwt`: a checked token; `claims`: its claims; `caller`: the
 * caller's subscription or product; `json`: a JSON object or a part of one.
 */
export type CelKind =
  | "string"
  | "bool"
  | "int"
  | "long"
  | "time"
  | "bytes"
  | "id"
  | "group"
  | "dyn"
  | "response"
  | "list"
  | "null"
  | "json"
  | "jwt"
  | "claims"
  | "caller"

/** A CEL expression that replaces a C# expression of a policy document. */
export interface Cel {
  readonly text: string
  readonly kind: CelKind
  /** Precedence of its outermost operator, see `binds`. */
  readonly binds: number
  /** It has a value for every request. */
  readonly total: boolean
  /** C# may have null where CEL has "". `absent` is true in that case; `present` is the value otherwise. */
  readonly nullable: boolean
  readonly absent?: Cel
  readonly present?: Cel
  /** All characters are ASCII, so that upper and lower case are the same in both languages. */
  readonly ascii?: boolean
  /** For a `long`: JSON contains the number unchanged. */
  readonly exact?: true
  /** Its constant value. */
  readonly constant?: string | number | boolean | null
  /** For a concatenation: the parts. */
  readonly parts?: readonly Cel[]
  /** The expression it negates. */
  readonly negates?: Cel
  /** The name of the named value, when it is nothing else. */
  readonly named?: string
  /** The name of a secret in it. It is then allowed only in texts of statements. */
  readonly secret?: string
  /** A text converted to one case. With non-ASCII letters it can only be compared with constants. */
  readonly folded?: { readonly of: Cel; readonly by: Folding }
  /** It has no value (the call fails) where C# has null. */
  readonly fails?: true
  /** The length of this text. For any text it can only be tested for empty; other uses require ASCII. */
  readonly measured?: Cel
  /** For a list or a caller: never null. Where C# has null it has no value. */
  readonly sure?: true
  /** The members or items of JSON that the document builds. */
  readonly written?: ReadonlyMap<string, Cel> | readonly Cel[]
  /** The JSON that this text serialises. It can only be used as a body. */
  readonly writes?: Cel
  /** For a member of JSON: true when the parent is an object without this member. */
  readonly lacks?: Cel
  /** For the JSON of a body: its text. */
  readonly sent?: Cel
  /** For JSON: the required type of the whole. */
  readonly whole?: "map"
}

/** The case that letters are converted to. */
export type Folding = "lower" | "upper"

/** Precedence levels, from loose to tight. */
export const binds = { choice: 0, or: 1, and: 2, relation: 3, sum: 4, unary: 5, primary: 6 } as const

/** Its type in gateway.conf. */
export function typeOf({ kind }: Cel): string {
  return kind === "json" ? "dyn" : kind === "long" ? "int" : kind
}

/** Creates an expression, by default one that always has a value. */
export function cel(text: string, kind: CelKind, more: Partial<Cel> = {}): Cel {
  return { text, kind, binds: binds.primary, total: true, nullable: false, ...more }
}

/** A CEL string literal. */
export function literal(text: string): string {
  return JSON.stringify(text)
}

export function constant(value: string | number | boolean | null): Cel {
  if (value === null) return cel("null", "null", { constant: null, nullable: true })
  if (typeof value === "string")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes control characters.
    return cel(literal(value), "string", { constant: value, ascii: /^[\u0000-\u007f]*$/.test(value) })
  return cel(String(value), typeof value === "boolean" ? "bool" : "int", { constant: value })
}

/** The text of an operand, in parentheses when an operator of this level needs them. */
export function inside(part: Cel, level: number): string {
  return part.binds < level ? `(${part.text})` : part.text
}

/** An integer that must fit into 32 bits; otherwise it has no value. */
export function within32(text: string): string {
  return `[${text}].filter(n, n >= -2147483648 && n <= 2147483647)[0]`
}

export const isWhole = ({ kind }: Cel): boolean => kind === "int" || kind === "long"

/** Concatenates texts. Adjacent constants are merged. Null counts as "", as in C#. */
export function joined(parts: readonly Cel[]): Cel {
  const flat = parts.flatMap((part) => part.parts ?? [part])
  const merged: Cel[] = []
  for (const part of flat) {
    const last = merged.at(-1)
    if (part.constant === "") continue
    if (typeof part.constant === "string" && typeof last?.constant === "string")
      merged[merged.length - 1] = constant(last.constant + part.constant)
    else merged.push(asValue(part))
  }
  const [first] = merged
  if (first === undefined) return constant("")
  if (merged.length === 1) return first
  const secret = merged.find((part) => part.secret !== undefined)?.secret
  return cel(merged.map((part) => inside(part, binds.sum)).join(" + "), "string", {
    ...(secret === undefined ? {} : { secret }),
    binds: binds.sum,
    total: merged.every(({ total }) => total),
    ascii: merged.every(({ ascii }) => ascii === true),
    parts: merged,
  })
}

/** The same text with null replaced by "". */
function asValue({ absent: _absent, present: _present, fails: _fails, ...part }: Cel): Cel {
  return { ...part, nullable: false }
}

/** A text that is null in C# where `absent` is true. `fails`: `present` has no value where C# has null. */
export function optional(absent: Cel, present: Cel, fails = false): Cel {
  const value = asValue(present)
  return {
    ...choice(absent, constant(""), value),
    nullable: true,
    absent,
    present: { ...value, ...(fails ? { fails: true as const } : {}) },
  }
}

/** `a || b`, evaluated like in C#: b is not evaluated when a is true, and does not matter when a has no value. */
export function either(a: Cel, b: Cel): Cel {
  return a.total ? eitherOf(a, b) : choice(a, constant(true), b)
}

/** `a || b` in CEL: true when one side is true even if the other has no value. */
export function eitherOf(a: Cel, b: Cel): Cel {
  return cel(`${inside(a, binds.or)} || ${inside(b, binds.or + 1)}`, "bool", {
    binds: binds.or,
    total: a.total && b.total,
  })
}

export function compared(left: Cel, op: string, right: Cel): Cel {
  return cel(`${inside(left, binds.sum)} ${op} ${inside(right, binds.sum)}`, "bool", {
    binds: binds.relation,
    total: left.total && right.total,
  })
}

/** `test ? yes : no`. It has a value for every request only if all three parts have, and may be null if one branch may. */
export function choice(test: Cel, yes: Cel, no: Cel): Cel {
  if (typeof test.constant === "boolean") return test.constant ? yes : no
  if (test.negates !== undefined) return choice(test.negates, no, yes)
  return cel(`${inside(test, binds.or)} ? ${inside(yes, binds.or)} : ${no.text}`, yes.kind, {
    binds: binds.choice,
    total: test.total && yes.total && no.total,
    nullable: yes.nullable || no.nullable,
    ascii: yes.ascii === true && no.ascii === true,
  })
}

/** A value as C# converts it to a string. Undefined when CEL's conversion differs. */
export function asText(part: Cel): Cel | undefined {
  if (part.kind === "string") return part
  if (part.kind === "null") return constant("")
  if (typeof part.constant === "number") return constant(String(part.constant))
  if (part.kind === "id") return cel(part.text, "string", { ascii: true })
  if (isWhole(part)) return cel(`string(${part.text})`, "string", { total: part.total, ascii: true })
  if (part.kind === "bool" && part.absent === undefined)
    return choice(part, constant("True"), constant("False"))
  return undefined
}

export function negated(value: Cel): Cel {
  if (typeof value.constant === "boolean") return constant(!value.constant)
  if (value.negates !== undefined) return value.negates
  const { total } = value
  return cel(`!${inside(value, binds.unary)}`, "bool", { binds: binds.unary, total, negates: value })
}
