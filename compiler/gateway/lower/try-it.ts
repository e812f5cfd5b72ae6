import type { ControlPlan } from "../../../runtime/plan/control.ts"
import type { PortalPlan } from "../../../runtime/plan/portal.ts"
import { addressText, type DeclaredListener } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import type { RouteSource } from "../routes.ts"
import { controlListeners, portalListeners, reachOf } from "./listen.ts"
import { originAt, originOf } from "./oidc-clients.ts"
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

/** The origins of `try-it` in `control`: of the console, and of the gateway that its pages call. `gateway`: the listeners of the gateway. */
export function consoleTryItOf(
  program: Program,
  { values, report }: { readonly values: Values; readonly report: Report },
  gateway: readonly DeclaredListener[],
): Pick<ControlPlan, "tryIt"> {
  const block = program.control?.block
  const said = statementOf(block, "try-it")
  if (said === undefined || said.broken) return {}
  const known = {
    console: consoleOrigin(program, { values, report }),
    gateway: originAt(said.args.text("gateway"), { values, report }) ?? firstOrigin(gateway),
  }
  for (const each of ["console", "gateway"] as const)
    if (known[each] === undefined)
      report.add(
        "SP2009",
        headSpan(said.statement),
        `\`try-it\` needs the address of the ${each} as browsers see it, because it is not known`,
        {
          help: `Write e.g. \`${each === "console" ? 'try-it "https://console.acme.example"' : 'gateway "https://api.acme.example"'}\`.`,
        },
      )
  const { console, gateway: called } = known
  if (console === undefined || console === "broken" || called === undefined || called === "broken") return {}
  return { tryIt: { console, gateway: called } }
}

function consoleOrigin(
  program: Program,
  context: { readonly values: Values; readonly report: Report },
): LoadText | "broken" | undefined {
  const said = statementOf(program.control?.block, "try-it")
  return (
    originAt(said?.args.text("console"), context) ??
    firstOrigin(controlListeners(program, { ...context, report: new Report() }))
  )
}

/** Pages that may call a route, and the statement that says so. */
interface CallingPage {
  readonly origin: LoadText
  readonly span: Span
}

/**
 * CORS for the pages of the portal, on routes of published APIs, and for those of the console, on all routes, if they have no `cors` of their own. Requests come
 * from the browser itself, so every rule of the route holds for them as for any caller; without credentials, such a page can do no more than a caller with the same key.
 */
export class PageSharing {
  readonly #portal: CallingPage | undefined
  readonly #console: CallingPage | undefined
  readonly #apis: ReadonlySet<string> | "all"

  constructor(program: Program, values: Values) {
    const { portal, control } = program
    // Mistakes are reported where the portal and the control API are lowered.
    const context = { values, report: new Report() }
    this.#portal = callingPage(
      statementOf(portal?.block, "try-it"),
      () => originOf(portal?.block, context) ?? firstOrigin(portalListeners(program, context)),
    )
    this.#console = callingPage(statementOf(control?.block, "try-it"), () => consoleOrigin(program, context))
    const statements = statementsOf(portal?.block, "apis")
    const names = statements.map(({ args }) => args.words("api").map(({ text }) => text))
    this.#apis = names.some((each) => each.length === 0) ? "all" : new Set(names.flat())
  }

  /** The pages that may call a route; none: its responses are for nobody's pages. */
  of({ api, method, documentation }: RouteSource): readonly CallingPage[] {
    // An operation for OPTIONS responds to preflights itself.
    if (documentation || method === "OPTIONS") return []
    const isPublished = this.#apis === "all" || this.#apis.has(api.name)
    return [isPublished ? this.#portal : undefined, this.#console].filter((page) => page !== undefined)
  }
}

function callingPage(
  said: BoundStatement | undefined,
  find: () => LoadText | "broken" | undefined,
): CallingPage | undefined {
  if (said === undefined || said.broken) return undefined
  const origin = find()
  return origin === undefined || origin === "broken" ? undefined : { origin, span: headSpan(said.statement) }
}
