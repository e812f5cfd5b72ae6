import type { ControlPlan, OperatorIssuerPlan, OperatorRole } from "../../../runtime/plan/control.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Report } from "../../core/diagnostic.ts"
import {
  type BoundBlock,
  type BoundStatement,
  headSpan,
  mentions,
  statementOf,
  statementsOf,
} from "../bind/bound.ts"
import type { Declaration, Program } from "../program.ts"
import { anyAudience } from "./issuer.ts"
import { controlListeners } from "./listen.ts"
import { consoleTryItOf } from "./try-it.ts"
import type { Values } from "./values.ts"

/** How operators reach the control API, and who they are. A plan without the block keeps the digest it had before the block existed. */
export function lowerControl(
  program: Program,
  values: Values,
  report: Report,
  gateway: PlanBody["gateway"],
): Pick<PlanBody, "control"> {
  const { control } = program
  if (control === undefined) return {}
  const issuers = issuersOf(program, report)
  const shared = statementOf(control.block, "shared-token")
  const isOff = shared?.args.word("choice")?.text === "off"
  if (isOff && shared !== undefined && control.block?.damaged === false) checkAdmins(issuers, shared, report)
  return {
    control: {
      listen: controlListeners(program, { values, report }),
      ...(Object.keys(issuers).length === 0 ? {} : { issuers }),
      ...(isOff ? { sharedToken: false } : {}),
      ...consoleTryItOf(program, { values, report }, gateway?.listen ?? []),
    },
  }
}

/** Without the shared token and without an admin, nobody could change it back. */
function checkAdmins(
  issuers: NonNullable<ControlPlan["issuers"]>,
  shared: BoundStatement,
  report: Report,
): void {
  if (Object.values(issuers).some(({ roles }) => roles.some(({ role }) => role === "admin"))) return
  report.add(
    "SP2017",
    headSpan(shared.statement),
    "no `auth jwt` of this block gives the role `admin`, so nobody could administer Sallyport",
    { help: 'Add `role admin claim "CLAIM" "VALUE"` to an `auth jwt`, or remove `shared-token off`.' },
  )
}

function issuersOf(program: Program, report: Report): NonNullable<ControlPlan["issuers"]> {
  const found = new Map<string, OperatorIssuerPlan>()
  for (const bound of statementsOf(program.control?.block, "auth")) {
    const word = bound.args.word("issuer")
    const declared = word === undefined ? undefined : program.find("issuer", word.text)
    // An unknown issuer is reported by the binder.
    if (word === undefined || declared === undefined) continue
    if (found.has(word.text)) report.add("SP2016", word.span, `the issuer \`${word.text}\` is given twice`)
    const any = anyAudience(declared.bound.block)
    if (any !== undefined)
      report.add(
        "SP2017",
        word.span,
        `the control API would accept tokens for any service: \`${word.text}\` has \`audience *\``,
        {
          related: [{ span: any.statement.keyword.span, message: "`audience *`" }],
          help: "Declare an issuer with the `audience` of the control API.",
        },
      )
    checkLogin(bound.block, declared, report)
    const plan = issuerOf(bound.block)
    if (plan !== undefined) found.set(word.text, plan)
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `sallyport login` finds the provider by its discovery document. */
function checkLogin(block: BoundBlock | undefined, { bound, span }: Declaration, report: Report): void {
  const login = statementOf(block, "login")
  if (login === undefined || bound.broken || bound.block?.damaged === true) return
  if (mentions(bound.block, "discovery")) return
  report.add(
    "SP2017",
    headSpan(login.statement),
    "nobody could log in: the issuer has no discovery document that names the provider's endpoints",
    {
      related: [{ span, message: "the issuer" }],
      help: "Declare the issuer with `discovery`, or remove `login`.",
    },
  )
}

/** Undefined without a role, which is reported as missing. */
function issuerOf(block: BoundBlock | undefined): OperatorIssuerPlan | undefined {
  const roles = statementsOf(block, "role").flatMap(({ args }) => {
    const role = args.word("role")?.text as OperatorRole | undefined
    if (role === undefined) return []
    const claim = args.value<string>("claim")
    return [{ role, ...(claim === undefined ? {} : { claim, values: [...args.values<string>("value")] }) }]
  })
  if (roles.length === 0) return undefined
  const groups = statementsOf(block, "group").flatMap(({ args }) => {
    const [group, claim] = [args.value<string>("group"), args.value<string>("claim")]
    if (group === undefined || claim === undefined) return []
    return [{ group, claim, values: [...args.values<string>("value")] }]
  })
  const name = statementOf(block, "name")?.args.value<string>("claim")
  const login = statementOf(block, "login")?.args
  const client = login?.value<string>("client")
  const scope = login?.value<string>("scope")
  return {
    roles,
    ...(groups.length === 0 ? {} : { groups }),
    ...(name === undefined ? {} : { name }),
    ...(client === undefined ? {} : { login: { client, ...(scope === undefined ? {} : { scope }) } }),
  }
}
