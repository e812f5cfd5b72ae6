import { readListenAddress } from "../../plan/listen-address.ts"
import type { Plan } from "../../plan/plan.ts"
import {
  type AddressSourcePlan,
  addressText,
  type DeclaredListener,
  type ListenerPlan,
  type ListeningSide,
} from "../../plan/resources.ts"
import { LoadError } from "./load-error.ts"
import type { Outside, References } from "./references.ts"

/**
 * The listeners of one side of a plan, with their addresses.
 * @throws LoadError with all addresses that are unset, invalid or given twice
 */
export function listenersOf(
  plan: Plan,
  side: ListeningSide,
  references: Pick<References, "text">,
  { environment }: Pick<Outside, "environment">,
): ListenerPlan[] {
  const problems: string[] = []
  const found = new Map<string, ListenerPlan>()
  for (const listener of plan.plan[side]?.listen ?? []) {
    const known = located(listener, references, environment)
    if (typeof known === "string") problems.push(known)
    else if (found.has(addressText(known)))
      problems.push(`two listeners have the address ${addressText(known)}; change one of them`)
    else found.set(addressText(known), known)
  }
  const listeners = [...found.values()]
  const securedPort = listeners.find(({ tls }) => tls !== undefined)?.port
  const complete = listeners.map((listener) => {
    if (listener.redirect === undefined || listener.redirect.port !== undefined) return listener
    // Without a port to redirect to, requests would be served unencrypted.
    if (securedPort === undefined)
      problems.push(`listener ${addressText(listener)} redirects to HTTPS, and no listener has TLS`)
    return { ...listener, redirect: { port: securedPort } }
  })
  const origin = plan.origins[side]
  if (problems.length > 0)
    throw new LoadError(problems.map((each) => (origin === undefined ? each : `${origin}: ${each}`)))
  return complete
}

/** The listener with its address, or what is wrong with it. */
function located(
  listener: DeclaredListener,
  references: Pick<References, "text">,
  environment: Outside["environment"],
): ListenerPlan | string {
  if (!("at" in listener)) return listener
  const { at, ...ways } = listener
  const text = "env" in at ? (environment[at.env] ?? at.default) : references.text(at)
  if (text === undefined && "env" in at)
    return `\`listen ${sourceWords(at)}\`: the environment variable ${at.env} is not set; set it for this process, e.g. to \`0.0.0.0:8000\``
  const address = readListenAddress(text ?? "")
  if ("problem" in address)
    return `\`listen ${sourceWords(at)}\`: \`${text}\` ${address.problem}; write address and port, e.g. \`0.0.0.0:8000\``
  return { ...address, ...ways }
}

function sourceWords(at: AddressSourcePlan): string {
  if ("env" in at) return `env(${at.env})`
  return `"${at.text.map((part) => (typeof part === "string" ? part : `\${${part.value}}`)).join("")}"`
}
