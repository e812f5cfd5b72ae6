import { isIP } from "../../../runtime/plan/ip-text.ts"
import { type DiscoveryPlan, kubernetesName } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import { type BoundStatement, statementOf } from "../bind/bound.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** What finds the targets of a backend. `url`: its host names all of them. */
export interface Discovered {
  readonly url: LoadText
  readonly discovery: DiscoveryPlan
}

/** `targets dns|srv "URL"` and `targets kubernetes "SERVICE"`. The host is checked as far as it is known now. */
export function lowerDiscovery(
  bound: BoundStatement | undefined,
  values: Values,
  report: Report,
): Discovered | undefined {
  if (bound === undefined || bound.broken) return undefined
  const [word] = bound.statement.args
  const by = word?.kind === "word" ? word.text : undefined
  if (by === "kubernetes") return lowerService(bound, values, report)
  if (by !== "dns" && by !== "srv") return undefined
  const argument = bound.args.text("url")
  const url = lowerUrl(argument, values, report)
  if (argument === undefined || url === undefined) return undefined
  const parts = values.preview(url)
  const problem = parts.includes(undefined) ? undefined : hostProblem(new URL(parts.join("")), by)
  if (problem !== undefined) {
    report.add("SP2026", argument.span, ...problem)
    return undefined
  }
  return { url, discovery: { by } }
}

/** The problem of a host that cannot be looked up, with its help. */
function hostProblem(
  { hostname, port }: URL,
  by: "dns" | "srv",
): [string, { readonly help: string }] | undefined {
  const bare = hostname.replace(/^\[|\]$/g, "")
  if (by === "dns")
    return isIP(bare) === 0
      ? undefined
      : [
          `\`targets dns\` needs a name, and \`${shown(bare)}\` is an address`,
          { help: "Write `target` for an address." },
        ]
  if (!/^_[^.]+\._(?:tcp|udp)\../i.test(hostname))
    return [
      `\`${shown(hostname)}\` is not the name of a service: it must begin like \`_http._tcp.\``,
      { help: 'Write e.g. `targets srv "http://_http._tcp.orders.internal"`.' },
    ]
  if (port !== "")
    return [
      "the records of a service state its ports, so this port has no meaning",
      { help: `Remove \`:${port}\`.` },
    ]
  return undefined
}

/** `NAMESPACE/SERVICE:PORT`; namespace and port may be left out. */
const servicePattern = /^(?:([^/:]*)\/)?([^/:]*)(?::([^/:]*))?$/

/** The service is written as `kubectl` and the names of the cluster have it; its URL has the name that certificates of services state. */
function lowerService(
  { args, block, statement }: BoundStatement,
  values: Values,
  report: Report,
): Discovered | undefined {
  const argument = args.get("service")?.argument
  const text = args.value<string>("service")
  const server = statementOf(block, "server")
  const serverUrl = server === undefined ? undefined : lowerUrl(server.args.text("url"), values, report)
  if (argument === undefined || text === undefined) return undefined
  const parts = servicePattern.exec(text)
  const problem = parts === null ? `\`${shown(text)}\` has another form` : partProblem(parts)
  if (parts === null || problem !== undefined) {
    report.add("SP2010", argument.span, `${problem}: \`NAMESPACE/SERVICE:PORT\` is needed`, {
      help: 'Write e.g. `targets kubernetes "shop/orders:http"`: names have lower-case letters, digits and `-`.',
    })
    return undefined
  }
  if (server !== undefined && serverUrl === undefined) return undefined
  const [, namespace, service = "", port] = parts
  const number = port === undefined || !/^\d+$/.test(port) ? undefined : Number(port)
  const file = (keyword: string) => statementOf(block, keyword)?.args.value<{ readonly file: string }>("file")
  const [token, ca] = [file("token"), file("ca")]
  const isSecure = statement.args.some((each) => each.kind === "word" && each.text === "https")
  const host = namespace === undefined ? service : `${service}.${namespace}.svc`
  return {
    url: `${isSecure ? "https" : "http"}://${host}${number === undefined ? "" : `:${number}`}`,
    discovery: {
      by: "kubernetes",
      ...(namespace === undefined ? {} : { namespace }),
      service,
      ...(port === undefined ? {} : { port: number ?? port }),
      ...(serverUrl === undefined ? {} : { server: serverUrl }),
      ...(token === undefined ? {} : { token }),
      ...(ca === undefined ? {} : { ca }),
    },
  }
}

/** The problem of a namespace, a service or a port. */
function partProblem([, namespace, service = "", port]: readonly (string | undefined)[]): string | undefined {
  const isNumber = port !== undefined && /^\d+$/.test(port)
  for (const name of [namespace, service, isNumber ? undefined : port]) {
    if (name === "") return "a name is empty"
    if (name !== undefined && !kubernetesName.safeParse(name).success)
      return `\`${shown(name)}\` is no name of Kubernetes`
  }
  return isNumber && (Number(port) < 1 || Number(port) > 65_535) ? `there is no port \`${port}\`` : undefined
}
