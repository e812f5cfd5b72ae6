import type { TypeDefinition } from "../../../runtime/plan/authorization-model.ts"
import type { TupleMove } from "../../../runtime/plan/authz.ts"
import type { Report } from "../../core/diagnostic.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import { type BoundBlock, headSpan, statementsOf } from "../bind/bound.ts"
import type { StoreModel } from "./store-model.ts"

/** A move with its place. */
interface PlacedMove {
  readonly move: TupleMove
  readonly span: Span
}

/** The moves of a store, sorted. Moves with mistakes are reported and left out. */
export function lowerMoves(block: BoundBlock | undefined, model: StoreModel, report: Report): TupleMove[] {
  const found: PlacedMove[] = []
  for (const { args, statement, broken } of statementsOf(block, "move")) {
    const [from, to] = [args.get("from"), args.get("to")]
    if (broken || from === undefined || to === undefined) continue
    const span = headSpan(statement)
    const known = [from, to].map(({ value, argument }) =>
      isKnown(model, value as string, argument.span, report),
    )
    const listed = args.all("user")
    for (const { value, argument } of listed)
      known.push(isKnown(model, (value as string).replace(/:\*$/, ""), argument.span, report))
    if (known.includes(false)) continue
    const users = [...new Set(listed.map(({ value }) => value as string))].sort()
    const move = {
      from: from.value as string,
      to: to.value as string,
      ...(users.length === 0 ? {} : { users }),
    }
    if (isAlike(move, span, report)) found.push({ move, span })
  }
  const moves = found.filter((each, at) => isApart(each, found.slice(0, at), report))
  const all = moves.map(({ move }) => move)
  for (const each of moves) checkAccepted(each, all, model, report)
  return all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function isKnown(model: StoreModel, word: string, span: Span, report: Report): boolean {
  const [type = "", relation] = word.split("#")
  if (!model.hasType(type)) {
    report.add(
      "SP5011",
      span,
      `the model has no type \`${shown(type)}\`${didYouMean(type, model.typeNames())}`,
      {
        related: [{ span: model.source.file.span(0, 0), message: "the model" }],
        help: "While tuples move, the model needs both the old and the new word. Add it, or remove the move.",
      },
    )
    return false
  }
  if (relation === undefined || model.hasRelation(type, relation)) return true
  const at = model.source.types.get(type)?.span
  report.add(
    "SP5012",
    span,
    `\`${type}\` has no relation \`${shown(relation)}\`${didYouMean(relation, model.relationNames(type))}`,
    {
      related: at === undefined ? [] : [{ span: at, message: `the type \`${type}\`` }],
      help: "While tuples move, the model needs both the old and the new word. Add it, or remove the move.",
    },
  )
  return false
}

/** Both words are relations of one type, or both are types. */
function isAlike({ from, to, users }: TupleMove, span: Span, report: Report): boolean {
  const [oldType, oldRelation] = from.split("#")
  const [newType, newRelation] = to.split("#")
  const isType = oldRelation === undefined
  const add = (message: string, help: string) => report.add("SP2017", span, message, { help })
  if (isType !== (newRelation === undefined) || (!isType && oldType !== newType))
    add(
      `tuples cannot move from \`${from}\` to \`${to}\``,
      'Name two relations of one type ("doc#viewer" and "doc#reader"), or two types.',
    )
  else if (from === to) add(`\`${from}\` is both the old and the new word`, "Name another new word.")
  else if (isType && users !== undefined)
    add("a type moves with all of its tuples, so `for` has no effect", "Remove `for`.")
  else return true
  return false
}

/** A move does not continue another one, because one write has to know all tuples that it writes. */
function isApart({ move, span }: PlacedMove, earlier: readonly PlacedMove[], report: Report): boolean {
  const twin = earlier.find((each) => keyOf(each.move) === keyOf(move))
  if (twin !== undefined) {
    report.add("SP2016", span, `the move of \`${move.from}\` to \`${move.to}\` is given twice`, {
      related: [{ span: twin.span, message: "the first" }],
    })
    return false
  }
  const other = earlier.find(
    (each) => overlap(each.move.to, move.from) || overlap(each.move.from, move.to) || mixes(each.move, move),
  )
  if (other === undefined) return true
  report.add("SP2017", span, `this move and that of \`${other.move.from}\` concern the same words`, {
    related: [{ span: other.span, message: "the other move" }],
    help: "Finish one of the two moves before you begin the other.",
  })
  return false
}

function overlap(a: string, b: string): boolean {
  return a === b || a === b.split("#")[0] || b === a.split("#")[0]
}

/** A type moves while one of its relations does. */
function mixes(a: TupleMove, b: TupleMove): boolean {
  const isType = ({ from }: TupleMove) => !from.includes("#")
  return isType(a) !== isType(b) && overlap(a.from, b.from)
}

/** Copied tuples that the model ignores would take access away when the old word goes. */
function checkAccepted(
  { move, span }: PlacedMove,
  moves: readonly TupleMove[],
  model: StoreModel,
  report: Report,
): void {
  const [type = "", relation] = move.from.split("#")
  const types = model.plan.model.type_definitions
  const definition = types.find((each) => each.type === type)
  const lacks = (target: string, missing: readonly string[]) =>
    report.add(
      "SP2017",
      span,
      `\`${target}\` does not accept ${missing.map((each) => `\`${each}\``).join(", ")}, so copied tuples would be ignored`,
      { help: `Add ${missing.map((each) => `\`${each}\``).join(", ")} to the types of \`${target}\`.` },
    )
  const compare = (old: readonly string[], target: string) => {
    const [toType = "", toRelation = ""] = target.split("#")
    const accepted = acceptedBy(
      types.find((each) => each.type === toType),
      toRelation,
    )
    const missing = [...new Set(old.map((each) => renamed(each, moves)))].filter(
      (each) => !accepted.includes(each),
    )
    if (missing.length > 0) lacks(target, missing)
  }
  if (relation !== undefined) {
    const all = acceptedBy(definition, relation)
    const covers = (each: string, { users }: TupleMove) =>
      users === undefined || users.includes(withoutCondition(each))
    compare(
      all.filter((each) => covers(each, move)),
      move.to,
    )
    const own = moves.filter(({ from }) => from === move.from)
    const left = own[0] === move ? all.filter((each) => !own.some((other) => covers(each, other))) : []
    if (left.length > 0)
      report.add(
        "SP2017",
        span,
        `no move copies the tuples of \`${move.from}\` with ${left.map((each) => `\`${each}\``).join(", ")}`,
        { help: "Name these types after `for`, or remove `for` from one of the moves." },
      )
    return
  }
  for (const name of Object.keys(definition?.relations ?? {}))
    compare(acceptedBy(definition, name), `${move.to}#${name}`)
  for (const each of types)
    for (const name of Object.keys(each.relations ?? {}))
      if (each.type !== type)
        compare(
          acceptedBy(each, name).filter((user) => user.split(/[#: ]/)[0] === type),
          `${each.type}#${name}`,
        )
}

/** What a relation accepts as users: `user`, `user:*`, `group#member`, with ` with CONDITION`. */
function acceptedBy(definition: TypeDefinition | undefined, relation: string): string[] {
  const listed = definition?.metadata?.relations?.[relation]?.directly_related_user_types ?? []
  return listed.map(({ type, relation: set, wildcard, condition }) => {
    const user = `${type}${wildcard === undefined ? "" : ":*"}${set ? `#${set}` : ""}`
    return condition ? `${user} with ${condition}` : user
  })
}

function withoutCondition(user: string): string {
  return user.split(" ")[0] ?? user
}

/** The user in new words. A set that is split is one of several sets; any of them is enough here. */
function renamed(user: string, moves: readonly TupleMove[]): string {
  const plain = withoutCondition(user)
  const rest = user.slice(plain.length)
  for (const { from, to } of moves) {
    if (plain === from) return `${to}${rest}`
    if (!from.includes("#") && (plain.startsWith(`${from}#`) || plain.startsWith(`${from}:`)))
      return `${to}${plain.slice(from.length)}${rest}`
  }
  return user
}

function keyOf({ from, to, users = [] }: TupleMove): string {
  return [from, to, ...users].join(" ")
}
