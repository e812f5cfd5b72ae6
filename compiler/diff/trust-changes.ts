import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { factsOf, isProtection } from "../../runtime/plan/steps.ts"
import { closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { holds } from "../analysis/networks.ts"
import { listChanges, same } from "../analysis/same.ts"
import { type Told, tell } from "./told.ts"
import { Uses } from "./uses.ts"

/**
 * Changes of the proxies whose X-Forwarded-For is trusted: callers from these addresses can choose their address, and bypass checks that
 * depend on it.
 */
export function trustChanges(
  before: readonly string[],
  after: readonly string[],
  bodyAfter: PlanBody,
): Told[] {
  const { removed, added } = listChanges(before, after)
  const about = (network: string) =>
    ({
      subject: { kind: "trust", name: network },
      scope: { kind: "gateway", name: "" },
      path: "gateway.trust",
    }) as const
  const told = [
    ...removed.map((network) =>
      tell(
        { ...about(network), action: "removed", before: `trust ${network}` },
        after.some((wide) => holds(wide, network))
          ? neutral("a wider network holds it still")
          : closes(
              "what callers from there say in X-Forwarded-For is not believed; their own address is counted",
            ),
      ),
    ),
    ...added.map((network) => {
      const held = before.some((wide) => holds(wide, network))
      const { routes, findings } = addressUses(bodyAfter)
      return tell(
        { ...about(network), action: "added", after: `trust ${network}`, routes: held ? [] : routes },
        held
          ? neutral("a wider network held it already")
          : [
              opens(
                `${network.endsWith("/0") ? "all callers" : "callers from there"} choose, by X-Forwarded-For, which address limits count and logs name`,
              ),
              ...findings,
            ],
      )
    }),
  ]
  if (told.length > 0 || same(before, after)) return told
  const words = (list: readonly string[]) => `trust ${list.join(" ")}`
  return [
    tell(
      { ...about(after.join(" ")), action: "changed", before: words(before), after: words(after) },
      neutral("the same networks, listed in another way"),
    ),
  ]
}

/** What callers who can choose their address can bypass, and on which routes. */
function addressUses(body: PlanBody): {
  readonly routes: readonly string[]
  readonly findings: readonly Finding[]
} {
  const uses = new Uses(body)
  const kinds = [
    [judgesAddress, "they can pass `allow ip` and `deny ip` with an address of their choice"],
    [countsByAddress, "they can avoid limits by `ip`: each address they name has calls of its own"],
    [readsAddress, "they choose what expressions find as the caller's address"],
  ] as const
  const found = kinds.map(([isOne, why]) => ({ why, routes: uses.routes(isOne) }))
  return {
    routes: [...new Set(found.flatMap(({ routes }) => routes))].sort(),
    findings: found.filter(({ routes }) => routes.length > 0).map(({ why }) => opens(why)),
  }
}

const judgesAddress = (step: Step): boolean => isProtection(step) && decidesByAddress(step)

const countsByAddress = (step: Step): boolean => !isProtection(step) && decidesByAddress(step)

const decidesByAddress = (step: Step): boolean => factsOf(step).reads?.includes("address") === true

/** `request.ip`, and `context.Request.IpAddress` of policy documents. */
const readsAddress = (step: Step): boolean => expressionsRead(step)

function expressionsRead(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false
  if ("lang" in node && "text" in node && typeof node.text === "string")
    return /\brequest\s*\.\s*ip\b|\bIpAddress\b/.test(node.text)
  return Object.values(node).some(expressionsRead)
}
