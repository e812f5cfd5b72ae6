import { isIP } from "node:net"
import type { DiscoveryTarget } from "../../discovery/discovery.ts"
import type { DiscoveryPlan } from "../../plan/resources.ts"

/**
 * What has to be found for the target of a backend, and the URL that names the found targets: its host is their Host field, and what TLS verifies.
 * @throws Error for a URL that nothing can be found for
 */
export function foundTarget(
  { by }: DiscoveryPlan,
  url: string,
): { readonly url: string; readonly discovery: DiscoveryTarget } {
  if (!URL.canParse(url)) throw new Error(`\`${url}\` is not a URL`)
  const { protocol, hostname, port } = new URL(url)
  if (by === "dns") {
    if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
      throw new Error(`\`targets dns\` needs a name, and the host of \`${url}\` is an address`)
    const ownPort = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
    return { url, discovery: { by, name: hostname, port: ownPort } }
  }
  const domain = /^_[^.]+\._(?:tcp|udp)\.(.+)$/i.exec(hostname)?.[1]
  if (domain === undefined)
    throw new Error(
      `\`targets srv\` needs a host like \`_http._tcp.orders.internal\`, and \`${url}\` has another`,
    )
  if (port !== "") throw new Error(`\`targets srv\` finds the port, so \`${url}\` must not have one`)
  const named = new URL(url)
  named.hostname = domain
  return { url: named.href, discovery: { by, name: hostname } }
}
