import type { ContentRule } from "../../runtime/plan/content-rules.ts"
import type { PolicyElement } from "../../runtime/plan/resources.ts"
import type { Authentication } from "../../runtime/plan/step-values.ts"
import type { AnswerStep, Step, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Expression, LoadText } from "../../runtime/plan/text.ts"
import type { Report } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { SchemaOverrides } from "../openapi/schema-overrides.ts"
import type { PolicyDocument } from "./ast.ts"
import type { SourceText } from "./source-text.ts"

/** A section of a document. */
export type DocumentSection = "inbound" | "backend" | "outbound" | "on-error"
/** The sections in the order they run. */
export const sections: readonly DocumentSection[] = ["inbound", "backend", "outbound", "on-error"]

/** A step where it is used: its key in the plan, the place of its source, and the steps inside it. */
export interface Used {
  readonly id: string
  /** `orders.policy.xml:12`. */
  readonly origin: string
  readonly inside: Readonly<Record<Inside, readonly Used[]>>
  /** The source element. Absent for a statement of gateway.conf. */
  readonly element?: PolicyElement
}

/** The steps of the four sections of documents. */
export type DocumentSteps = Readonly<Record<DocumentSection, readonly Used[]>>

/** Name of a list of steps inside a step, e.g. `matched`. Branches of `parallel` are `branches.0`, `branches.1`, … */
type Inside = string

/** A named value: its text, or the name of the value or secret in the plan. */
export type NamedValue =
  | { readonly constant: string }
  | { readonly value: string }
  | { readonly secret: string }

/** A key of `issuer-signing-keys`: a JWK, a certificate declared in gateway.conf, or a shared secret (Base64). */
export type SigningKey =
  | { readonly id: string | null; readonly jwk: Readonly<Record<string, string>> }
  | { readonly id: string | null; readonly certificate: string }
  | { readonly id: string | null; readonly secret: NamedValue }

/** Source of the keys that verify tokens: OIDC discovery, or the document itself. */
export type IssuerSource = { readonly discovery: LoadText } | { readonly keys: readonly SigningKey[] }

/** An expression to compile. `code` is the text between the brackets. */
export interface ExpressionSource {
  readonly code: SourceText
  /** `@(…)` or `@{…}`. */
  readonly form: "expression" | "statements"
  readonly section: DocumentSection
}

/** Everything documents need from outside. Each method reports a problem at `span` and returns undefined. */
export interface DocumentHost {
  readonly report: Report
  /** Adds a step to the plan. */
  step(step: Step, at: Span, inside?: Used["inside"]): Used
  /** The kind of a step that was added with `step`. */
  kindOf(id: string): StepKind | undefined
  /** A value or secret of gateway.conf. Undefined (not reported) when no such name is declared. */
  named(name: string): NamedValue | undefined
  /** Names that `named` knows, for suggestions. */
  namedNames(): readonly string[]
  backend(id: string, span: Span): string | undefined
  /** All backends, with the ids that documents use. */
  backends(): readonly { readonly id: string; readonly name: string }[]
  fragment(id: string, span: Span): PolicyDocument | undefined
  /** A certificate of gateway.conf whose key verifies tokens. */
  certificate(id: string, span: Span): string | undefined
  /** A client certificate of gateway.conf for outgoing requests. */
  clientCertificate(id: string, span: Span): Authentication | undefined
  /** The token client that replaces a managed identity for a resource. Null: the resource is only known per request. */
  identity(resource: string | null, span: Span): Authentication | undefined
  /** The token client that replaces a credential of a provider. Without names, which are then only known per request, the client for any credential. */
  authorization(
    names: { readonly provider: string; readonly id: string } | undefined,
    span: Span,
  ): Authentication | undefined
  /** Destination of log entries for the hub with this id. Undefined (not reported) when gateway.conf does not declare the hub. */
  hub(id: string): { readonly url: LoadText; readonly authentication?: Authentication } | undefined
  /** Issuers of gateway.conf with the addresses of their discovery. An empty list is reported. */
  declaredIssuers(span: Span): readonly { readonly address: LoadText; readonly issuer: string }[]
  issuer(source: IssuerSource, span: Span): string | undefined
  /** A schema of the plan: that of a file that gateway.conf names, or the schema that `ref` points to in it. */
  schema(
    named: { readonly id: string; readonly ref: string | undefined; readonly refAt: Span | undefined },
    message: "request" | "response",
    overrides: SchemaOverrides,
    span: Span,
  ): string | undefined
  /** The names of APIs in gateway.conf. Undefined when they are unknown. */
  apis(): readonly string[] | undefined
  /** Reports that the properties of a body are restricted, but no schema is known that declares them. */
  unjudged(span: Span): void
  compile(code: ExpressionSource): Expression | undefined
}

/** The description of an operation in an OpenAPI document. */
export interface OperationDescription {
  /** The rules for the bodies of a message; for responses by status. */
  contents(message: "request" | "response", overrides?: SchemaOverrides): ContentRule[]
  /** Its parameters with the action `prevent`, except cookies, which Azure API Management does not check. Names are those of the route. */
  parameters(): StepOf<"validate-parameters">["parameters"]
  /** Names of path parameters: from the document to the route. */
  readonly names: ReadonlyMap<string, string>
  /** Names of cookie parameters. */
  readonly cookies: readonly string[]
  /** The described statuses: `200`, `4xx`, `default`. */
  readonly statuses: readonly string[]
  /** Response headers by status, with the action `prevent`. */
  headers(): NonNullable<StepOf<"validate-headers">["described"]>
  /**
   * A response made from the examples, otherwise from the schemas. Undefined when the document does not describe this status and media type
   * (undefined: any). `index` selects the example, from 0.
   */
  answer(status: number, media: string | undefined, index: number): AnswerStep | undefined
  /** Number of examples for such a response. */
  examples(status: number, media: string | undefined): number
  /** Required query parameters: they belong to the template of the operation. */
  readonly query: readonly string[]
}

/** The scope and route in which the sections of a document run. */
export interface DocumentPlace {
  readonly file: SourceFile
  /** The name of the scope in counters: `api orders`. */
  readonly scope: string
  readonly level: PolicyElement["scope"]
  readonly api: string
  /** Method and path: `GET /v1/orders/{id}`. */
  readonly operation: string
  /** Parameters of the route's path. */
  readonly pathParameters: readonly string[]
  readonly described?: OperationDescription | undefined
  /** The backend of the route in gateway.conf. */
  readonly backend: string | null
  /** Whether callers present a subscription key. */
  readonly keyed: boolean
}
