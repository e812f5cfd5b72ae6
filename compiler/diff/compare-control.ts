import { type ControlPlan, controlRoles, type OperatorIssuerPlan } from "../../runtime/plan/control.ts"
import { closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { pairsOf, same } from "../analysis/same.ts"
import { textWords } from "../analysis/words.ts"
import { listenerChanges } from "./listener-changes.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

const scope = { kind: "control", name: "" } as const

/** Compares how operators reach the control API, and who they are. Without the block, operators have the shared token. */
export function compareControls(
  before: ControlPlan | undefined,
  after: ControlPlan | undefined,
): UnplacedChange[] {
  return [
    ...listenerChanges(
      { scope, path: "control.listen", reach: () => opens("operators may also connect to this address") },
      before?.listen ?? [],
      after?.listen ?? [],
    ),
    ...issuerChanges(before?.issuers ?? {}, after?.issuers ?? {}),
    ...sharedTokenChanges(before, after),
    ...tryItChanges(before?.tryIt, after?.tryIt),
  ]
}

function sharedTokenChanges(
  before: ControlPlan | undefined,
  after: ControlPlan | undefined,
): UnplacedChange[] {
  if (before?.sharedToken === after?.sharedToken) return []
  const isOff = after?.sharedToken === false
  return [
    changeOf(
      {
        ...{ action: isOff ? "added" : "removed", scope, path: "control.sharedToken" },
        subject: { kind: "control", name: "shared-token" },
        ...(isOff ? { after: "shared-token off" } : { before: "shared-token off" }),
      },
      isOff
        ? closes("the shared control token is refused")
        : opens("callers with the shared control token may do everything, without a name"),
    ),
  ]
}

type TryIt = ControlPlan["tryIt"]

/** The CORS of the routes is a change of each of them. */
function tryItChanges(before: TryIt, after: TryIt): UnplacedChange[] {
  if (same(before, after)) return []
  const words = ({ console, gateway }: NonNullable<TryIt>) =>
    `try-it ${textWords(console)} gateway ${textWords(gateway)}`
  return [
    changeOf(
      {
        action: before === undefined ? "added" : after === undefined ? "removed" : "changed",
        subject: { kind: "control", name: "try-it" },
        ...{ scope, path: "control.tryIt" },
        ...(before === undefined ? {} : { before: words(before) }),
        ...(after === undefined ? {} : { after: words(after) }),
      },
      neutral(
        after === undefined
          ? "the console no longer sends requests to the gateway"
          : "the console offers to send requests to the gateway",
      ),
    ),
  ]
}

type Issuers = NonNullable<ControlPlan["issuers"]>

function issuerChanges(before: Issuers, after: Issuers): UnplacedChange[] {
  return pairsOf(before, after).flatMap(({ key, old, next }) => {
    if (same(old, next)) return []
    return [
      changeOf(
        {
          action: old === undefined ? "added" : next === undefined ? "removed" : "changed",
          subject: { kind: "caller", name: `jwt ${key}` },
          ...{ scope, path: `control.issuers.${key}` },
          before: old === undefined ? undefined : issuerWords(key, old),
          after: next === undefined ? undefined : issuerWords(key, next),
        },
        issuerFindings(old, next),
      ),
    ]
  })
}

/** What each role gains and loses: a rule is a claim with one value. */
function issuerFindings(
  old: OperatorIssuerPlan | undefined,
  next: OperatorIssuerPlan | undefined,
): Finding[] {
  const found: Finding[] = []
  for (const role of controlRoles.toReversed()) {
    const [had, has] = [rulesOf(old, role), rulesOf(next, role)]
    const [added, removed] = [
      has.filter((each) => !had.includes(each)),
      had.filter((each) => !has.includes(each)),
    ]
    if (added.length > 0) found.push(opens(`${added.join(", ")} may operate Sallyport as \`${role}\``))
    if (removed.length > 0)
      found.push(closes(`${removed.join(", ")} may no longer operate Sallyport as \`${role}\``))
  }
  const [had, has] = [groupRulesOf(old), groupRulesOf(next)]
  found.push(
    ...without(has, had).map((each) => opens(`${each}: their consent to changes counts`)),
    ...without(had, has).map((each) => closes(`${each}: their consent to changes no longer counts`)),
  )
  if (old !== undefined && next !== undefined && old.name !== next.name)
    found.push(opens("another claim names the people in the history: one person may appear as another"))
  if (old !== undefined && next !== undefined && !same(old.login, next.login))
    found.push(neutral("`sallyport login` asks for tokens with another client or scope"))
  return found.length === 0 ? [neutral("the same roles, in another order")] : found
}

function rulesOf(issuer: OperatorIssuerPlan | undefined, role: string): string[] {
  return (issuer?.roles ?? []).flatMap(({ claim, values = [], ...each }) => {
    if (each.role !== role) return []
    return claim === undefined ? ["every token"] : values.map((value) => `tokens with ${claim} \`${value}\``)
  })
}

function groupRulesOf(issuer: OperatorIssuerPlan | undefined): string[] {
  return (issuer?.groups ?? []).flatMap(({ group, claim, values }) =>
    values.map((value) => `tokens with ${claim} \`${value}\` are in the group \`${group}\``),
  )
}

function without(list: readonly string[], other: readonly string[]): string[] {
  return list.filter((each) => !other.includes(each))
}

function issuerWords(name: string, { roles, groups = [], name: claim, login }: OperatorIssuerPlan): string {
  const inside = [
    ...roles.map(({ role, claim: by, values = [] }) =>
      [`role ${role}`, ...(by === undefined ? [] : ["claim", quoted(by), ...values.map(quoted)])].join(" "),
    ),
    ...groups.map(({ group, claim: by, values }) =>
      ["group", quoted(group), "claim", quoted(by), ...values.map(quoted)].join(" "),
    ),
    ...(claim === undefined ? [] : [`name ${quoted(claim)}`]),
    ...(login === undefined
      ? []
      : [`login ${quoted(login.client)}${login.scope === undefined ? "" : ` scope ${quoted(login.scope)}`}`]),
  ]
  return `auth jwt ${name} { ${inside.join("; ")} }`
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
