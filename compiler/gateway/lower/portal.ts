import type { OidcClientPlan } from "../../../runtime/plan/oidc-client.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import {
  type PortalPlan,
  type PublishedVersionPlan,
  portalDocumentMax,
  portalDocumentsMax,
} from "../../../runtime/plan/portal.ts"
import type { DeclaredListener, Route } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { OpenapiCompiler } from "../../openapi/wing.ts"
import { type BoundBlock, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { type DescribedOperation, neededOpenapi } from "../described.ts"
import { exportParts, type Served, versionsOfApi } from "../export-api.ts"
import type { PortalFiles } from "../portal-files.ts"
import type { Program } from "../program.ts"
import { portalListeners } from "./listen.ts"
import { lowerClient, originOf } from "./oidc-clients.ts"
import { firstOrigin, tryItOf } from "./try-it.ts"
import type { Values } from "./values.ts"

/** What lowering the portal needs. `served`: the routes without those that serve documents; `gateway`: as in the plan. */
interface PortalContext {
  readonly program: Program
  readonly values: Values
  readonly report: Report
  readonly portalFiles: PortalFiles
  readonly served: Served
  readonly gateway: PlanBody["gateway"]
  readonly described: ReadonlyMap<string, DescribedOperation>
  readonly openapi: OpenapiCompiler | undefined
}

/** The developer portal with everything that it shows. A plan without it keeps the digest it had before portals existed. */
export function lowerPortal(context: PortalContext): Pick<PlanBody, "portal"> {
  const { program, values, report, portalFiles: files } = context
  const { portal } = program
  if (portal === undefined) return {}
  const { block } = portal
  const listen = portalListeners(program, { values, report })
  const external = originOf(block, context)
  const gateway = originOf(block, context, "gateway")
  const pages = pagesOf(files.pages, report)
  const addresses = {
    ...addressField("external", external, listen),
    ...addressField("gateway", gateway, context.gateway?.listen ?? []),
  }
  const signIn = signInOf(block, context)
  const plan: PortalPlan = {
    ...{ listen, ...addresses, ...signIn, ...tryItOf(program, addresses, report) },
    title: statementOf(block, "title")?.args.value<string>("title") || (context.gateway?.name ?? "API"),
    ...(files.logo === undefined ? {} : { logo: files.logo }),
    ...(files.style === undefined ? {} : { style: files.style }),
    ...(files.texts === undefined ? {} : { texts: { ...files.texts } }),
    ...(pages.length === 0 ? {} : { pages }),
    apis: publishedIn(context),
  }
  return listen.length === 0 ? {} : { portal: plan }
}

/** The origin of the text, or else of the first listener that browsers can reach at the address that it has. */
function addressField(
  field: "external" | "gateway",
  said: LoadText | "broken" | undefined,
  listen: readonly DeclaredListener[],
): { readonly external?: LoadText; readonly gateway?: LoadText } {
  if (said === "broken") return {}
  if (said !== undefined) return { [field]: said }
  const found = firstOrigin(listen)
  return found === undefined ? {} : { [field]: found }
}

/** The published versions of the APIs, by name. */
function publishedIn(context: PortalContext): PublishedVersionPlan[] {
  const { served, report } = context
  const published: PublishedVersionPlan[] = []
  let size = 0
  for (const { name, span } of publishedApis(context)) {
    const versions = versionsOfApi(served, name).sort((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1))
    for (const version of versions) {
      const document = documentOf(name, version, context)
      size += document.length
      if (document.length > portalDocumentMax || size > portalDocumentsMax) {
        const [what, most] =
          document.length > portalDocumentMax
            ? [`the document of \`${name}\` has ${document.length}`, portalDocumentMax]
            : [`the published documents up to \`${name}\` have ${size}`, portalDocumentsMax]
        report.add("SP3016", span, `${what} characters; the maximum is ${most}`)
        return published
      }
      const [route] = Object.values(served.routes).filter((each) => isOf(each, name, version))
      published.push({ api: name, version, path: route?.stripPrefix ?? "", document })
    }
  }
  return published
}

function isOf(route: Route, api: string, version: string | null): boolean {
  return route.api === api && route.version === version
}

interface PublishedName {
  readonly name: string
  readonly span: Span
}

/** APIs that `apis` names, each once and sorted. */
function publishedApis({ program, report }: PortalContext): PublishedName[] {
  const statements = statementsOf(program.portal?.block, "apis")
  const found = new Map<string, PublishedName>()
  for (const { args, statement } of statements) {
    if (args.words("api").length === 0)
      for (const { name } of program.all("api")) found.set(name, { name, span: headSpan(statement) })
  }
  const all = new Set(found.keys())
  for (const { text, span } of statements.flatMap(({ args }) => args.words("api"))) {
    // An unknown API is reported by the binder.
    if (program.find("api", text) === undefined) continue
    const earlier = all.has(text) ? undefined : found.get(text)
    if (earlier !== undefined)
      report.add("SP2016", span, `the API \`${text}\` is given twice`, {
        related: [{ span: earlier.span, message: "the first" }],
      })
    else if (all.has(text)) report.add("SP2017", span, `\`apis all\` already publishes \`${text}\``)
    found.set(text, { name: text, span })
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What callers may know of a version, as `docs` would serve it, in one line. */
function documentOf(api: string, version: string | null, context: PortalContext): string {
  const { exportDocument } = neededOpenapi(context.openapi)
  return JSON.stringify(exportDocument(exportParts(context.served, context.described, api, version)))
}

/** Who signs in, and which claim says whose subscriptions are whose. */
function signInOf(block: BoundBlock | undefined, context: PortalContext): Pick<PortalPlan, "signIn"> {
  const { program, values, report } = context
  const auth = statementOf(block, "auth")
  const owner = statementOf(block, "owner")
  if (owner !== undefined && auth === undefined && block?.damaged === false)
    report.add("SP2009", headSpan(owner.statement), "nobody can sign in, so nothing has an owner", {
      help: "Add `auth oidc CLIENT`, or remove `owner`.",
    })
  const word = auth?.args.word("client")
  const declared = word === undefined ? undefined : program.find("oidc", word.text)
  if (word === undefined || declared === undefined || declared.bound.broken) return {}
  // What is wrong in the declaration itself is reported there.
  const client = lowerClient(declared.bound, { program, values, report: new Report() })
  if (client === undefined) return {}
  if (client.store === "redis") {
    report.add(
      "SP2017",
      word.span,
      `\`${word.text}\` keeps its sessions in Redis, and the portal keeps them in cookies`,
      {
        related: [{ span: declared.span, message: "the client" }],
        help: "Declare another `oidc` client without `session redis`.",
      },
    )
    return {}
  }
  for (const { secret } of client.sessionKeys) values.needSecret(secret)
  if (client.secret !== undefined) values.needSecret(client.secret)
  reportReserved(client.paths, word.span, report)
  return { signIn: { name: word.text, client, owner: owner?.args.value<string>("claim") || "sub" } }
}

/** The JSON API and the files of the pages have paths of their own. */
function reportReserved(paths: OidcClientPlan["paths"], span: Span, report: Report): void {
  const taken = Object.values(paths).find((path) => /^\/(?:api|assets)(?:\/|$)/.test(path))
  if (taken !== undefined)
    report.add("SP3072", span, `\`${shown(taken)}\` is a path of the portal itself`, {
      help: "Give the client a path that begins with neither `/api` nor `/assets`.",
    })
}

type Page = NonNullable<PortalPlan["pages"]>[number]

/** Pages by their names in URLs. */
function pagesOf(files: PortalFiles["pages"], report: Report): Page[] {
  const pages = new Map<string, { readonly page: Page; readonly path: string }>()
  for (const { file, span } of files) {
    const slug = (/([^/]*?)(?:\.md)?$/i.exec(file.path)?.[1] ?? "").toLowerCase()
    if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(slug)) {
      report.add("SP3090", span, `\`${shown(file.path)}\` has no name that can be part of a URL`, {
        help: "Rename the file: letters, digits and `-`, at most 64 characters, and `.md`.",
      })
      continue
    }
    const earlier = pages.get(slug)
    if (earlier !== undefined)
      report.add(
        "SP3090",
        span,
        `\`${shown(file.path)}\` and \`${shown(earlier.path)}\` are both the page \`${slug}\``,
        {
          help: "Rename one of the files.",
        },
      )
    const heading = /^#[ \t]+(.{1,200}?)[ \t]*$/m.exec(file.text)?.[1]
    pages.set(slug, { page: { slug, title: heading ?? slug, markdown: file.text }, path: file.path })
  }
  return [...pages.values()].map(({ page }) => page).sort((a, b) => (a.slug < b.slug ? -1 : 1))
}
