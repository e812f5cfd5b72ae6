import { BlockList, isIP } from "node:net"
import type { StepOf } from "../../plan/steps.ts"
import { problem } from "../messages/answer.ts"
import type { Policy } from "../policy.ts"

/** Lets the client addresses of some networks pass (`allow`), or all others (`deny`). The address is the client's after `gateway { trust }`. */
export const ipFilter: Policy<"ip-filter"> = (plan) => {
  const allows = plan.action === "allow"
  const list = listOf(plan)
  const refused = problem("forbidden", {
    reason: allows ? "CallerIpNotAllowed" : "CallerIpBlocked",
    cause: allows
      ? "the client's address is in none of the networks"
      : "the client's address is in a refused network",
  })
  // An address that cannot be parsed never passes, neither with `allow` nor with `deny`.
  const unreadable = problem("forbidden", {
    reason: "FailedToParseCallerIP",
    cause: "the client's address is unknown",
  })
  return ({ ip }) => {
    const version = isIP(ip)
    if (version === 0) return unreadable
    return list.check(ip, version === 6 ? "ipv6" : "ipv4") === allows ? undefined : refused
  }
}

/** All networks and ranges in one list, which Node searches. */
function listOf({ networks, ranges }: StepOf<"ip-filter">): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = "", prefix] = network.split("/")
    const family = familyOf(address)
    list.addSubnet(address, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family)
  }
  for (const { from, to } of ranges) list.addRange(from, to, familyOf(from))
  return list
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4"
}
