import type { RelationQuestion } from "../../../runtime/plan/step-values.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { Word } from "../ast.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import { authzPdp } from "../bind/names.ts"
import { listed } from "../schema/slots.ts"
import { actionsOf } from "./pdps.ts"
import type { StepContext } from "./step.ts"

/** What answers a question: either a store or a decision point. */
export type Decider = { readonly store: string } | { readonly pdp: string }

/**
 * What a statement asks. In this order: the store or decision point it names, the decision point of `authz url`, the only store, or,
 * without any store, the only decision point. Undefined if that is ambiguous or missing (reported).
 */
export function deciderOf(bound: BoundStatement, { program, report }: StepContext): Decider | undefined {
  const [store, pdp] = [bound.args.word("store"), bound.args.word("pdp")]
  // Unknown names are already reported by `checkNames`.
  if (store !== undefined) return named("store", program.find("store", store.text)?.name)
  if (pdp !== undefined) return named("pdp", program.find("pdp", pdp.text)?.name)
  if (program.authzUrl !== undefined) return { pdp: authzPdp }
  const [stores, pdps] = [program.all("store"), program.all("pdp")]
  const [only, second] = stores.length > 0 ? stores : pdps
  if (only !== undefined && second === undefined) {
    program.use(only.kind, only.name)
    return only.kind === "store" ? { store: only.name } : { pdp: only.name }
  }
  if (program.excused(["store", "pdp"], "") || program.root.damaged) return undefined
  const several = (kind: string, all: readonly { readonly name: string }[]) =>
    `there are several ${kind}: ${listed(
      all.map((each) => `\`${each.name}\``),
      "and",
    )}`
  const why =
    only === undefined
      ? "neither a store nor a decision point is declared"
      : stores.length > 0
        ? several("stores", stores)
        : several("decision points", pdps)
  report.add("SP5010", headSpan(bound.statement), why)
  return undefined
}

/** The store that a statement changes. Decision points accept no tuples. */
export function changedStoreOf(bound: BoundStatement, context: StepContext): { store: string } | undefined {
  const { program, report } = context
  const external = program.authzUrl !== undefined || program.all("pdp").length > 0
  const stores = program.all("store")
  if (bound.args.word("store") === undefined && stores.length === 0 && external) {
    if (program.excused(["store"], "") || program.root.damaged) return undefined
    report.add(
      "SP5010",
      headSpan(bound.statement),
      "a decision point stores no tuples, so they cannot be written to it",
      {
        help: 'Change relations in the system behind the decision point, or declare a store: `authz { store NAME { model "models/…" } }`.',
      },
    )
    return undefined
  }
  const decider = deciderOf(bound, context)
  return decider !== undefined && "store" in decider ? decider : undefined
}

/** Whether a decision point can answer the question: it declares the action, and the subject is a single one. False if not (reported). */
export function fitsPdp(
  pdp: string,
  asked: { readonly relation: Word; readonly userAt: Span; readonly relationOfUser: string | undefined },
  { program, report }: StepContext,
): boolean {
  const { relation, userAt, relationOfUser } = asked
  const actions = actionsOf(program, pdp)
  const known = actions === undefined || actions.has(relation.text)
  if (!known) {
    const hint = program.hint(relation.text, [...(actions ?? [])])
    const at = program.find("pdp", pdp)?.span
    report.add("SP5012", relation.span, `\`${pdp}\` has no action \`${shown(relation.text)}\`${hint}`, {
      help: "Correct the action, or add it to `actions`.",
      related: at === undefined ? [] : [{ span: at, message: "the decision point" }],
    })
  }
  if (relationOfUser === undefined) return known
  const what = relationOfUser === "*" ? "every user of a type" : "a userset"
  report.add("SP5014", userAt, `a decision point is asked about one subject; this is ${what}`, {
    help: 'Write `"type:${…}"`.',
  })
  return false
}

const propertyWords = ["subject", "resource", "action"] as const

/** Whether the lines of a question's block fit the store or decision point that answers it. */
export function fitsDecider(
  block: BoundBlock | undefined,
  decider: Decider | undefined,
  { report }: StepContext,
): boolean {
  if (decider === undefined) return true
  const toPdp = "pdp" in decider
  const wrong = (toPdp ? ["tuple"] : propertyWords).flatMap((keyword) => statementsOf(block, keyword))
  for (const { statement } of wrong)
    report.add(
      "SP2017",
      headSpan(statement),
      toPdp ? "a decision point takes no tuples" : "the engine does not use properties of users and objects",
      {
        help: toPdp
          ? "Remove it, or pass the value to the decision point with `context` or `subject`."
          : "Write `context NAME (…)`, for a condition of the model.",
      },
    )
  return wrong.length === 0
}

/** `subject NAME (CEL)`, `resource NAME (CEL)`, `action NAME (CEL)`. Undefined if one of them is invalid (reported). */
export function lowerProperties(
  block: BoundBlock | undefined,
  { expressions, place }: StepContext,
): Pick<RelationQuestion, "properties"> | undefined {
  const properties: NonNullable<RelationQuestion["properties"]> = {}
  for (const of of propertyWords) {
    const values = statementsOf(block, of).map(({ args }) => {
      const source = args.cel("value")
      const value = source === undefined ? undefined : expressions.lower(source, place)
      return value === undefined ? undefined : { key: args.value<string>("name") ?? "", value }
    })
    if (values.includes(undefined)) return undefined
    if (values.length > 0) properties[of] = values.filter((each) => each !== undefined)
  }
  return Object.keys(properties).length === 0 ? {} : { properties }
}

function named(kind: "store" | "pdp", name: string | undefined): Decider | undefined {
  if (name === undefined) return undefined
  return kind === "store" ? { store: name } : { pdp: name }
}
