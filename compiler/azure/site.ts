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

/** A step where it is used: its key in the plan, where it was written, the steps inside of it. */
export interface Used {
  readonly id: string
  /** `orders.policy.xml:12`. */
  readonly origin: string
  readonly inside: Readonly<Record<Inside, readonly Used[]>>
  /** The element it was made of; absent: a statement of gateway.conf. */
  readonly element?: PolicyElement
}

/** The steps of the four sections of documents. */
export type DocumentSteps = Readonly<Record<DocumentSection, readonly Used[]>>

/** How lists of steps inside of a step are called, e.g. `matched`; branches of `parallel` are `branches.0`, `branches.1`, … */
type Inside = string

/** A named value: its text, or the value or secret of the plan that has it. */
export type NamedValue =
  | { readonly constant: string }
  | { readonly value: string }
  | { readonly secret: string }

/** A key of `issuer-signing-keys`: a JWK, a certificate declared in gateway.conf, or a shared secret (Base64). */
export type SigningKey =
  | { readonly id: string | null; readonly jwk: Readonly<Record<string, string>> }
  | { readonly id: string | null; readonly certificate: string }
  | { readonly id: string | null; readonly secret: NamedValue }

/** Where the keys of tokens come from: OIDC discovery, or the document itself. */
export type IssuerSource = { readonly discovery: LoadText } | { readonly keys: readonly SigningKey[] }

/** An expression that is to be compiled: `code` is what stands between the brackets. */
export interface ExpressionSource {
  readonly code: SourceText
  /** `@(…)` or `@{…}`. */
  readonly form: "expression" | "statements"
  readonly section: DocumentSection
}

/** What documents find outside of themselves. Each answers undefined after it has reported what is wrong at `span`. */
export interface DocumentHost {
  readonly report: Report
  /** Puts a step into the plan. */
  step(step: Step, at: Span, inside?: Used["inside"]): Used
  /** The kind of a step that `step` put there. */
  kindOf(id: string): StepKind | undefined
  /** A value or secret of gateway.conf; undefined (not reported) where there is none of this name. */
  named(name: string): NamedValue | undefined
  /** Names that `named` knows, for hints. */
  namedNames(): readonly string[]
  backend(id: string, span: Span): string | undefined
  /** Counts a backend as used that a document names for something that is not asked here. It need not be declared. */
  mention(backendId: string): void
  /** All backends by the ids documents call them. */
  backends(): readonly { readonly id: string; readonly name: string }[]
  fragment(id: string, span: Span): PolicyDocument | undefined
  /** A certificate of gateway.conf whose key verifies tokens. */
  certificate(id: string, span: Span): string | undefined
  /** A certificate of gateway.conf that requests are sent with. */
  clientCertificate(id: string, span: Span): Authentication | undefined
  /** What stands for a managed identity's tokens for a resource; null: one that is found out later. */
  identity(resource: string | null, span: Span): Authentication | undefined
  /** What stands for a credential of a provider; without names, which are found per request, for any. */
  authorization(
    names: { readonly provider: string; readonly id: string } | undefined,
    span: Span,
  ): Authentication | undefined
  /** Where what is logged to a hub of this id goes; undefined (not reported) where gateway.conf names none. */
  hub(id: string): { readonly url: LoadText; readonly authentication?: Authentication } | undefined
  /** Issuers of gateway.conf by the addresses of their discovery; none is reported. */
  declaredIssuers(span: Span): readonly { readonly address: LoadText; readonly issuer: string }[]
  issuer(source: IssuerSource, span: Span): string | undefined
  /** A schema of the plan: that of a file that gateway.conf names, or the one `ref` leads to in it. */
  schema(
    named: { readonly id: string; readonly ref: string | undefined; readonly refAt: Span | undefined },
    message: "request" | "response",
    overrides: SchemaOverrides,
    span: Span,
  ): string | undefined
  /** The names APIs have in gateway.conf; undefined where that is not known. */
  apis(): readonly string[] | undefined
  /** Something is demanded of the properties of a body, and no schema is known that says which there are. */
  unjudged(span: Span): void
  compile(code: ExpressionSource): Expression | undefined
}

/** What an OpenAPI document says of an operation. */
export interface OperationDescription {
  /** How the bodies of a message are judged; of answers by their status. */
  contents(message: "request" | "response", overrides?: SchemaOverrides): ContentRule[]
  /** Its parameters but cookies, which Azure API Management does not check, each to be prevented where it does not fit. Names are those of the route. */
  parameters(): StepOf<"validate-parameters">["parameters"]
  /** Names of path parameters in the document, to those of the route. */
  readonly names: ReadonlyMap<string, string>
  /** Parameters in cookies. */
  readonly cookies: readonly string[]
  /** Statuses it describes: `200`, `4xx`, `default`. */
  readonly statuses: readonly string[]
  /** Headers of its answers by status, each to be prevented where it does not fit. */
  headers(): NonNullable<StepOf<"validate-headers">["described"]>
  /** An answer made of its examples, else of its schemas; undefined where it describes none of this status and media type (undefined: any). `index` of the example, from 0 on. */
  answer(status: number, media: string | undefined, index: number): AnswerStep | undefined
  /** How many examples of such an answer there are. */
  examples(status: number, media: string | undefined): number
  /** Required parameters of the query: they are part of the operation's template. */
  readonly query: readonly string[]
}

/** Where the sections of a document run. */
export interface DocumentPlace {
  readonly file: SourceFile
  /** Names the scope in counters: `api orders`. */
  readonly scope: string
  readonly level: PolicyElement["scope"]
  readonly api: string
  /** Method and path: `GET /v1/orders/{id}`. */
  readonly operation: string
  /** Parameters of the route's path. */
  readonly pathParameters: readonly string[]
  readonly described?: OperationDescription | undefined
  /** The backend that gateway.conf names for the route. */
  readonly backend: string | null
  /** Callers come with a subscription. */
  readonly keyed: boolean
}
