import type { CsharpProgram, CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import {
  binds,
  type Cel,
  cel,
  choice,
  compared,
  constant,
  either,
  inside,
  isWhole,
  negated,
  optional,
  within32,
} from "./cel.ts"
import { jsonText } from "./json-writing.ts"
import { isInOneCase, ordinary, sameInAnyCase } from "./letter-case.ts"
import { memberOf } from "./members.ts"
import { unique, valueName } from "./names.ts"
import { run, statements } from "./statements.ts"
import {
  type Around,
  madeOr,
  none,
  pathOf,
  same,
  type Translation,
  textOfVariable,
  texts,
  truth,
} from "./translation.ts"

/**
 * The CEL expression with the same value as a policy expression, and without a value where that has none, for every request. `source` contains
 * the names of its variables.
 * @throws NoCounterpart when there is none; its message names what has no counterpart.
 */
export function toCel(
  program: CsharpProgram,
  around: Around,
  {
    notes = new Set(),
    inText = false,
    source = "",
  }: { notes?: Set<string>; inText?: boolean; source?: string } = {},
): Cel {
  const plainly = (names: ReadonlyMap<number, string>): Translated =>
    translated(program, around, inText, names)
  const names = localNames(program, source)
  const inline =
    names.size === 0
      ? plainly(names)
      : madeOr(
          () => plainly(new Map()),
          () => undefined,
        )
  const isLong = inline === undefined || inline.made.text.length > lineMax
  // Repeating a variable's expression at each use is only acceptable in short texts.
  const bound = names.size > 0 && isLong ? plainlyOr(inline, () => plainly(names)) : inline
  const chosen = bound ?? none("statements")
  for (const note of chosen.notes) notes.add(note)
  return chosen.made
}

interface Translated {
  readonly made: Cel
  readonly notes: ReadonlySet<string>
}

/** Maximum length of a text with repeated expressions. */
const lineMax = 120

/** The shorter of both forms, or the one that is possible. */
function plainlyOr(inline: Translated | undefined, make: () => Translated): Translated {
  if (inline === undefined) return make()
  const bound = madeOr(make, () => inline)
  return bound.made.text.length < inline.made.text.length ? bound : inline
}

/** `names`: variables with a name in the text. The expressions of all others are repeated where they are read. */
function translated(
  program: CsharpProgram,
  around: Around,
  inText: boolean,
  names: ReadonlyMap<number, string>,
): Translated {
  const notes = new Set<string>()
  const plain = (value: Cel): Cel => ordinary(value, notes)
  let nodes = 0
  const special = (node: CsNode): Cel => {
    if (++nodes > nodesMax) return none("an expression of this size")
    return sized(expression(node, translation))
  }
  const translation: Translation = {
    around,
    locals: new Map(),
    names,
    failing: new Set(),
    fresh: new Set(),
    notes,
    special,
    node: (node) => plain(special(node)),
    text: (node) => {
      const made = translation.node(node)
      if (made.kind !== "string" || made.nullable) none("a string that may be null")
      return made
    },
  }
  const made =
    "s" in program.body ? statements([program.body], translation) : translation.special(program.body)
  oftenEnough(made, translation)
  const isSpecial = inText && (made.secret !== undefined || made.writes !== undefined)
  return { made: isSpecial ? made : plain(made), notes }
}

/** `now` and `uuid()` give a new value at each use. Refuses a text that contains them more often than the C# source evaluates them. */
function oftenEnough({ text, writes }: Cel, { fresh }: Translation): void {
  const found = (writes?.text ?? text).match(/\bnow\b|\buuid\(\)/g)?.length ?? 0
  if (fresh.size > 0 && found > fresh.size) none("a time or an id that is used several times")
}

/** A repeated expression is translated at each use. Larger texts would be unreadable. */
const nodesMax = 2_000
const textMax = 4_000

function sized(value: Cel): Cel {
  const parts = [value, value.absent, value.present, value.writes, value.folded?.of, value.measured]
  return parts.some((part) => (part?.text.length ?? 0) > textMax) ? none("an expression of this size") : value
}

/** `new JObject { … }`. */
function sequence(node: Extract<CsNode, { k: "sequence" }>, translation: Translation): Cel {
  const { first, rest, keep } = node
  if (first.k !== "set" || keep !== "first") return none("this form")
  translation.locals.delete(first.slot)
  for (const each of [first, ...rest]) run(each, translation)
  translation.failing.delete(first.slot)
  return translation.locals.get(first.slot) ?? none("this form")
}

/** One node of C# as CEL. What has no counterpart throws, and the whole statement that contains it becomes a loss. */
function expression(node: CsNode, translation: Translation): Cel {
  switch (node.k) {
    case "const":
      if (node.type === "double" || node.type === "decimal" || node.type === "float")
        return none("numbers with a fraction")
      return constant(node.value)
    case "named":
      return cel(node.name, "string", node.kind === "value" ? { named: node.name } : { secret: node.name })
    case "local":
      translation.failing.delete(node.slot)
      return translation.locals.get(node.slot) ?? none("statements")
    case "sequence":
      return sequence(node, translation)
    case "concat":
      return texts(node.parts, translation)
    case "format":
      if (node.parts.some(({ align, format }) => align !== undefined || format !== undefined))
        return none("formats in a text")
      return (
        jsonAlone(node.parts, translation) ??
        texts(
          node.parts.map(({ on }) => on),
          translation,
        )
      )
    case "if":
      return same(truth(translation.node(node.test)), translation.node(node.yes), translation.node(node.no))
    case "unary":
      if (node.op !== "!" || node.type !== "bool") return none(`\`${node.op}\``)
      return negated(truth(translation.node(node.on)))
    case "convert":
      return converted(node, translation)
    case "binary":
      return binary(node, translation)
    case "call":
      return memberOf(node, translation)
    case "safe":
      return safe(node, translation)
    case "as":
      return known(node, translation)
    default:
      return none(words[node.k] ?? "this form")
  }
}

/** `$"{json}"`: the serialised JSON of a body. */
function jsonAlone(parts: readonly { readonly on: CsNode }[], translation: Translation): Cel | undefined {
  const [only, ...more] = parts
  if (only === undefined || more.length > 0) return undefined
  const value = translation.special(only.on)
  return value.sent === undefined ? undefined : jsonText(value)
}

/** What losses call the nodes that have no counterpart. */
const words: Readonly<Record<string, string>> = {
  lambda: "functions",
  late: "`dynamic`",
  is: "`is`",
  "new-array": "arrays",
  anonymous: "objects",
  throw: "`throw`",
  context: "`context` itself",
}

/** Types of C# that CEL has too. A value of another type is dynamic there. */
const fits: Readonly<Record<string, Cel["kind"]>> = {
  string: "string",
  bool: "bool",
  int: "int",
  long: "long",
  IResponse: "response",
  Jwt: "jwt",
  JObject: "json",
}

/** A cast changes nothing when the value is known to have the type. */
function converted(node: Extract<CsNode, { k: "convert" }>, translation: Translation): Cel {
  const value = translation.node(node.on)
  if (node.to === "object") return value
  if (node.to === "long" && value.kind === "int") return { ...value, kind: "long" }
  if (value.kind === "time" && node.to.startsWith("DateTime")) return value
  const kind = Object.hasOwn(fits, node.to) ? fits[node.to] : undefined
  if (kind === undefined) return none(`a cast to \`${node.to}\``)
  if (value.kind === kind && (kind !== "json" || value.whole === "map")) return value
  // A value that is not a string fails when it is concatenated, like the cast.
  if (value.kind === "dyn" && kind === "string") return textOfVariable(value)
  return none(`a cast to \`${node.to}\` of what may be something else`)
}

/** `x as T` when x is known to be a T. */
function known(node: Extract<CsNode, { k: "as" }>, translation: Translation): Cel {
  const value = translation.node(node.on)
  const kind = Object.hasOwn(fits, node.type) ? fits[node.type] : undefined
  return kind === value.kind && kind !== undefined ? value : none("`as`")
}

/** `a?.b`: null when `a` is null. */
function safe(node: Extract<CsNode, { k: "safe" }>, translation: Translation): Cel {
  const value = translation.node(node.on)
  const { absent, present = value } = value
  if (absent === undefined && value.nullable) return none("`?.`")
  const { absent: _absent, present: _present, ...known } = present
  translation.locals.set(node.slot, { ...known, nullable: false })
  const made = translation.node(node.then)
  translation.locals.delete(node.slot)
  if (absent === undefined) return made
  const neither = made.absent === undefined ? absent : either(absent, made.absent)
  if (made.kind === "string") return optional(neither, made.present ?? made)
  // For a list that may be null, only the null check is possible.
  if (made.kind === "list" || made.kind === "json") return { ...made, nullable: true, absent: neither }
  if (made.kind === "bool") return { ...choice(absent, constant(false), made), nullable: true, absent }
  return none("`?.` before a value that is not a string")
}

const orders = new Set(["<", "<=", ">", ">="])
const calculations = new Set(["+", "-", "*", "/", "%"])

/** Integer arithmetic. On overflow C# drops the upper bits; here the call fails. */
function calculated(
  { op, type }: Extract<CsNode, { k: "binary" }>,
  left: Cel,
  right: Cel,
  { notes }: Translation,
): Cel {
  if (type !== "int" && type !== "long") return none(`\`${op}\``)
  const isSum = op === "+" || op === "-"
  const level = isSum ? binds.sum : binds.unary
  const text = `${inside(left, level)} ${op} ${inside(right, binds.unary)}`
  const isSmaller = (op === "/" || op === "%") && typeof right.constant === "number" && right.constant > 1
  if (isSmaller) return cel(text, type, { binds: binds.sum, total: left.total })
  notes.add("a calculation whose result is outside of the range of its type: the call fails here")
  return type === "int"
    ? cel(within32(text), "int", { total: false })
    : cel(text, "long", { binds: binds.sum, total: false })
}

/** Operators. CEL has no implicit conversions, so operands must have one type that both languages compare in the same way. */
function binary(node: Extract<CsNode, { k: "binary" }>, translation: Translation): Cel {
  const { op } = node
  const isEquality = op === "==" || op === "!="
  if (op === "&&" || op === "||")
    return decided(op, truth(translation.node(node.left)), node.right, translation)
  const source = isEquality
    ? (ownSource(node.left, node.right) ?? ownSource(node.right, node.left))
    : undefined
  if (source !== undefined) return compared(source, op, constant("configuration"))
  const length = nothing(op, translation.special(node.left), translation.special(node.right))
  if (length !== undefined) return length
  if (isEquality) return equality(op, node.left, node.right, translation)
  const left = translation.node(node.left)
  const right = translation.node(node.right)
  if (op === "??") return fallback(left, right)
  const areWhole = isWhole(left) && isWhole(right)
  if (!areWhole && (orders.has(op) || calculations.has(op)))
    return none(`\`${op}\` on values that are not whole numbers`)
  if (orders.has(op)) return compared(left, op, right)
  return calculations.has(op) ? calculated(node, left, right, translation) : none(`\`${op}\``)
}

/** `text.Length > 0` and similar: an emptiness test works for any text in both languages. */
function nothing(op: string, { measured }: Cel, { constant: number }: Cel): Cel | undefined {
  if (measured === undefined || typeof number !== "number") return undefined
  const asked = `${op} ${number}`
  if (["== 0", "< 1", "<= 0"].includes(asked)) return compared(measured, "==", constant(""))
  return ["!= 0", "> 0", ">= 1"].includes(asked) ? compared(measured, "!=", constant("")) : undefined
}

/** Comparisons of two texts in one letter case become a comparison that ignores case. */
function equality(op: "==" | "!=", a: CsNode, b: CsNode, translation: Translation): Cel {
  const [one, other] = [translation.special(a), translation.special(b)]
  if (isInOneCase(one, other)) {
    const same = sameInAnyCase(one, other, translation.notes)
    return op === "==" ? same : negated(same)
  }
  const [left, right] = [translation.node(a), translation.node(b)]
  return left.constant !== undefined && right.constant === undefined
    ? equal(op, right, left)
    : equal(op, left, right)
}

/** `LastError.Source` compared with `configuration`. Other sources are policies or statements, whose names differ between the languages. */
function ownSource(node: CsNode, other: CsNode): Cel | undefined {
  const isOwn = other.k === "const" && other.value === "configuration"
  return isOwn && pathOf(node) === "LastError.Source" ? cel("error.source", "string") : undefined
}

/**
 * Equality in CEL. C# tells null from an empty text and CEL does not, so only comparisons that cannot meet the difference are converted.
 */
function equal(op: "==" | "!=", left: Cel, right: Cel): Cel {
  if (left.kind === "null" || right.kind === "null") return isNull(left.kind === "null" ? right : left, op)
  const isText = typeof right.constant === "string"
  if (left.constant !== undefined && typeof left.constant === typeof right.constant)
    return constant((left.constant === right.constant) === (op === "=="))
  if (left.kind === "dyn" && isText) return compared(left, op, right)
  if (isWhole(left) && isWhole(right)) return compared(left, op, right)
  if (left.kind !== right.kind || !["string", "int", "bool"].includes(left.kind))
    return none("a comparison of values of two types")
  if (!left.nullable && !right.nullable) return compared(left, op, right)
  // CEL has "" for null. So a comparison is only safe with a constant text that is not empty.
  if (isText ? right.constant !== "" : right.constant === true) return compared(left, op, right)
  if (right.constant !== "" || left.absent === undefined || left.present === undefined)
    return none("a comparison of texts that may be null")
  return choice(left.absent, constant(op === "!="), compared(left.present, op, right))
}

/** A comparison with null: whether the value is absent in CEL. */
function isNull(value: Cel, op: string): Cel {
  if (value.constant === null) return constant(op === "==")
  if (value.kind === "response" || value.kind === "dyn") return compared(value, op, constant(null))
  if (value.absent === undefined) return none("a comparison with null")
  // A value that is neither null nor a string has no value here, because the cast fails in C#.
  const found =
    value.present?.fails === true
      ? either(
          value.absent,
          compared(cel(`dyn(${value.present.text})`, "dyn", { total: false }), "==", constant(null)),
        )
      : value.absent
  return op === "==" ? found : negated(found)
}

function fallback(left: Cel, right: Cel): Cel {
  const { absent, present = left } = left
  if (absent === undefined || left.kind !== right.kind || left.kind === "json") return none("`??`")
  if (right.absent === undefined) return choice(absent, right, present)
  // Null when both sides are null.
  const neither = choice(absent, right.absent, constant(false))
  return { ...choice(absent, right, present), nullable: true, absent: neither }
}

/** In CEL, the right side may decide when the left side has no value; C# does not evaluate it then. */
function decided(op: "&&" | "||", left: Cel, node: CsNode, translation: Translation): Cel {
  if (left.constant === (op === "||")) return left
  const right = truth(translation.node(node))
  if (typeof left.constant === "boolean") return right
  if (!left.total)
    return op === "&&" ? choice(left, right, constant(false)) : choice(left, constant(true), right)
  const level = op === "&&" ? binds.and : binds.or
  return cel(`${inside(left, level)} ${op} ${inside(right, level + 1)}`, "bool", {
    binds: level,
    total: right.total,
  })
}

/** Names of a program's variables in the text, by slot. Uses the names of the source when it names all of them unambiguously. */
function localNames({ body }: CsharpProgram, source: string): ReadonlyMap<number, string> {
  const slots = "s" in body ? [...new Set(slotsOf(body))] : []
  const written = [...source.matchAll(/(?<![\w.])[A-Za-z]\w*(?:\[\])?\s+([A-Za-z_]\w*)\s*=(?![=>])/g)]
  const words = written.map(([, name]) => name as string)
  const isClear = new Set(words).size === slots.length && words.length === slots.length
  // Names of named values are taken, because expressions use them.
  const names = new Map(namedIn(body).map((name) => [`value ${name}`, name]))
  return new Map(
    slots.map((slot, at) => {
      const wanted = isClear ? (words[at] as string) : "value"
      return [slot, unique(names, `local ${slot}`, valueName(wanted))]
    }),
  )
}

/** The slots of variables that are declared with a value. */
function slotsOf(statement: CsStatement): number[] {
  switch (statement.s) {
    case "block":
      return statement.body.flatMap(slotsOf)
    case "run":
      return statement.on.k === "set" ? [statement.on.slot] : []
    case "if":
      return [...slotsOf(statement.yes), ...(statement.no === undefined ? [] : slotsOf(statement.no))]
    default:
      return []
  }
}

/** The named values that a program reads, found in its serialised form: any node may contain one. */
function namedIn(part: CsNode | CsStatement): string[] {
  const names: string[] = []
  JSON.stringify(part, (_, value: unknown) => {
    const isNamed = typeof value === "object" && value !== null && "k" in value && value.k === "named"
    if (isNamed && "name" in value) names.push(String(value.name))
    return value
  })
  return names
}
