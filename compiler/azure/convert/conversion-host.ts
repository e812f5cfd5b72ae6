import type { Authentication } from "../../../runtime/plan/step-values.ts"
import type { Step, StepKind } from "../../../runtime/plan/steps.ts"
import type { Expression } from "../../../runtime/plan/text.ts"
import { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { PolicyDocument } from "../ast.ts"
import type { DocumentHost, ExpressionSource, IssuerSource, NamedValue, SigningKey, Used } from "../site.ts"
import { azure } from "../wing.ts"
import { plainName, unique, valueName } from "./names.ts"

/** Names that documents use, as declared in gateway.conf. */
export interface Declared {
  /** Key: the name in the document. */
  readonly values: Map<string, string>
  readonly backends: Map<string, string>
  readonly certificates: Map<string, string>
  /** Token clients that replace a managed identity or a provider. Key: what the tokens are for. */
  readonly clients: Map<string, string>
  /** Key: the name in gateway.conf. */
  readonly issuers: Map<string, IssuerSource>
}

/** Host of a document during conversion: it accepts every name and records the used ones, so that they can be declared. */
export class ConversionHost implements DocumentHost {
  report = new Report()
  readonly declared: Declared = {
    values: new Map(),
    backends: new Map(),
    certificates: new Map(),
    clients: new Map(),
    issuers: new Map(),
  }
  readonly #steps = new Map<string, Step>()
  readonly #fragments: ReadonlyMap<string, PolicyDocument>
  readonly #secrets: ReadonlySet<string>
  readonly #values: ReadonlyMap<string, string>

  /** `secrets`: names in gateway.conf; `values`: known texts of named values, by their names in documents. */
  constructor(known: {
    readonly fragments: ReadonlyMap<string, PolicyDocument>
    readonly secrets: ReadonlySet<string>
    readonly values: ReadonlyMap<string, string>
  }) {
    this.#fragments = known.fragments
    this.#secrets = known.secrets
    this.#values = known.values
  }

  step(step: Step, at: Span, inside: Used["inside"] = {}): Used {
    const id = `s${this.#steps.size}`
    this.#steps.set(id, step)
    return { id, origin: `${at.file.path}:${at.file.position(at.start).line}`, inside }
  }

  stepOf(id: string): Step | undefined {
    return this.#steps.get(id)
  }

  kindOf(id: string): StepKind | undefined {
    return this.#steps.get(id)?.kind
  }

  /** A placeholder of a template is not a named value. */
  named(name: string): NamedValue | undefined {
    const constant = this.#values.get(name)
    if (constant !== undefined) return { constant }
    if (/^(?:context|body|request|response|var)(?:\.|$)/.test(name)) return undefined
    const declared = unique(this.declared.values, name, valueName(name))
    return this.#secrets.has(declared) ? { secret: declared } : { value: declared }
  }

  /** Unknown, because only files of this document are read. */
  apis(): undefined {
    return undefined
  }

  namedNames(): readonly string[] {
    return []
  }

  backend(id: string): string {
    return unique(this.declared.backends, id, plainName(id, "backend"))
  }

  backends(): readonly { readonly id: string; readonly name: string }[] {
    return []
  }

  fragment(id: string): PolicyDocument | undefined {
    return this.#fragments.get(id)
  }

  certificate(_id: string, span: Span): string | undefined {
    return this.#none(span, "the keys of tokens in a certificate")
  }

  clientCertificate(id: string): Authentication {
    return {
      scheme: "certificate",
      certificate: unique(this.declared.certificates, id, plainName(id, "certificate")),
    }
  }

  identity(resource: string | null): Authentication {
    const host = /^[a-z]+:\/\/([^/:]+)/i.exec(resource ?? "")?.[1] ?? resource ?? "identity"
    return this.#client(resource ?? "a resource that is computed per request", host)
  }

  authorization(names: { readonly provider: string; readonly id: string } | undefined): Authentication {
    const what = names === undefined ? "any provider" : `${names.provider} ${names.id}`
    return this.#client(what, names?.provider ?? "provider")
  }

  #client(what: string, wanted: string): Authentication {
    return { scheme: "token", client: unique(this.declared.clients, what, plainName(wanted, "client")) }
  }

  hub(): undefined {
    return undefined
  }

  /** Issuers are named after the host of their discovery document. Keys written in the document have no statement in gateway.conf. */
  issuer(source: IssuerSource, span: Span): string | undefined {
    if ("keys" in source && !source.keys.every(isWritable))
      return this.#none(span, "keys written in the document")
    const key = JSON.stringify(source)
    for (const [name, known] of this.declared.issuers) if (JSON.stringify(known) === key) return name
    const host = "discovery" in source ? hostOf(JSON.stringify(source.discovery)) : "shared_key"
    let name = host
    for (let number = 2; this.declared.issuers.has(name); number++) name = `${host}_${number}`
    this.declared.issuers.set(name, source)
    return name
  }

  declaredIssuers(span: Span): [] {
    this.#none(span, "a key URL that is computed per request")
    return []
  }

  schema(_named: object, _message: string, _overrides: object, span: Span): string | undefined {
    return this.#none(span, "a schema from the schema store of Azure API Management")
  }

  /** Refused: in an API with an OpenAPI document its schemas would apply, and they are unknown here. */
  unjudged(span: Span): void {
    this.#none(span, "the schema with these properties")
  }

  /** Expressions are never folded to constants, so that they are translated like all others. */
  compile(written: ExpressionSource): Expression | undefined {
    const compiled = azure.compileCode(written, this)
    if (compiled === undefined) return undefined
    return { lang: "cs", text: written.code.text, type: compiled.type, program: compiled.program }
  }

  #none(span: Span, what: string): undefined {
    this.report.add("SP7011", span, `${what} is not available to the conversion`)
  }
}

/** A shared secret inside the document cannot be converted, because the text would contain it too. */
function isWritable(key: SigningKey): boolean {
  return "jwk" in key || ("secret" in key && !("constant" in key.secret))
}

function hostOf(text: string): string {
  return plainName(/https?:\/\/([A-Za-z0-9.-]+)/.exec(text)?.[1] ?? "tokens", "tokens")
}
