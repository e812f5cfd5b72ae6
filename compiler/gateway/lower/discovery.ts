import { isIP } from "node:net"
import type { DiscoveryPlan } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { BoundStatement } from "../bind/bound.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** What finds the targets of a backend. `url`: its host names all of them. */
export interface Discovered {
  readonly url: LoadText
  readonly discovery: DiscoveryPlan
}

/** `targets dns|srv "URL"`. The host is checked as far as it is known now. */
export function lowerDiscovery(
  bound: BoundStatement | undefined,
  values: Values,
  report: Report,
): Discovered | undefined {
  if (bound === undefined || bound.broken) return undefined
  const [word] = bound.statement.args
  const by = word?.kind === "word" && word.text === "dns" ? "dns" : "srv"
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
  by: DiscoveryPlan["by"],
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
