import type { CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, inside } from "./cel.ts"
import { withProperty } from "./json-writing.ts"
import { ordinary } from "./letter-case.ts"
import { none, same, type Translation, truth } from "./translation.ts"

/** Statements that end with a value: declarations, `if` and `return`. @throws NoCounterpart */
export function statements(list: readonly CsStatement[], translation: Translation): Cel {
  const [first, ...rest] = list
  if (first === undefined) return none("statements")
  switch (first.s) {
    case "block":
      return statements([...first.body, ...rest], translation)
    case "return":
      return returned(first, translation)
    case "if":
      return branched(first, rest, translation)
    case "run": {
      const binding = named(first.on, translation)
      if (binding !== undefined) return bound(binding, statements(rest, translation), translation)
      run(first.on, translation)
      return statements(rest, translation)
    }
    default:
      return none("statements")
  }
}

function returned({ on }: Extract<CsStatement, { s: "return" }>, translation: Translation): Cel {
  const made = on === undefined ? none("`return` without a value") : translation.special(on)
  // A variable that nothing reads may still fail in C#.
  return translation.failing.size > 0 ? none("statements") : made
}

/** The statements after the `if` belong to both branches. Changes of variables in one branch are invisible in the other. */
function branched(
  { test: condition, yes: matched, no: otherwise }: Extract<CsStatement, { s: "if" }>,
  rest: readonly CsStatement[],
  translation: Translation,
): Cel {
  const { locals, failing, notes } = translation
  const test = truth(translation.node(condition))
  const before = { locals: new Map(locals), failing: new Set(failing) }
  const yes = statements([matched, ...rest], translation)
  locals.clear()
  failing.clear()
  for (const [slot, value] of before.locals) locals.set(slot, value)
  for (const slot of before.failing) failing.add(slot)
  const behind = otherwise === undefined ? rest : [otherwise, ...rest]
  const no = statements(behind, translation)
  if (yes.writes === undefined || no.writes === undefined)
    return same(test, ordinary(yes, notes), ordinary(no, notes))
  const [one, other] = [yes.writes, no.writes].map((each) => ({ ...each, text: `dyn(${each.text})` }))
  return { ...yes, writes: same(test, one as Cel, other as Cel) }
}

interface Binding {
  readonly name: string
  readonly value: Cel
}

/** Kinds of CEL values that a variable can have. */
const nameable: ReadonlySet<Cel["kind"]> = new Set([
  "string",
  "bool",
  "int",
  "long",
  "time",
  "list",
  "bytes",
  "id",
])

/** Binds a variable to a name in the text: its value is evaluated at the declaration, also when that fails. Undefined for variables that need no name. */
function named(node: CsNode, translation: Translation): Binding | undefined {
  const { locals, names } = translation
  const name = node.k === "set" ? names.get(node.slot) : undefined
  if (node.k !== "set" || name === undefined || locals.has(node.slot)) return undefined
  const value = translation.node(node.value)
  const isShort =
    value.constant !== undefined || (value.total && /^[\w.]+$/.test(value.text) && value.text !== "now")
  if (!nameable.has(value.kind) || isShort) return undefined
  const { constant: _, negates: __, parts: ___, lacks: ____, ...known } = value
  const own = { text: name, binds: binds.primary, total: true }
  const present = known.present === undefined ? {} : { present: { ...known.present, ...own } }
  locals.set(node.slot, { ...known, ...own, ...present })
  return { name, value }
}

/** The expression after the declaration of a variable. */
function bound({ name, value }: Binding, made: Cel, { notes }: Translation): Cel {
  const is = made.writes === undefined ? ordinary(made, notes) : made
  if (is.written !== undefined && is.writes === undefined) return none("statements")
  const behind = (part: Cel): Cel => {
    const count = readsOf(part.text, name)
    if (value.total && count === 0) return part
    const { constant: _, negates: __, parts, ...known } = part
    const total = value.total && part.total
    const isPlain = /^[\w.]+$/.test(value.text) && value.text !== "now"
    // When every part is evaluated anyway, a value that is read once can be inserted where it is read.
    if (isStrict(part.text) && count > 0 && (isPlain || (count === 1 && value.text.length <= shortMax))) {
      const inPlace = (each: Cel): Cel => ({
        ...each,
        text: replaced(each.text, name, inside(value, binds.primary)),
      })
      return { ...inPlace(known), total, ...(parts === undefined ? {} : { parts: parts.map(inPlace) }) }
    }
    const text = `cel.bind(${name}, ${value.text}, ${part.text})`
    return { ...known, text, binds: binds.primary, total }
  }
  const { absent, present, writes } = is
  return {
    ...behind(is),
    ...(absent === undefined ? {} : { absent: behind(absent) }),
    ...(present === undefined ? {} : { present: behind(present) }),
    ...(writes === undefined ? {} : { writes: behind(writes) }),
  }
}

/** Longer expressions are not inserted into another expression. */
const shortMax = 80

/** A string or a name; names of fields do not match. */
const tokens = /"(?:[^"\\]|\\.)*"|(?<![\w.])[A-Za-z_]\w*/g

function readsOf(text: string, name: string): number {
  return (text.match(tokens) ?? []).filter((token) => token === name).length
}

function replaced(text: string, name: string, by: string): string {
  return text.replace(tokens, (token) => (token === name ? by : token))
}

/** Whether every part is evaluated exactly once. */
function isStrict(text: string): boolean {
  return !/\?|&&|\|\||\.(?:filter|map|all|exists)\(/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'))
}

/** A variable that is assigned once, or JSON that gets a new member. @throws NoCounterpart */
export function run(node: CsNode, translation: Translation): void {
  const { locals, failing } = translation
  const member = withProperty(node, translation)
  if (member !== undefined) {
    locals.set(member.slot, member.made)
    if (!member.made.total) failing.add(member.slot)
    return
  }
  if (node.k !== "set" || locals.has(node.slot)) none("statements")
  const value = translation.node(node.value)
  if (!value.total && value.written === undefined) none("statements")
  locals.set(node.slot, value)
  if (!value.total) failing.add(node.slot)
}
