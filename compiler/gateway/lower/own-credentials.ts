import { digestOf } from "../../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type {
  BackendAuthentication,
  CertificatePlan,
  PdpAuthentication,
  TokenClientPlan,
} from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import {
  type Args,
  type BoundStatement,
  headSpan,
  mentions,
  statementOf,
  statementsOf,
} from "../bind/bound.ts"
import { inlineBackendPrefix } from "../bind/names.ts"
import type { Program } from "../program.ts"
import { checkAcme, lowerCertificate } from "./certificate.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** How the gateway authenticates to a backend or a decision point. */
interface Credentials<Authentication> {
  readonly authentication: Authentication | undefined
  readonly certificate: string | undefined
}

/** The statements of a block about authentication. */
interface Said {
  readonly authorization: BoundStatement | undefined
  readonly certificate: string | undefined
}

/** The parts of a plan that use credentials. */
interface CredentialUsers
  extends Pick<PlanBody, "gateway" | "authz" | "control" | "portal" | "steps" | "backends"> {
  readonly pdps: NonNullable<PlanBody["pdps"]>
}

/** Certificates and token clients, declared by name or inside of backends. The plan gets those in use. */
export class OwnCredentialPlans {
  readonly #program: Program
  readonly #values: Values
  readonly #report: Report
  readonly #certificates = new Map<string, CertificatePlan>()
  readonly #clients = new Map<string, TokenClientPlan>()

  /** Declarations are read first, so that a backend may use one that is declared below it. */
  constructor(program: Program, values: Values, report: Report) {
    this.#program = program
    this.#values = values
    this.#report = report
    for (const { name, bound } of program.all("certificate")) {
      const certificate = bound.broken
        ? undefined
        : lowerCertificate(name, bound, { program, values, report })
      if (certificate !== undefined) this.#certificates.set(name, certificate)
    }
    for (const { name, bound } of program.all("token")) {
      const client = bound.broken ? undefined : this.#declared(bound)
      if (client !== undefined) this.#clients.set(name, client)
    }
  }

  /** The credentials of a backend's block; "broken" when they are invalid (reported). */
  ofBackend(bound: BoundStatement): Credentials<BackendAuthentication> | "broken" {
    const said = this.#said(bound, "backend")
    if (said === "broken") return said
    const { authorization, certificate } = said
    const authentication = authorization === undefined ? undefined : this.#authentication(authorization)
    return authentication === "broken" ? authentication : { authentication, certificate }
  }

  /** The credentials of a decision point, which can also be a key. */
  ofPdp(bound: BoundStatement): Credentials<PdpAuthentication> | "broken" {
    const said = this.#said(bound, "decision point")
    if (said === "broken") return said
    const { authorization, certificate } = said
    const token = authorization?.args.word("bearer")?.text
    if (token !== undefined) return { authentication: { scheme: "bearer", token }, certificate }
    const authentication = authorization === undefined ? undefined : this.#authentication(authorization)
    return authentication === "broken" ? authentication : { authentication, certificate }
  }

  /** A request can carry one certificate and one authorization, so a second one of either is an error. */
  #said({ block }: BoundStatement, what: string): Said | "broken" {
    let certificate: BoundStatement | undefined
    let authorization: BoundStatement | undefined
    for (const each of statementsOf(block, "authenticate")) {
      // The certificate belongs to the connection, the other kinds to the `Authorization` header: they can stand together.
      const shown = each.args.word("certificate") !== undefined
      const earlier = shown ? certificate : authorization
      if (earlier !== undefined) {
        this.#report.add(
          "SP2017",
          headSpan(each.statement),
          `the ${what} can have only one \`authenticate\` of this kind`,
          {
            related: [{ span: headSpan(earlier.statement), message: "the other one" }],
          },
        )
        return "broken"
      }
      if (shown) certificate = each
      else authorization = each
    }
    return { authorization, certificate: certificate?.args.word("certificate")?.text }
  }

  /** The decision points, and the credentials that they, listeners, steps and backends use, with the secrets they need. */
  tables({
    gateway,
    authz,
    control,
    steps,
    backends,
    pdps,
  }: CredentialUsers): Pick<PlanBody, "certificates" | "tokenClients" | "pdps"> {
    // Only what is in use: a file that no route needs must not prevent the start.
    const certificates = new Set(this.#readBy(steps))
    const asClient = new Set<string>()
    for (const side of [gateway, authz, control])
      for (const { tls } of side?.listen ?? [])
        for (const name of tls?.certificates ?? []) certificates.add(name)
    const clients = new Set<string>()
    for (const step of Object.values(steps)) {
      const authentication = "authentication" in step ? step.authentication : undefined
      if (authentication?.scheme === "certificate") asClient.add(authentication.certificate)
      if (authentication?.scheme === "token") clients.add(authentication.client)
    }
    for (const { tls, authentication } of [...Object.values(backends), ...Object.values(pdps)]) {
      if (tls.certificate !== undefined) asClient.add(tls.certificate)
      if (authentication?.scheme === "token") clients.add(authentication.client)
      if (authentication?.scheme === "basic") this.#values.needSecret(authentication.password)
      if (authentication?.scheme === "bearer") this.#values.needSecret(authentication.token)
    }
    for (const name of asClient) certificates.add(name)
    const used = <Item>(all: ReadonlyMap<string, Item>, names: ReadonlySet<string>) =>
      // Sorted by name, because the order of declarations must not change the plan.
      Object.fromEntries([...all].filter(([name]) => names.has(name)).sort(([a], [b]) => (a < b ? -1 : 1)))
    const tables = {
      certificates: used(this.#certificates, certificates),
      tokenClients: used(this.#clients, clients),
    }
    checkAcme(tables.certificates, { asClient, listen: gateway?.listen ?? [] }, this.#program, this.#report)
    for (const { secret } of Object.values(tables.tokenClients)) this.#values.needSecret(secret)
    for (const each of Object.values(tables.certificates)) {
      const sources =
        "acme" in each ? [each.acme.protectedBy, each.acme.externalAccount] : [each.cert, each.key]
      for (const source of sources)
        if (source !== undefined && "secret" in source) this.#values.needSecret(source.secret)
    }
    this.#values.needIn([tables.tokenClients, tables.certificates])
    return {
      // Absent instead of empty: a plan without them keeps the digest it had before these tables existed.
      ...(certificates.size === 0 ? {} : { certificates: tables.certificates }),
      ...(clients.size === 0 ? {} : { tokenClients: tables.tokenClients }),
      ...(Object.keys(pdps).length === 0 ? {} : { pdps }),
    }
  }

  /** Programs of documents can look up any declared certificate. */
  #readBy(steps: PlanBody["steps"]): readonly string[] {
    // A program computes the name, so all certificates have to be in the plan.
    if (this.#certificates.size === 0 || !JSON.stringify(steps).includes('"IDeployment.Certificates"'))
      return []
    for (const declared of this.#program.all("certificate")) declared.used = true
    return [...this.#certificates].flatMap(([name, each]) => ("acme" in each ? [] : [name]))
  }

  /** The `Authorization` that the gateway sends. A client that is written in place is named after its content. */
  #authentication(bound: BoundStatement): BackendAuthentication | "broken" {
    const { args } = bound
    if (args.word("issuer") !== undefined) {
      const endpoint = this.#endpointOf(args)
      const client = endpoint === undefined ? undefined : this.#client(endpoint, args, args, args)
      if (client === undefined) return "broken"
      // Two backends with the same client share its token.
      const name = `${inlineBackendPrefix}${digestOf(client).slice("sha256:".length, "sha256:".length + 8)}`
      this.#clients.set(name, client)
      return { scheme: "token", client: name }
    }
    const client = args.word("token")?.text
    if (client !== undefined) return { scheme: "token", client }
    const [user, password] = [this.#data(args, "user"), args.word("password")?.text]
    // A colon ends the user's name in Basic credentials.
    if (typeof user === "string" && user.includes(":")) {
      const span = args.get("user")?.argument.span
      this.#report.add("SP2010", span, "a user name cannot contain a colon (RFC 7617)")
      return "broken"
    }
    return user === undefined || password === undefined ? "broken" : { scheme: "basic", user, password }
  }

  /** A declared token client. Its endpoint is given by a URL or by an issuer's discovery document. */
  #declared({ block, statement }: BoundStatement): TokenClientPlan | undefined {
    const [url, issuer] = [statementOf(block, "url"), statementOf(block, "issuer")]
    if (url !== undefined && issuer !== undefined) {
      this.#report.add(
        "SP2017",
        headSpan(issuer.statement),
        "`url` names the token endpoint, so `issuer` has no effect",
        {
          related: [{ span: headSpan(url.statement), message: "`url`" }],
        },
      )
      return undefined
    }
    if (!mentions(block, "url") && !mentions(block, "issuer") && block?.damaged !== true)
      this.#report.add("SP2009", headSpan(statement), "the token client has neither `url` nor `issuer`", {
        help: 'Add `url "https://…"`, or `issuer NAME`.',
      })
    const endpoint = url === undefined ? this.#endpointOf(issuer?.args) : this.#urlOf(url)
    const client = statementOf(block, "client")?.args
    if (endpoint === undefined || client === undefined) return undefined
    const made = this.#client(
      endpoint,
      client,
      statementOf(block, "scope")?.args,
      statementOf(block, "audience")?.args,
    )
    return made === undefined || !mentions(block, "in-body") ? made : { ...made, inBody: true }
  }

  #urlOf({ args }: BoundStatement): TokenClientPlan["endpoint"] | undefined {
    const url = lowerUrl(args.text("url"), this.#values, this.#report)
    return url === undefined ? undefined : { url }
  }

  /** The token endpoint of an issuer. Its URL is in the discovery document, so an issuer with local keys has none. */
  #endpointOf(args: Args | undefined): TokenClientPlan["endpoint"] | undefined {
    const word = args?.word("issuer")
    const declared = word === undefined ? undefined : this.#program.find("issuer", word.text)
    if (word === undefined || declared === undefined || declared.bound.broken) return undefined
    const discovery = statementOf(declared.bound.block, "discovery")
    if (discovery !== undefined) {
      const url = this.#values.loadText(discovery.args.text("url") ?? word)
      return url === undefined ? undefined : { discovery: url }
    }
    if (declared.bound.block?.damaged !== true)
      this.#report.add(
        "SP2017",
        word.span,
        `\`${word.text}\` has no discovery document that names its token endpoint`,
        {
          related: [{ span: declared.span, message: "the issuer" }],
          help: 'Declare the token client separately: `token NAME { url "https://…"; client "ID" secret SECRET }`.',
        },
      )
    return undefined
  }

  /** The fields of a token request (RFC 6749, section 4.4). */
  #client(
    endpoint: TokenClientPlan["endpoint"],
    client: Args,
    scopeAt: Args | undefined,
    audienceAt: Args | undefined,
  ): TokenClientPlan | undefined {
    const [id, secret] = [this.#data(client, "client"), client.word("secret")?.text]
    const scope = scopeAt === undefined ? undefined : this.#data(scopeAt, "scope")
    const audience = audienceAt === undefined ? undefined : this.#data(audienceAt, "audience")
    if (id === undefined || secret === undefined) return undefined
    return {
      endpoint,
      client: id,
      secret,
      ...(scope === undefined ? {} : { scope }),
      ...(audience === undefined ? {} : { audience }),
    }
  }

  /** A bare word is the text itself. */
  #data(args: Args, slot: string): LoadText | undefined {
    const argument = args.text(slot)
    if (argument === undefined) return undefined
    return argument.kind === "word" ? argument.text : this.#values.loadText(argument)
  }
}
