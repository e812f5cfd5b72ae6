import { digestOf } from "../../../runtime/plan/canonical.ts"
import type { CsharpProgram } from "../../../runtime/plan/csharp.ts"
import {
  type InlineKey,
  type Issuer,
  secretAlgorithm,
  signatureAlgorithm,
} from "../../../runtime/plan/resources.ts"
import type { Authentication } from "../../../runtime/plan/step-values.ts"
import { type Step, type StepKind, step as stepSchema } from "../../../runtime/plan/steps.ts"
import type { Expression, LoadText } from "../../../runtime/plan/text.ts"
import type { PolicyDocument } from "../../azure/ast.ts"
import type {
  DocumentHost,
  ExpressionSource,
  IssuerSource,
  NamedValue,
  SigningKey,
  Used,
} from "../../azure/site.ts"
import type { AzureCompiler } from "../../azure/wing.ts"
import type { Report } from "../../core/diagnostic.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import { statementOf, statementsOf } from "../bind/bound.ts"
import { neededWing, type PolicyFiles } from "../policy-files.ts"
import type { Declaration, Program } from "../program.ts"
import type { Backends } from "./backends.ts"
import type { BodySchemas } from "./body-schemas.ts"
import { placeExpression } from "./expression-places.ts"
import type { Lowered, PlanSteps } from "./step.ts"
import { lowerUrl, urlProblemOf } from "./url.ts"
import type { Values } from "./values.ts"

/** Maximum length of an expression in a plan. */
const expressionMax = 16_384

/** The interface of XML documents to gateway.conf: steps are added to the plan, names are resolved to declarations. */
export class GatewayHost implements DocumentHost {
  readonly report: Report
  readonly #azure: AzureCompiler | undefined
  readonly #program: Program
  readonly #values: Values
  readonly #steps: PlanSteps
  readonly #bodySchemas: BodySchemas
  readonly #backends: Backends
  readonly #files: PolicyFiles
  readonly #named: ReadonlyMap<string, string>
  readonly #backendIds: ReadonlyMap<string, string>
  readonly #certificateIds: ReadonlyMap<string, string>
  readonly #identities: ReadonlyMap<string, string>
  readonly #authorizations: ReadonlyMap<string, string>
  readonly #hubs: ReadonlyMap<string, NonNullable<ReturnType<DocumentHost["hub"]>>>
  readonly #issuers = new Map<string, Issuer>()

  /** Reads the maps in `xml { … }`: they give names in documents a declaration of gateway.conf. */
  constructor(
    shared: {
      program: Program
      values: Values
      report: Report
      azure: AzureCompiler | undefined
      steps: PlanSteps
      bodySchemas: BodySchemas
    },
    backends: Backends,
    files: PolicyFiles,
  ) {
    this.report = shared.report
    this.#azure = shared.azure
    this.#program = shared.program
    this.#values = shared.values
    this.#steps = shared.steps
    this.#bodySchemas = shared.bodySchemas
    this.#backends = backends
    this.#files = files
    const block = statementOf(shared.program.root, "xml")?.block
    const names = (keyword: string, slot: string): Map<string, string> =>
      new Map(
        // An incomplete statement is already reported by the binder; here it maps nothing.
        statementsOf(block, keyword).flatMap(({ args }) => {
          const [id, word] = [args.value<string>("id"), args.word(slot)]
          return id === undefined || word === undefined ? [] : [[id, word.text] as const]
        }),
      )
    this.#named = names("value", "value")
    this.#backendIds = names("backend", "backend")
    this.#certificateIds = names("certificate", "certificate")
    this.#identities = new Map(
      statementsOf(block, "identity").flatMap(({ args }) => {
        const token = args.word("token")
        return token === undefined ? [] : [[args.value<string>("resource") ?? "*", token.text] as const]
      }),
    )
    this.#authorizations = new Map(
      statementsOf(block, "authorization").flatMap(({ args }) => {
        const token = args.word("token")
        const provider = args.value<string>("provider")
        const key = provider === undefined ? "*" : authorizationKey(provider, args.value<string>("id") ?? "")
        return token === undefined ? [] : [[key, token.text] as const]
      }),
    )
    this.#hubs = new Map(
      statementsOf(block, "hub").flatMap((bound) => {
        const id = bound.args.value<string>("id")
        const url = lowerUrl(bound.args.text("url"), this.#values, this.report)
        const name = bound.args.word("token")?.text
        const client = name === undefined ? undefined : this.#credential("token", name)
        if (id === undefined || url === undefined) return []
        const authentication =
          client === undefined ? {} : { authentication: { scheme: "token" as const, client } }
        return [[id, { url, ...authentication }] as const]
      }),
    )
  }

  /** The module that reads and lowers documents. @throws Error when it was not loaded. */
  get azure(): AzureCompiler {
    return neededWing(this.#azure)
  }

  /** Issuers that documents declare implicitly, by the location of their keys. Equal issuers share one entry. */
  issuers(): Record<string, Issuer> {
    return Object.fromEntries([...this.#issuers].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  step(step: Step, at: Span, inside: Used["inside"] = {}): Lowered {
    const parsed = stepSchema.safeParse(step)
    // The plan's schema has bounds (lengths, numbers of items) that no statement of gateway.conf checks for documents.
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      this.report.add("SP7009", at, `invalid value: ${issue?.path.join(".")}: ${issue?.message}`)
    }
    return this.#steps.add(step, at, inside)
  }

  kindOf(id: string): StepKind | undefined {
    return this.#steps.get(id)?.kind
  }

  /**
   * A named value of a document. A broken declaration counts as a value that is only known when the plan is loaded, so that it causes no
   * finding in every document that uses it.
   */
  named(name: string): NamedValue | undefined {
    // Named values of APIM may have characters that names of gateway.conf cannot: `declaredAs` is their replacement.
    const declared = this.#program.find("value", this.#named.get(name) ?? this.azure.declaredAs(name))
    // Damaged text may contain the declaration, so a finding about an unknown name could be wrong.
    if (declared === undefined) return this.#program.excused(["value"], name) ? { value: name } : undefined
    declared.used = true
    if (declared.kind === "secret") {
      this.#values.needSecret(declared.name)
      return { secret: declared.name }
    }
    const state = this.#values.state(declared)
    if (state === "broken") return { value: declared.name }
    if ("constant" in state) return state
    this.#values.need(declared.name)
    return { value: declared.name }
  }

  namedNames(): readonly string[] {
    return [...this.#named.keys(), ...this.#all("value"), ...this.#all("secret")]
  }

  /** The backend of an id, which need not be a valid name in gateway.conf. */
  backend(id: string, span: Span): string | undefined {
    const name = this.#backendIds.get(id) ?? id
    if (this.#useBackend(name)) return name
    if (this.#program.excused(["backend"], name)) return undefined
    const near = didYouMean(id, [...this.#backendIds.keys(), ...this.#all("backend")])
    this.report.add("SP7012", span, `unknown backend \`${shown(id)}\`${near}`, {
      help: /^[A-Za-z_][A-Za-z0-9_-]*$/.test(id)
        ? `Declare it in gateway.conf: \`backend ${id} { url "https://…" }\`.`
        : `Declare it in gateway.conf, and map the id to it: \`xml { backend "${shown(id)}" NAME }\`.`,
    })
    return undefined
  }

  // An id that is mapped to another name is not also offered as the name itself.
  backends(): readonly { id: string; name: string }[] {
    const own = this.#all("backend").map((name) => ({ id: name, name }))
    const renamed = [...this.#backendIds].map(([id, name]) => ({ id, name }))
    return [...renamed, ...own.filter(({ id }) => !this.#backendIds.has(id))].filter(({ name }) =>
      this.#useBackend(name),
    )
  }

  /** Whether a backend with this name is declared. If so, the document uses it. */
  #useBackend(name: string): boolean {
    const declared = this.#program.find("backend", name)
    if (declared !== undefined) declared.used = true
    return this.#backends.useDeclared(name)
  }

  /** A fragment by its id. If a part of gateway.conf is damaged, the file may be declared there. */
  fragment(id: string, span: Span): PolicyDocument | undefined {
    const found = this.#files.fragments.get(id)
    if (found !== undefined || this.#program.damaged) return found
    const near = didYouMean(id, this.#files.fragments.keys())
    this.report.add("SP7012", span, `unknown policy fragment \`${shown(id)}\`${near}`, {
      help: `Add its file in gateway.conf: \`xml { fragment "${shown(id)}" "FILE.xml" }\`.`,
    })
    return undefined
  }

  /** Issuers whose address could be the one that a document computes. Their addresses are compared when the request arrives. */
  declaredIssuers(span: Span): { address: LoadText; issuer: string }[] {
    const found = this.#program.all("issuer").flatMap((declared) => {
      // Only issuers with discovery: their address is what documents compare with.
      const argument = statementOf(declared.bound.block, "discovery")?.args.text("url")
      const address = argument === undefined ? undefined : this.#values.loadText(argument)
      if (address === undefined) return []
      declared.used = true
      return [{ address, issuer: declared.name }]
    })
    if (found.length === 0)
      this.#unknown(
        span,
        "the address is computed per request, and no declared issuer matches it",
        'Declare every possible issuer in gateway.conf: `issuer NAME { discovery "https://…/.well-known/openid-configuration"; audience … }`.',
      )
    return found
  }

  /** Issuers of documents have no name, so they are named after their content: equal ones share keys and caches. */
  issuer(source: IssuerSource, span: Span): string | undefined {
    const plan = "keys" in source ? this.#keys(source.keys, span) : this.#discovery(source.discovery, span)
    if (plan === undefined) return undefined
    const name = `xml-${digestOf(plan).slice("sha256:".length, "sha256:".length + 12)}`
    const secret = "inline" in plan && plan.inline.some((key) => "secret" in key)
    this.#issuers.set(name, {
      source: plan,
      // Each use specifies the audiences and the clock skew itself.
      audiences: null,
      clockSkewSeconds: 0,
      // The kinds exclude each other: a public key used as an HMAC secret is the classic confusion (RFC 8725, section 2.1).
      algorithms: secret ? [...secretAlgorithm.options] : [...signatureAlgorithm.options].sort(),
      claims: null,
    })
    return name
  }

  /** An issuer with a discovery document. */
  #discovery(discovery: LoadText, span: Span): Issuer["source"] | undefined {
    const problem = urlProblemOf(discovery, this.#values)
    // Published documents refer to Microsoft Entra ID by discovery URLs whose metadata names other issuers, so use the URL exactly as
    // written.
    if (problem === undefined) return { discovery, exact: true }
    this.report.add("SP7009", span, problem, {
      help: "Write e.g. `https://id.example/.well-known/openid-configuration`.",
    })
    return undefined
  }

  /** Keys written into the document. A shared key must be a reference to a secret, because the plan is not secret. */
  #keys(keys: readonly SigningKey[], span: Span): Issuer["source"] | undefined {
    const inline: InlineKey[] = []
    for (const key of keys) {
      const { id } = key
      if ("jwk" in key) inline.push({ id, rsa: { n: key.jwk["n"] ?? "", e: key.jwk["e"] ?? "" } })
      else if ("secret" in key && "secret" in key.secret)
        inline.push({ id, secret: key.secret.secret, encoding: "base64" })
      else {
        this.report.add("SP7011", span, "a shared key is written here in plain text", {
          help: "Declare it in gateway.conf, `secret signing_key = env(…)`, and write `<key>{{signing_key}}</key>`.",
        })
        return undefined
      }
    }
    return { inline, issuer: null }
  }

  certificate(id: string, span: Span): string | undefined {
    return this.#refuse(
      // Documents name certificates of a service's store, which has no counterpart here.
      span,
      `unknown certificate \`${shown(id)}\``,
      "Use `<openid-config>`, which gets the keys from the issuer.",
    )
  }

  /** A client certificate by its id. */
  clientCertificate(id: string, span: Span): Authentication | undefined {
    const certificate = this.#credential("certificate", this.#certificateIds.get(id) ?? id)
    if (certificate !== undefined) return { scheme: "certificate", certificate }
    if (this.#program.excused(["certificate"], id)) return undefined
    const near = didYouMean(id, [...this.#certificateIds.keys(), ...this.#all("certificate")])
    return this.#unknown(
      span,
      `unknown certificate \`${shown(id)}\`${near}`,
      `Declare it in gateway.conf, \`certificate NAME { cert file("…"); key file("…") }\`, and map the id to it: \`xml { certificate "${shown(id)}" NAME }\`.`,
    )
  }

  /** The token client for a managed identity. `null`: the resource is computed per request. */
  identity(resource: string | null, span: Span): Authentication | undefined {
    const name = this.#identities.get(resource ?? "*") ?? this.#identities.get("*")
    const client = name === undefined ? undefined : this.#credential("token", name)
    if (client !== undefined) return { scheme: "token", client }
    // A name without a client is reported where it is declared.
    if (name !== undefined || this.#program.excused(["token"], resource ?? "")) return undefined
    if (resource === null)
      return this.#unknown(
        span,
        "no token client is declared for a resource that is computed per request",
        'Write the resource as constant text, or declare a token client for every resource in gateway.conf: `token NAME { url "…"; client "ID" secret SECRET }` and `xml { identity * NAME }`.',
      )
    return this.#unknown(
      span,
      `no token client is declared for the resource \`${shown(resource)}\``,
      `Declare a token client in gateway.conf: \`token NAME { url "…"; client "ID" secret SECRET }\` and \`xml { identity "${shown(resource)}" NAME }\`.`,
    )
  }

  /** The token client for a credential that Azure API Management would keep itself. */
  authorization(
    names: { readonly provider: string; readonly id: string } | undefined,
    span: Span,
  ): Authentication | undefined {
    const key = names === undefined ? "*" : authorizationKey(names.provider, names.id)
    const name = this.#authorizations.get(key) ?? this.#authorizations.get("*")
    const client = name === undefined ? undefined : this.#credential("token", name)
    if (client !== undefined) return { scheme: "token", client }
    if (name !== undefined || this.#program.damaged) return undefined
    return names === undefined
      ? this.#unknown(
          span,
          "no token client is declared for providers that are computed per request",
          'Declare a token client in gateway.conf: `token NAME { url "…"; client "ID" secret SECRET }` and `xml { authorization * NAME }`.',
        )
      : this.#unknown(
          span,
          `no token client is declared for \`${shown(names.id)}\` of the provider \`${shown(names.provider)}\``,
          `Declare a token client in gateway.conf: \`token NAME { url "…"; client "ID" secret SECRET }\` and \`xml { authorization "${shown(names.provider)}" "${shown(names.id)}" NAME }\`.`,
        )
  }

  hub(id: string): ReturnType<DocumentHost["hub"]> {
    return this.#hubs.get(id)
  }

  #credential(kind: "certificate" | "token", name: string): string | undefined {
    const declared = this.#program.find(kind, name)
    if (declared !== undefined) declared.used = true
    return declared?.name
  }

  #unknown(span: Span, detail: string, help: string): undefined {
    this.report.add("SP7012", span, detail, { help })
  }

  /** A schema by its id. */
  schema(
    { id, ref, refAt }: Parameters<DocumentHost["schema"]>[0],
    message: "request" | "response",
    overrides: SchemaOverrides,
    span: Span,
  ): string | undefined {
    const found = this.#bodySchemas.named(id, { said: refAt ?? span, ref, message, overrides })
    if (found !== null) return found
    const near = didYouMean(id, this.#bodySchemas.ids)
    const help = `Add its file: \`xml { schema "${shown(id)}" "FILE" }\`.`
    return this.#unknown(span, `unknown schema \`${shown(id)}\`${near}`, help)
  }

  // Undefined: with a damaged text, an API that is not found may be in the damaged part.
  apis(): readonly string[] | undefined {
    return this.#program.damaged ? undefined : this.#all("api")
  }

  // Here any JSON passes such a rule; only the conversion reports it, because it cannot know the schema.
  unjudged(): void {}

  compile(written: ExpressionSource): Expression | undefined {
    const { code } = written
    const compiled = this.azure.compileCode(written, this)
    // What could not be compiled is already reported in the document.
    if (compiled === undefined) return undefined
    const expression = this.#expression(code, compiled)
    if (expression !== undefined) placeExpression(expression, code.span(0, 0))
    return expression
  }

  /** An expression of a document. One that is constant becomes CEL, so that the runtime need not load the C# library for it. */
  #expression(
    code: ExpressionSource["code"],
    { constant, type, program }: NonNullable<ReturnType<AzureCompiler["compileCode"]>>,
  ): Expression | undefined {
    // Constants of the types long, double and decimal are also stored as text.
    if (typeof constant === "string" && type === "string")
      return { lang: "cel", text: JSON.stringify(constant), type: "string" }
    if (typeof constant === "boolean") return { lang: "cel", text: String(constant), type: "bool" }
    if (code.text.length > expressionMax)
      return this.#refuse(
        code.span(0, code.text.length),
        `the expression has more than ${expressionMax} characters`,
        "Put a part of it into a variable with a `set-variable` before it.",
      )
    return { lang: "cs", text: code.text, type, program: code.isVerbatim ? program : withoutPlaces(program) }
  }

  #refuse(span: Span, detail: string, help: string): undefined {
    this.report.add("SP7011", span, detail, { help })
  }

  /** The names for suggestions. */
  #all(kind: Declaration["kind"]): string[] {
    return this.#program.all(kind).map(({ name }) => name)
  }
}

/** Removes offsets from a program whose text is not in the file as it is (entities, named values): they would point to wrong places. */
function withoutPlaces(program: CsharpProgram): CsharpProgram {
  return JSON.parse(JSON.stringify(program, (key, value: unknown) => (key === "at" ? undefined : value)))
}

/** JSON keeps the two parts apart, whatever characters they have. */
function authorizationKey(provider: string, id: string): string {
  return JSON.stringify([provider, id])
}
