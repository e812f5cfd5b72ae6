import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { factsOf, isProtection } from "../../runtime/plan/steps.ts"
import { closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { holds } from "../analysis/networks.ts"
import { listChanges, same } from "../analysis/same.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"
import { Uses } from "./uses.ts"

/**
 * Changes of the proxies whose X-Forwarded-For is trusted: callers from these addresses can choose their address, and bypass checks that
 * depend on it.
 */
export function trustChanges(
  before: readonly string[],
  after: readonly string[],
  bodyAfter: PlanBody,
): UnplacedChange[] {
  const { removed, added } = listChanges(before, after)
  const about = (network: string) =>
    ({
      subject: { kind: "trust", name: network },
      scope: { kind: "gateway", name: "" },
      path: "gateway.trust",
    }) as const
  const changes = [
    ...removed.map((network) =>
      changeOf(
        { ...about(network), action: "removed", before: `trust ${network}` },
        after.some((wide) => holds(wide, network))
          ? neutral("a wider trusted network still contains it")
          : closes("X-Forwarded-For of requests from there is ignored; their own address counts"),
      ),
    ),
    ...added.map((network) => {
      const held = before.some((wide) => holds(wide, network))
      const { routes, findings } = addressUses(bodyAfter)
      return changeOf(
        { ...about(network), action: "added", after: `trust ${network}`, routes: held ? [] : routes },
        held
          ? neutral("a wider trusted network already contains it")
          : [
              opens(
                `${network.endsWith("/0") ? "all callers" : "callers from there"} choose, with X-Forwarded-For, which address limits count and logs show`,
              ),
              ...findings,
            ],
      )
    }),
  ]
  if (changes.length > 0 || same(before, after)) return changes
  const words = (list: readonly string[]) => `trust ${list.join(" ")}`
  return [
    changeOf(
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
    [judgesAddress, "they can bypass `allow ip` and `deny ip` with an address of their choice"],
    [countsByAddress, "they can avoid limits by `ip`: each address they claim has its own limit"],
    [readsAddress, "they choose the caller's address that expressions read"],
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
