/**
 * Types of values that both languages have; `long` is a whole number of 64 bits, `int` one of 32, `time` a timestamp, `id` a new id, `group` what a group of a pattern matched; `response` is a response that a request of our own left in a variable, `jwt` a token that was checked, `caller` its subscription or product, `claims` what is in
 * one, `json` an object of JSON or something in it.
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

/** An expression of gateway.conf that stands for one of a policy document. */
export interface Cel {
  readonly text: string
  readonly kind: CelKind
  /** How tightly its outermost operator binds; `binds` has the levels. */
  readonly binds: number
  /** It has a value whatever the request is. */
  readonly total: boolean
  /** The other language may have null where this one has "". `absent` asks for that; `present` is the value where it has not. */
  readonly nullable: boolean
  readonly absent?: Cel
  readonly present?: Cel
  /** Its characters are ASCII's, so that upper and lower case are the same in both. */
  readonly ascii?: boolean
  /** Of a `long`: JSON has it as it is. */
  readonly exact?: true
  /** What it always is. */
  readonly constant?: string | number | boolean | null
  /** Of texts that are joined: the parts. */
  readonly parts?: readonly Cel[]
  /** What it is the opposite of. */
  readonly negates?: Cel
  /** A named value and nothing else. */
  readonly named?: string
  /** A secret, or a text with one in it: it has a place in texts of statements only. */
  readonly secret?: string
  /** Upper and lower case of any letters: compared with constants only. */
  readonly folded?: { readonly of: Cel; readonly by: Folding }
  /** It has no value where the other language has null. */
  readonly fails?: true
  /** How many characters: compared with nothing and one where any text is measured. */
  readonly measured?: Cel
  /** Of a list or a caller: it is there, or has no value where the other language has none. */
  readonly sure?: true
  /** JSON that is put together: of what. */
  readonly written?: ReadonlyMap<string, Cel> | readonly Cel[]
  /** The text of such JSON: a body it is, and nothing else. */
  readonly writes?: Cel
  /** Of a member of JSON: the object is one and has no such member. */
  readonly lacks?: Cel
  /** Of the JSON of a body: its text. */
  readonly sent?: Cel
  /** Of JSON: what it must be as a whole. */
  readonly whole?: "map"
}

/** Which case letters are brought to. */
export type Folding = "lower" | "upper"

/** From loose to tight. */
export const binds = { choice: 0, or: 1, and: 2, relation: 3, sum: 4, unary: 5, primary: 6 } as const

/** The type of it in gateway.conf. */
export function typeOf({ kind }: Cel): string {
  return kind === "json" ? "dyn" : kind === "long" ? "int" : kind
}

/** An expression that says the same in every case; what it lacks it has by default. */
export function cel(text: string, kind: CelKind, more: Partial<Cel> = {}): Cel {
  return { text, kind, binds: binds.primary, total: true, nullable: false, ...more }
}

/** A text as a literal of CEL. */
export function literal(text: string): string {
  return JSON.stringify(text)
}

/** A constant. */
export function constant(value: string | number | boolean | null): Cel {
  if (value === null) return cel("null", "null", { constant: null, nullable: true })
  if (typeof value === "string")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are ASCII too.
    return cel(literal(value), "string", { constant: value, ascii: /^[\u0000-\u007f]*$/.test(value) })
  return cel(String(value), typeof value === "boolean" ? "bool" : "int", { constant: value })
}

/** An expression where an operator of this level stands around it. */
export function inside(part: Cel, level: number): string {
  return part.binds < level ? `(${part.text})` : part.text
}

/** A whole number that fits into 32 bits; another has no value. */
export function within32(text: string): string {
  return `[${text}].filter(n, n >= -2147483648 && n <= 2147483647)[0]`
}

/** A whole number of either size. */
export const isWhole = ({ kind }: Cel): boolean => kind === "int" || kind === "long"

/** Texts joined. Constants beside each other become one; null is no text, as in the other language. */
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

/** A text that is "" where the other language has null. */
function asValue({ absent: _absent, present: _present, fails: _fails, ...part }: Cel): Cel {
  return { ...part, nullable: false }
}

/** A text, or null of the other language where `absent` holds. `fails`: `present` has no value then. */
export function optional(absent: Cel, present: Cel, fails = false): Cel {
  const value = asValue(present)
  return {
    ...choice(absent, constant(""), value),
    nullable: true,
    absent,
    present: { ...value, ...(fails ? { fails: true as const } : {}) },
  }
}

/** `a || b`, where b is not looked at when a holds, and decides nothing where a has no value. */
export function either(a: Cel, b: Cel): Cel {
  return a.total ? eitherOf(a, b) : choice(a, constant(true), b)
}

/** `a || b`, which holds where one does although the other has no value. */
export function eitherOf(a: Cel, b: Cel): Cel {
  return cel(`${inside(a, binds.or)} || ${inside(b, binds.or + 1)}`, "bool", {
    binds: binds.or,
    total: a.total && b.total,
  })
}

/** `a == b` and the like. */
export function compared(left: Cel, op: string, right: Cel): Cel {
  return cel(`${inside(left, binds.sum)} ${op} ${inside(right, binds.sum)}`, "bool", {
    binds: binds.relation,
    total: left.total && right.total,
  })
}

/** `test ? yes : no`. */
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

/** A value as the other language writes it into a text; undefined where this one writes another. */
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

/** `!x`. */
export function negated(value: Cel): Cel {
  if (typeof value.constant === "boolean") return constant(!value.constant)
  if (value.negates !== undefined) return value.negates
  const { total } = value
  return cel(`!${inside(value, binds.unary)}`, "bool", { binds: binds.unary, total, negates: value })
}
