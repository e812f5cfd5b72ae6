import type { StepOf } from "../../../runtime/plan/steps.ts"
import { closes, type FieldRules, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { outside } from "../../analysis/networks.ts"
import { codeWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import type { LowerStep } from "../lower/step.ts"
import { statement } from "../print.ts"
import { many, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"

type IpFilter = StepOf<"ip-filter">
type Range = IpFilter["ranges"][number]

function row(keyword: IpFilter["action"], docs: string): StatementRow {
  return {
    keyword,
    several: true,
    forms: [{ args: [word("ip"), many(slot("network", "network-or-range"), 10_000)] }],
    docs,
    example: `${keyword} ip 10.0.0.0/8 192.0.2.10-192.0.2.20`,
  }
}

/** Networks are sorted, because their order has no meaning. */
export const lowerIp: LowerStep = (bound, { steps, report }) => {
  const networks = new Set<string>()
  const ranges = new Map<string, Range>()
  for (const { argument, value } of bound.args.all("network")) {
    const found = value as string | Range
    const key = typeof found === "string" ? found : rangeText(found)
    if (networks.has(key) || ranges.has(key)) report.add("SP2016", argument.span, `\`${key}\` is given twice`)
    if (typeof found === "string") networks.add(found)
    else ranges.set(key, found)
  }
  return steps.add(
    {
      kind: "ip-filter",
      action: bound.row.keyword === "allow" ? "allow" : "deny",
      networks: [...networks].sort(),
      ranges: [...ranges].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, range]) => range),
    },
    headSpan(bound.statement),
  )
}

/** `allow ip …` */
export const allow: StatementDefinition = {
  row: row("allow", "Only callers from these networks, addresses or ranges pass; others get 403."),
  lower: lowerIp,
}

/** `deny ip …` */
export const deny: StatementDefinition = {
  row: row("deny", "Callers from these networks, addresses or ranges get 403."),
  lower: lowerIp,
}

/** Printing and comparison of a step that refuses requests by the caller's address. */
export const ipFilter: StepText<"ip-filter"> = {
  print: ({ action, networks, ranges }) =>
    statement([`${action} ip`, ...networks.map(networkText), ...ranges.map(rangeText)].join(" ")),
  identities: ({ action }) => [`${action} ip`, "ip"],
  added: ({ action }) =>
    closes(
      action === "allow" ? "callers from other networks get 403" : "callers from these networks get 403",
    ),
  removed: ({ action }) =>
    opens(
      action === "allow"
        ? "callers from every network are now let through"
        : "callers from these networks are now let through",
    ),
  changed: {
    action: (_, after) =>
      opens(
        after === "allow"
          ? "only callers from these networks are let through now"
          : "callers from all other networks are let through now",
      ),
    networks: (before, after, items) => otherNetworks(before, after, items.after.action),
    ranges: (before, after, items) =>
      otherNetworks(before.map(rangeText), after.map(rangeText), items.after.action),
  } satisfies FieldRules<Fields<"ip-filter">>,
}

/** A single address is printed without prefix length. */
function networkText(network: string): string {
  return network.replace(/^([0-9.]+)\/32$|^([0-9a-f:]+)\/128$/i, "$1$2")
}

function rangeText({ from, to }: Range): string {
  return `${from}-${to}`
}

/** Which addresses are let through or refused, computed from the ranges: lists may name the same addresses in other ways. */
function otherNetworks(
  before: readonly string[],
  after: readonly string[],
  action: IpFilter["action"],
): Finding[] {
  const [come, gone] = [outside(after, before), outside(before, after)]
  const passes = (list: readonly string[]) => opens(`callers from ${codeWords(list)} are now let through`)
  const refused = (list: readonly string[]) => closes(`callers from ${codeWords(list)} now get 403`)
  const found = [
    ...(come.length === 0 ? [] : [action === "allow" ? passes(come) : refused(come)]),
    ...(gone.length === 0 ? [] : [action === "allow" ? refused(gone) : passes(gone)]),
  ]
  return found.length > 0 ? found : [neutral("the same networks, listed in another way")]
}
