import type { CsharpProgram, CsNode, CsStatement } from "../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, choice, constant, inside, negated } from "./cel.ts"
import { memberOf } from "./members.ts"
import { type Around, none, type Translation, texts } from "./translation.ts"

/**
 * The expression of gateway.conf that has the same value as a policy expression, and none where that has none, for every request.
 * @throws NoCounterpart where there is none; its message says what has no counterpart.
 */
export function toCel(program: CsharpProgram, around: Around): Cel {
  const translation: Translation = {
    around,
    locals: new Map(),
    node: (node) => expression(node, translation),
    text: (node) => {
      const made = expression(node, translation)
      if (made.kind !== "string" || made.nullable) none("a text that may be null")
      return made
    },
  }
  return "s" in program.body ? statements([program.body], translation) : translation.node(program.body)
}

/** Statements that end with a value: declarations that have one always, `if` and `return`. */
function statements(list: readonly CsStatement[], translation: Translation): Cel {
  const [first, ...rest] = list
  if (first === undefined) return none("statements")
  switch (first.s) {
    case "block":
      return statements([...first.body, ...rest], translation)
    case "return":
      return first.on === undefined ? none("`return` without a value") : translation.node(first.on)
    case "if": {
      const test = truth(translation.node(first.test))
      const yes = statements([first.yes, ...rest], translation)
      const no = statements(first.no === undefined ? rest : [first.no, ...rest], translation)
      return same(test, yes, no)
    }
    case "run": {
      if (first.on.k !== "set") return none("statements")
      const value = translation.node(first.on.value)
      if (!value.total || translation.locals.has(first.on.slot)) return none("statements")
      translation.locals.set(first.on.slot, value)
      return statements(rest, translation)
    }
    default:
      return none("statements")
  }
}

function truth(value: Cel): Cel {
  return value.kind === "bool" ? value : none("a condition that is neither true nor false")
}

/** A choice between two of one kind. */
function same(test: Cel, yes: Cel, no: Cel): Cel {
  if (yes.kind !== no.kind) return none("a choice between values of two types")
  return choice(test, yes, no)
}

function expression(node: CsNode, translation: Translation): Cel {
  switch (node.k) {
    case "const":
      if (node.type === "double" || node.type === "decimal" || node.type === "float")
        return none("numbers with a fraction")
      return constant(node.value)
    case "named":
      return node.kind === "value" ? cel(node.name, "string") : none("secrets in expressions")
    case "local":
      return translation.locals.get(node.slot) ?? none("statements")
    case "concat":
      return texts(node.parts, translation)
    case "format":
      if (node.parts.some(({ align, format }) => align !== undefined || format !== undefined))
        return none("formats in a text")
      return texts(
        node.parts.map(({ on }) => on),
        translation,
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
    default:
      return none(words[node.k] ?? "this form")
  }
}

const words: Readonly<Record<string, string>> = {
  lambda: "functions",
  late: "`dynamic`",
  is: "`is`",
  as: "`as`",
  safe: "`?.`",
  "new-array": "arrays",
  anonymous: "objects",
  throw: "`throw`",
  context: "`context` itself",
}

/** A cast changes nothing where the value is known to be of the type. */
function converted(node: Extract<CsNode, { k: "convert" }>, translation: Translation): Cel {
  const value = translation.node(node.on)
  if (node.to === "object") return value
  const fits: Readonly<Record<string, Cel["kind"]>> = {
    string: "string",
    bool: "bool",
    int: "int",
    IResponse: "response",
  }
  const kind = fits[node.to]
  if (kind === undefined) return none(`a cast to \`${node.to}\``)
  if (value.kind === kind) return value
  // What is no text fails where it is added to one, as the cast does.
  if (value.kind === "dyn" && kind === "string")
    return cel(`${value.text} == null ? "" : "" + ${value.text}`, "string", {
      binds: binds.choice,
      total: false,
      nullable: true,
      absent: `${value.text} == null`,
    })
  return none(`a cast to \`${node.to}\` of what may be something else`)
}

const orders = new Set(["<", "<=", ">", ">="])

function binary(node: Extract<CsNode, { k: "binary" }>, translation: Translation): Cel {
  const { op } = node
  const left = translation.node(node.left)
  const right = translation.node(node.right)
  if (op === "&&" || op === "||") return decided(op, truth(left), truth(right))
  if (op === "??") return fallback(left, right)
  const total = left.total && right.total
  const whole = { binds: binds.relation, total }
  const compared = (): string => `${inside(left, binds.sum)} ${op} ${inside(right, binds.sum)}`
  if (orders.has(op)) {
    if (left.kind !== "int" || right.kind !== "int") return none(`\`${op}\` of what are no whole numbers`)
    return cel(compared(), "bool", whole)
  }
  if (op !== "==" && op !== "!=") return none(`\`${op}\``)
  if (left.kind === "null" || right.kind === "null") return isNull(left.kind === "null" ? right : left, op)
  if (left.kind !== right.kind || !["string", "int", "bool"].includes(left.kind))
    return none("a comparison of values of two types")
  // Null and "" are the same here: only a text that is neither tells nothing about them.
  const telling = (side: Cel): boolean => typeof side.constant === "string" && side.constant !== ""
  if ((left.nullable || right.nullable) && !telling(left) && !telling(right))
    return none("a comparison of texts that may be null")
  return cel(compared(), "bool", whole)
}

function isNull(value: Cel, op: string): Cel {
  if (value.kind === "response" || value.kind === "dyn")
    return cel(`${inside(value, binds.sum)} ${op} null`, "bool", {
      binds: binds.relation,
      total: value.total,
    })
  if (value.absent === undefined) return none("a comparison with null")
  const absent = cel(value.absent, "bool", { binds: binds.relation, total: value.total })
  return op === "==" ? absent : negated(absent)
}

/** `a ?? b`. */
function fallback(left: Cel, right: Cel): Cel {
  if (left.absent === undefined || left.kind !== right.kind) return none("`??`")
  return choice(cel(left.absent, "bool", { binds: binds.relation, total: left.total }), right, left)
}

/** In CEL the right side may decide where the left one has no value; in the other language it is not looked at. */
function decided(op: "&&" | "||", left: Cel, right: Cel): Cel {
  if (!left.total)
    return op === "&&" ? choice(left, right, constant(false)) : choice(left, constant(true), right)
  const level = op === "&&" ? binds.and : binds.or
  return cel(`${inside(left, level)} ${op} ${inside(right, level + 1)}`, "bool", {
    binds: level,
    total: right.total,
  })
}
