import { readFileSync } from "node:fs"
import { isIP } from "node:net"
import { resolve } from "node:path"
import type { DiscoveryTarget } from "../../discovery/discovery.ts"
import { shownUrl } from "../../http/client/shown-url.ts"
import type { DiscoveryPlan } from "../../plan/resources.ts"
import type { LoadText } from "../../plan/text.ts"

/** What exists outside of the plan. */
export interface ClusterSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** File names in plans are relative to it. */
  readonly folder: string
  text(text: LoadText): string
}

/** Where the kubelet puts the credentials of a pod's service account. */
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

/**
 * What has to be found for the target of a backend, and the URL that names the found targets: its host is their Host field, and what TLS verifies.
 * @throws Error when nothing can be found for this URL or in these surroundings
 */
export function foundTarget(
  plan: DiscoveryPlan,
  url: string,
  surroundings: ClusterSurroundings,
): { readonly url: string; readonly discovery: DiscoveryTarget } {
  if (plan.by === "kubernetes") return { url, discovery: ofCluster(plan, surroundings) }
  if (!URL.canParse(url)) throw new Error(`\`${shownUrl(url)}\` is not a URL`)
  const { protocol, hostname, port } = new URL(url)
  const { by } = plan
  if (by === "dns") {
    if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
      throw new Error(`\`targets dns\` needs a name, and the host of \`${url}\` is an address`)
    const ownPort = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
    return { url, discovery: { by, name: hostname, port: ownPort } }
  }
  const domain = /^_[^.]+\._(?:tcp|udp)\.(.+)$/i.exec(hostname)?.[1]
  if (domain === undefined)
    throw new Error(
      `\`targets srv\` needs a host like \`_http._tcp.orders.internal\`, and \`${shownUrl(url)}\` has another`,
    )
  if (port !== "") throw new Error(`\`targets srv\` finds the port, so \`${url}\` must not have one`)
  const named = new URL(url)
  named.hostname = domain
  return { url: named.href, discovery: { by, name: hostname } }
}

/** The API server and the account of the pod, unless the plan names others. */
function ofCluster(
  plan: Extract<DiscoveryPlan, { by: "kubernetes" }>,
  { environment, folder, text }: ClusterSurroundings,
): DiscoveryTarget {
  const { service, port, token, ca } = plan
  const server = plan.server === undefined ? serverOfPod(environment) : text(plan.server)
  const isPod = plan.server === undefined
  const fileOf = (file: { readonly file: string } | undefined, name: string) =>
    file === undefined ? (isPod ? `${accountFolder}/${name}` : undefined) : resolve(folder, file.file)
  if (!/^https?:\/\//i.test(server) || !URL.canParse(server))
    throw new Error(`\`server\` of \`targets kubernetes\` is \`${shownUrl(server)}\`; it must be a URL`)
  const tokenFile = fileOf(token, "token")
  if (tokenFile !== undefined && !/^https:/i.test(server))
    throw new Error(`the token must not be sent to \`${server}\`: write \`https:\``)
  const namespace = plan.namespace ?? namespaceOfPod()
  return { by: "kubernetes", namespace, service, port, server, tokenFile, caFile: fileOf(ca, "ca.crt") }
}

function serverOfPod({
  KUBERNETES_SERVICE_HOST,
  KUBERNETES_SERVICE_PORT,
}: ClusterSurroundings["environment"]): string {
  if (KUBERNETES_SERVICE_HOST === undefined || KUBERNETES_SERVICE_HOST === "")
    throw new Error(
      "`targets kubernetes` finds no API server, because KUBERNETES_SERVICE_HOST is not set. Run the gateway in a pod, or write `server` in its block",
    )
  const host = isIP(KUBERNETES_SERVICE_HOST) === 6 ? `[${KUBERNETES_SERVICE_HOST}]` : KUBERNETES_SERVICE_HOST
  return `https://${host}:${KUBERNETES_SERVICE_PORT ?? 443}`
}

function namespaceOfPod(): string {
  const file = `${accountFolder}/namespace`
  try {
    return readFileSync(file, "utf8").trim()
  } catch {
    throw new Error(
      `\`targets kubernetes\` does not know the namespace, because ${file} cannot be read. Write it: \`"NAMESPACE/SERVICE:PORT"\``,
    )
  }
}
