import type { PortalPlan } from "../../../runtime/plan/portal.ts"
import { addressText, type DeclaredListener } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import type { RouteSource } from "../routes.ts"
import { portalListeners, reachOf } from "./listen.ts"
import { originOf } from "./oidc-clients.ts"
import type { Values } from "./values.ts"

/** The origin of the first listener that browsers reach at the address that it has; undefined: none is known now. */
export function firstOrigin(listen: readonly DeclaredListener[]): string | undefined {
  const found = listen.find(
    (each) => !("at" in each) && each.redirect === undefined && reachOf(each.host) !== "everywhere",
  )
  if (found === undefined || "at" in found) return undefined
  return `${found.tls === undefined ? "http" : "https"}://${addressText(found)}`
}

/** `try-it` needs both addresses: browsers compare origins exactly. */
export function tryItOf(
  program: Program,
  addresses: Pick<PortalPlan, "external" | "gateway">,
  report: Report,
): Pick<PortalPlan, "tryIt"> {
  const said = statementOf(program.portal?.block, "try-it")
  if (said === undefined) return {}
  const missing = (["external", "gateway"] as const).find((each) => addresses[each] === undefined)
  if (missing === undefined) return { tryIt: true }
  if (program.portal?.block?.damaged === false && statementOf(program.portal.block, missing) === undefined)
    report.add(
      "SP2009",
      headSpan(said.statement),
      `\`try-it\` needs \`${missing}\`, because its address is not known`,
      {
        help: `Add e.g. \`${missing} "https://developers.acme.example"\`.`,
      },
    )
  return {}
}

/**
 * CORS for the pages of the portal, on routes of published APIs that have no `cors` of their own. Requests come from the browser itself, so every rule
 * of the route holds for them as for any caller; without credentials, such a page can do no more than a caller with the same key.
 */
export class PortalSharing {
  readonly #origin: LoadText | undefined
  readonly #apis: ReadonlySet<string> | "all"
  readonly #span: Span | undefined

  constructor(program: Program, values: Values) {
    const block = program.portal?.block
    const said = statementOf(block, "try-it")
    this.#span = said === undefined ? undefined : headSpan(said.statement)
    // Mistakes are reported where the portal is lowered.
    const context = { values, report: new Report() }
    const origin = said === undefined ? "broken" : originOf(block, context)
    this.#origin =
      origin === "broken" ? undefined : (origin ?? firstOrigin(portalListeners(program, context)))
    const statements = statementsOf(block, "apis")
    const names = statements.map(({ args }) => args.words("api").map(({ text }) => text))
    this.#apis = names.some((each) => each.length === 0) ? "all" : new Set(names.flat())
  }

  /** The origin whose pages may call a route, and the statement that says so; undefined: the portal does not call it. */
  of({
    api,
    method,
    documentation,
  }: RouteSource): { readonly origin: LoadText; readonly span: Span } | undefined {
    const isPublished = this.#apis === "all" || this.#apis.has(api.name)
    // An operation for OPTIONS responds to preflights itself.
    if (this.#origin === undefined || this.#span === undefined || !isPublished) return undefined
    return documentation || method === "OPTIONS" ? undefined : { origin: this.#origin, span: this.#span }
  }
}
