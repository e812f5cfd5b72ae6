import type { Issuer, PolicyElement } from "../../../runtime/plan/resources.ts"
import { isAnswer, isSend, isSharing } from "../../../runtime/plan/steps.ts"
import type { DocumentSection, DocumentSteps, OperationDescription, Used } from "../../azure/site.ts"
import type { Span } from "../../core/source.ts"
import { headSpan } from "../bind/bound.ts"
import { isPolicyXml, type PolicyFiles } from "../policy-files.ts"
import type { GatewayHost } from "./document-host.ts"
import type { Auth, StatementPlace } from "./place.ts"
import type { Item } from "./scope.ts"
import { idsOf, type Lowered, type PlanSteps } from "./step.ts"

/** The steps of documents on a route. `cors` runs before everything else, because a preflight has no credentials. */
export interface PolicySteps {
  readonly cors: readonly Lowered[]
  /** `inbound` steps if documents authenticate callers: they run in place of `auth`. Otherwise these steps are in `inbound`. */
  readonly auth: readonly Lowered[]
  readonly inbound: readonly Lowered[]
  readonly backend: readonly Lowered[]
  readonly outbound: readonly Lowered[]
  readonly onError: readonly Lowered[]
  /** A document chooses a backend or always responds itself, so gateway.conf need not name a backend. */
  readonly finds: boolean
}

/** The scopes of items by depth, as documents name them. A version has the scope of its API. */
const levels: readonly PolicyElement["scope"][] = ["global", "product", "api", "api", "operation"]

/** The place where documents are used. */
interface Use {
  readonly api: string
  readonly place: StatementPlace
  /** How the request is forwarded if no document specifies it. */
  readonly forward: Lowered | "broken" | undefined
  readonly described: OperationDescription | undefined
}

/** The same, with a backend that was understood, or none. */
type KnownUse = Use & { readonly forward: Lowered | undefined }

/** Lowers the XML documents that apply to a route. Each runs in the scope that names it; `<base />` inserts the outer scopes. */
export class Policies {
  readonly #host: GatewayHost
  readonly #files: PolicyFiles
  readonly #steps: PlanSteps
  readonly #memo = new Map<string, DocumentSteps>()
  readonly #numbers = new Map<unknown, number>()
  #unproven = 0

  constructor(host: GatewayHost, files: PolicyFiles, steps: PlanSteps) {
    this.#host = host
    this.#files = files
    this.#steps = steps
  }

  issuers(): Record<string, Issuer> {
    return this.#host.issuers()
  }

  /** Without documents, there is only the backend of gateway.conf. */
  of(items: readonly Item[], given: Use): PolicySteps {
    const use = { ...given, forward: given.forward === "broken" ? undefined : given.forward }
    const named = items.filter(({ bound }) => isPolicyXml(bound))
    const [first] = named
    if (first === undefined) {
      const backend = use.forward === undefined ? [] : [use.forward]
      return { cors: [], auth: [], inbound: [], backend, outbound: [], onError: [], finds: false }
    }
    const forward =
      use.forward ?? this.#steps.add({ kind: "forward", backend: null }, headSpan(first.bound.statement))
    let steps: DocumentSteps = { inbound: [], backend: [forward], outbound: [], "on-error": [] }
    let key = `${use.api} ${use.forward?.id ?? ""} ${use.place.pathParameters.join()} ${use.place.auth.ways.map((way) => way.kind).join()}`
    if (named.some(({ bound }) => this.#files.readsOperation(bound))) key += ` ${use.place.route}`
    for (const depth of [0, 1, 2, 3, 4]) {
      const here = named.filter((item) => item.depth === depth)
      if (here.length === 0) continue
      key += ` ${here.map((item) => `${item.scope} ${this.#numberOf(item.bound)}`).join()}`
      const known = this.#memo.get(key)
      const outer = steps
      steps = known ?? (depth === 1 ? this.#products(here, use, outer) : this.#scope(here, use, outer))
      this.#memo.set(key, steps)
    }
    return this.#composed(steps, authenticates(use.place.auth))
  }

  /** What the gateway's documents do with a request that matches no route: their `on-error`. Azure API Management runs it then too. */
  unmatched(items: readonly Item[]): readonly Used[] {
    return items.reduce<readonly Used[]>((outer, { bound, scope }) => {
      const document = isPolicyXml(bound) ? this.#files.documents.get(bound) : undefined
      if (document === undefined) return outer
      const place = {
        ...{
          file: document.file,
          scope,
          level: "global" as const,
          api: "",
          operation: "requests that no route serves",
        },
        ...{ described: undefined, pathParameters: [], backend: null, keyed: false },
      }
      return this.#host.azure.lowerOnError(document, place, this.#host, outer)
    }, [])
  }

  /**
   * `auth policy`: reports a path to the backend that passes no authentication check. If the document has mistakes, one of them may be the
   * check.
   */
  prove(
    route: { key: string; span: Span },
    auth: Auth,
    steps: readonly Lowered[],
    onError: readonly Lowered[],
  ): void {
    const { report } = this.#host
    if (!authenticates(auth) || report.errors > this.#unproven) return
    const stepOf = (id: string) => this.#steps.get(id)
    // A refused request continues in `on-error`, with all changes that earlier steps made to it.
    const { wayAround, touched } = this.#host.azure
    const way = wayAround(steps, stepOf) ?? wayAround(onError, stepOf, touched(route.key))
    if (way === undefined) return
    this.#unproven += 1
    const detail =
      way.turns.length === 0
        ? `requests for \`${route.key}\` get to the step at ${way.end.origin} without any authentication`
        : `a request for \`${route.key}\` can get to the step at ${way.end.origin} without authentication when ${way.turns.join(" and ")}`
    report.add("SP7016", auth.span ?? route.span, detail, {
      related: [{ span: route.span, message: "the operation" }],
    })
  }

  #scope(items: readonly Item[], use: KnownUse, outer: DocumentSteps): DocumentSteps {
    return items.reduce((steps, item) => this.#document(item, use, steps), outer)
  }

  /** The document of a product runs for callers with a subscription to it. The outer documents run for other callers. */
  #products(items: readonly Item[], use: KnownUse, outer: DocumentSteps): DocumentSteps {
    if (!use.place.auth.ways.some((way) => way.kind === "subscription")) return outer
    // A preflight has no key, so the response to a preflight cannot depend on a product.
    const cors = outer.inbound.filter((step) => this.#isCors(step))
    const rest = { ...outer, inbound: outer.inbound.filter((step) => !this.#isCors(step)) }
    const steps = this.#choices(items, use, rest)
    return { ...steps, inbound: [...cors, ...steps.inbound] }
  }

  /** Products choose between documents by the caller, and the innermost choice is built first. */
  #choices(items: readonly Item[], use: KnownUse, outer: DocumentSteps): DocumentSteps {
    return items.reduceRight<DocumentSteps>((others, item) => {
      const own = this.#document(item, use, outer)
      const choose = (section: DocumentSection): readonly Used[] =>
        own[section] === others[section]
          ? others[section]
          : [this.#ifProduct(item, own[section], others[section])]
      return Object.fromEntries(
        this.#host.azure.sections.map((section) => [section, choose(section)]),
      ) as unknown as DocumentSteps
    }, outer)
  }

  /** A document that runs only for subscriptions to its product. */
  #ifProduct(item: Item, matched: readonly Used[], otherwise: readonly Used[]): Lowered {
    const text = `has(subscription.product) && subscription.product == ${JSON.stringify(item.product)}`
    return this.#steps.add(
      {
        kind: "when",
        test: { lang: "cel", text, type: "bool" },
        matched: idsOf(matched),
        otherwise: idsOf(otherwise),
      },
      headSpan(item.bound.statement),
      { matched, otherwise },
    )
  }

  /** A document in its scope, with the steps of the outer ones for its `<base />`. */
  #document({ bound, scope, depth }: Item, use: KnownUse, outer: DocumentSteps): DocumentSteps {
    const document = this.#files.documents.get(bound)
    if (document === undefined) return outer
    const { place } = use
    const forward = use.forward === undefined ? undefined : this.#steps.get(use.forward.id)
    return this.#host.azure.lowerDocument(
      document,
      {
        file: document.file,
        scope,
        level: levels[depth] ?? "operation",
        api: use.api,
        operation: place.route,
        described: use.described,
        pathParameters: place.pathParameters,
        backend: isSend(forward) ? forward.backend : null,
        keyed: place.auth.ways.some((way) => way.kind === "subscription"),
      },
      this.#host,
      outer,
    )
  }

  /** Takes the steps of the documents apart: CORS runs before everything else, because a preflight has no credentials. */
  #composed(steps: DocumentSteps, atAuth: boolean): PolicySteps {
    const kinds = (list: readonly Used[]): Set<string | undefined> =>
      new Set(this.#host.azure.everyStep(list).map(({ id }) => this.#steps.get(id)?.kind))
    const answers = steps.inbound.some(({ id }) => isAnswer(this.#steps.get(id)))
    const inbound = steps.inbound.filter((step) => !this.#isCors(step))
    return {
      cors: steps.inbound.filter((step) => this.#isCors(step)),
      auth: atAuth ? inbound : [],
      inbound: atAuth ? [] : inbound,
      backend: steps.backend,
      outbound: steps.outbound,
      onError: steps["on-error"],
      finds:
        answers ||
        kinds(steps.inbound).has("set-backend") ||
        kinds(steps.backend).has("set-backend") ||
        !kinds(steps.backend).has("forward"),
    }
  }

  #isCors({ id }: Used): boolean {
    return isSharing(this.#steps.get(id))
  }

  #numberOf(object: unknown): number {
    const known = this.#numbers.get(object) ?? this.#numbers.size
    this.#numbers.set(object, known)
    return known
  }
}

/** Whether `auth policy` leaves authentication to documents. */
function authenticates({ ways }: Auth): boolean {
  return ways.some(({ kind }) => kind === "policy")
}
