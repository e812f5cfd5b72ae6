import type { Report } from "../../core/diagnostic.ts"
import { suggestedBackend } from "../../openapi/api-document.ts"
import type { Missing } from "../lower/route.ts"
import type { RouteSource } from "../routes.ts"

interface Part {
  readonly key: keyof Missing
  readonly code: "SP3004" | "SP3005"
  readonly one: string
  readonly several: string
  readonly all: string
}

/** What every route needs, with the texts for one operation and for all of an API. */
const parts: readonly Part[] = [
  { key: "auth", code: "SP3004", one: "has no `auth`", several: "have no `auth`", all: "has an `auth`" },
  {
    key: "backend",
    code: "SP3005",
    one: "has no `backend` and does not always `respond`",
    several: "have no `backend` and do not always `respond`",
    all: "has a `backend` or always does `respond`",
  },
]

/** Collects what routes lack. If several routes of an API lack it, reports it once for the API. */
export class MissingParts {
  readonly #report: Report
  readonly #apis = new Map<RouteSource["api"], { source: RouteSource; missing: Missing }[]>()

  constructor(report: Report) {
    this.#report = report
  }

  add(source: RouteSource, missing: Missing): void {
    const routes = this.#apis.get(source.api)
    if (routes === undefined) this.#apis.set(source.api, [{ source, missing }])
    else routes.push({ source, missing })
  }

  /** If several operations of an API lack a part, one finding at the API is enough: one line mends it. */
  report(): void {
    for (const [api, routes] of this.#apis) {
      for (const { key, code, one, several, all } of parts) {
        const lacking = routes.filter(({ missing }) => missing[key])
        const [first] = lacking
        if (first !== undefined && lacking.length > 1) {
          const detail =
            lacking.length === routes.length
              ? `none of the ${routes.length} operations of \`${api.name}\` ${all}`
              : `${lacking.length} of the ${routes.length} operations of \`${api.name}\` ${several}`
          this.#report.add(code, api.span, detail, {
            ...helpFor(code, first.source),
            related: [{ span: first.source.span, message: "the first of them" }],
          })
          continue
        }
        for (const { source } of lacking)
          this.#report.add(
            code,
            source.span,
            `\`${source.key.replace("* ", "ANY ")}\` ${one}`,
            helpFor(code, source),
          )
      }
    }
  }
}

/** An OpenAPI document may name a server, but the gateway only uses it as a backend if gateway.conf says so. */
function helpFor(code: Part["code"], { described }: RouteSource): { readonly help?: string } {
  const url =
    code === "SP3005" && described !== undefined ? suggestedBackend(described.document.servers) : undefined
  return url === undefined
    ? {}
    : { help: `Add \`backend "${url}"\`: the OpenAPI document names this server.` }
}
