import type { OidcClientPlan } from "../../../runtime/plan/oidc-client.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { nestedSteps, type Step, type StepId } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { printPath } from "../bind/path.ts"
import type { Program } from "../program.ts"
import type { RouteSource } from "../routes.ts"

/** A client on the hosts of the routes that use it. Undefined: all hosts. */
interface PlacedClient {
  readonly name: string
  readonly plan: OidcClientPlan
  readonly span: Span
  readonly hosts: readonly string[] | undefined
}

/**
 * Checks what depends on all routes: the gateway serves the paths of a login itself, so no route and no other client may have them on the same host; and
 * browsers keep the cookies of sessions only over HTTPS.
 */
export function checkLogins(
  program: Program,
  { oidcClients = {}, routes, steps }: PlanBody,
  sources: Iterable<RouteSource>,
  report: Report,
): void {
  const clients = program.all("oidc").flatMap(({ name, span }): PlacedClient[] => {
    const plan = oidcClients[name]
    if (plan === undefined) return []
    const own = Object.values(routes).filter(({ sections }) => uses(sections.inbound, name, steps))
    const hosts = own.flatMap((route) => route.hosts ?? [])
    return [{ name, plan, span, hosts: own.some((route) => route.hosts === undefined) ? undefined : hosts }]
  })
  if (clients.length === 0) return
  for (const source of sources) for (const client of clients) checkRoute(source, client, program, report)
  clients.forEach((client, at) => {
    for (const other of clients.slice(0, at)) checkPair(client, other, program, report)
  })
  checkSecurity(clients, program, report)
}

function uses(ids: readonly StepId[], client: string, steps: Readonly<Record<StepId, Step>>): boolean {
  return ids.some((id) => {
    const step = steps[id]
    if (step === undefined) return false
    if (step.kind === "oidc-session") return step.client === client
    return nestedSteps(step).some((nested) => uses(nested.steps, client, steps))
  })
}

const keywords = ["login", "callback", "logout", "back-channel-logout"] as const

function pathOf({ paths, backChannelLogout }: OidcClientPlan, keyword: (typeof keywords)[number]) {
  return keyword === "back-channel-logout" ? backChannelLogout : paths[keyword]
}

function checkRoute(source: RouteSource, client: PlacedClient, program: Program, report: Report): void {
  const path = printPath(source.path)
  for (const keyword of keywords) {
    if (pathOf(client.plan, keyword) !== path || !meet(source.hosts, client.hosts)) continue
    const { span, message } = placeOf(client, keyword, program)
    report.add("SP3072", source.span, `\`${path}\` is the \`${keyword}\` path of \`oidc ${client.name}\``, {
      related: [{ span, message }],
    })
  }
}

function checkPair(client: PlacedClient, other: PlacedClient, program: Program, report: Report): void {
  if (!meet(client.hosts, other.hosts)) return
  for (const keyword of keywords) {
    const path = pathOf(client.plan, keyword)
    const its = keywords.find((each) => pathOf(other.plan, each) === path)
    if (path === undefined || its === undefined) continue
    const related = placeOf(other, its, program)
    report.add(
      "SP3072",
      placeOf(client, keyword, program).span,
      `\`${path}\` is the \`${its}\` path of \`oidc ${other.name}\`, too, on a host that both serve`,
      { related: [related], help: `Write e.g. \`${keyword} "/${client.name}/${keyword}"\`.` },
    )
    return
  }
}

/** The statement with a path, or the client if it has the default. */
function placeOf(
  { name, span }: PlacedClient,
  keyword: string,
  program: Program,
): { readonly span: Span; readonly message: string } {
  const said = statementOf(program.find("oidc", name)?.bound.block, keyword)
  return said === undefined
    ? { span, message: `\`${name}\` has it by default` }
    : { span: headSpan(said.statement), message: `the path of \`${name}\`` }
}

/** Whether a host can be one of both. A pattern covers all names below it. */
function meet(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return true
  const covers = (pattern: string, host: string) =>
    pattern === host || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)))
  return a.some((one) => b.some((other) => covers(one, other) || covers(other, one)))
}

/** A listener without TLS that is not on this machine, with no trusted proxy in front that could have TLS. */
function checkSecurity(clients: readonly PlacedClient[], program: Program, report: Report): void {
  const block = program.gateway?.block
  const trusts = statementsOf(block, "trust").some(({ args }) => args.all("network").length > 0)
  const [first] = clients
  if (trusts || first === undefined) return
  const isSecured = (external: OidcClientPlan["external"]) =>
    typeof external === "string" && external.startsWith("https:")
  if (clients.every(({ plan }) => isSecured(plan.external))) return
  for (const { args, block: own, broken, statement } of statementsOf(block, "listen")) {
    if (broken || statementOf(own, "tls") !== undefined || statementOf(own, "redirect") !== undefined)
      continue
    const addresses = args.all("address").map(({ value }) => (value as { readonly host: string }).host)
    if (addresses.every(isLocal)) continue
    report.add(
      "SP3073",
      headSpan(statement),
      "browsers do not keep the cookies of sessions that come over plain HTTP",
      { related: [{ span: first.span, message: "the sessions" }] },
    )
  }
}

function isLocal(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.")
}
