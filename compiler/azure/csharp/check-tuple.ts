import { type CsType, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import { demand, implicit } from "./conversions.ts"
import { candidates, getMember } from "./members.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type { DeconstructionTarget, ExpressionSyntax, StatementSyntax, TupleItem } from "./syntax-tree.ts"
import { resolveType } from "./type-names.ts"
import { type Typed, typed } from "./typed.ts"

type Tuple = Extract<ExpressionSyntax, { kind: "tuple" }>
type Deconstruct = Extract<StatementSyntax, { kind: "deconstruct" }>

const itemsMax = 7

/** `(a, name: b)`: each item is converted to the type of the wanted tuple. */
export function checkTuple(expression: Tuple, scope: Scope, wanted: CsType | undefined): Typed {
  const { items } = expression
  const bare = wanted?.name === "?" ? wanted.args[0] : wanted
  const goals = bare?.name === "ValueTuple" && bare.args.length === items.length ? bare.args : []
  const values = items.map(({ value }, index) => {
    const made = scope.rules.expression(value, scope, goals[index])
    const goal = goals[index]
    const way = goal === undefined ? undefined : implicit(made, goal)
    return way === undefined ? made : typed(way.node, goal as CsType)
  })
  const args = values.map(({ type }) => type)
  const fields = items.map(nameOf)
  const type = { name: "ValueTuple", args, ...(fields.every((name) => name === "") ? {} : { fields }) }
  return typed(
    tupleOf(
      values.map(({ node }) => node),
      expression,
    ),
    type,
  )
}

/** The explicit name of an item, or the name of its expression. Empty when there is none. */
function nameOf({ name, value }: TupleItem): string {
  return name ?? (value.kind === "name" || value.kind === "member" ? value.name : "")
}

/** A tuple is a call of the library's `ValueTuple.Create`. */
function tupleOf(args: CsNode[], place: { start: number; end: number }): CsNode {
  const found = candidates({ name: "ValueTuple", args: [] }, "Create", "method", true)
  const create = found.find(({ member }) => member.parameters.length === args.length)
  if (create !== undefined) return { k: "call", member: create.member.id, args }
  throw new CsharpMistake(
    "type",
    `a tuple has at most ${itemsMax} items`,
    place.start,
    place.end,
    "Put some of them into an object: `new { … }`.",
  )
}

/** The default value of a tuple type. */
export function zeroTuple(
  type: CsType,
  zero: (type: CsType) => Typed,
  place: { start: number; end: number },
): Typed {
  return typed(
    tupleOf(
      type.args.map((arg) => zero(arg).node),
      place,
    ),
    type,
  )
}

/** `var (a, b) = …`: stores the value, then assigns its items in order. */
export function checkDeconstruct({ parts, value }: Deconstruct, scope: Scope): CsStatement {
  const made = scope.rules.expression(value, scope)
  const members = membersOf(made.type)
  if (members?.length !== parts.length)
    throw new CsharpMistake(
      "type",
      members === undefined
        ? `\`${printType(made.type)}\` cannot be deconstructed`
        : `there are ${members.length} items but ${parts.length} names`,
      value.start,
      value.end,
      "Deconstruct a tuple or a key-value pair, with one name for each item.",
    )
  const slot = scope.place()
  const held = typed({ k: "local", slot }, made.type)
  const items = parts.map((part, index) => getMember(held, members[index] as string, part, scope))
  const sets = parts.flatMap((part, index) => assigned(part, items[index] as Typed, scope))
  const body: CsNode[] = [{ k: "set", slot, value: made.node }, ...sets]
  return { s: "block", body: body.map((on) => ({ s: "run", on })) }
}

function membersOf({ name, args }: CsType): string[] | undefined {
  if (name === "KeyValuePair") return ["Key", "Value"]
  return name === "ValueTuple" || name === "Tuple" ? args.map((_, index) => `Item${index + 1}`) : undefined
}

/** Assigns one item of a tuple. `_` drops it. */
function assigned(part: DeconstructionTarget, item: Typed, scope: Scope): CsNode[] {
  const { name, start, end } = part
  const known = scope.find(name)
  if (name === "_" && (part.declares || known === undefined)) return []
  if (!part.declares) {
    if (known === undefined) throw scope.unknown(name, start, end)
    return [{ k: "set", slot: known.slot, value: demand(item, known.type, part) }]
  }
  scope.requireFree(name, start, end)
  const type = part.type === undefined ? item.type : resolveType(part.type)
  return [{ k: "set", slot: scope.declare(name, type).slot, value: demand(item, type, part) }]
}
