import type { Explanation, TupleKey } from "../../runtime/check/ports.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import type { Severity } from "../core/diagnostic.ts"
import type { PassageDocument } from "../gateway-test/passage-document.ts"

/** The texts of a project by path. Paths are relative, with `/`. */
export type ProjectTexts = Readonly<Record<string, string>>

/** A finding and its place: offsets in the text, and the line for people. */
export interface ShownFinding {
  readonly path: string
  readonly start: number
  readonly end: number
  readonly line: number
  readonly code: string
  readonly severity: Severity
  readonly title: string
  readonly detail: string
  readonly help: string | undefined
}

/** One question of a test. `reason`: why the answer differs from the expected one. */
export interface ShownQuestion {
  readonly text: string
  readonly passed: boolean
  readonly expected: string
  readonly got: string
  readonly line: number
}

/** A test that ran. */
export interface ShownTest {
  readonly name: string
  readonly passed: boolean
  readonly questions: readonly ShownQuestion[]
}

/** One store of a store file, ready for questions. `id` is unique in the project. */
export interface ShownStore {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly model: AuthorizationModel
  readonly tuples: readonly TupleKey[]
  readonly tests: readonly ShownTest[]
}

/** What is known about a project. */
export interface Analysis {
  readonly findings: readonly ShownFinding[]
  readonly stores: readonly ShownStore[]
  /** Whether requests can be sent: there is a gateway.conf without errors. */
  readonly hasGateway: boolean
}

/** A request to the gateway of the project, as in its form. */
export interface GatewayRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** A caller of the tests, a declared subscription, or the `sub` of a token; empty: no credential. */
  readonly as: string
  /** More claims of a token, as a JSON object; may be empty. */
  readonly claims: string
  /** Lines `name: value`. */
  readonly headers: string
  readonly body: string
  /** The file of tests whose callers, tuples, backends and time are given; empty: none. */
  readonly file: string
}

/** What became of a request, or why it was not sent. */
export type RequestAnswer =
  | { readonly kind: "passage"; readonly passage: PassageDocument }
  | { readonly kind: "error"; readonly message: string }

/** A file of gateway tests. */
export interface ShownFile {
  readonly path: string
  readonly name: string
  readonly callers: readonly string[]
}

/** A gateway test that ran. */
export interface ShownGatewayTest {
  readonly path: string
  readonly name: string
  readonly line: number
  readonly passed: boolean
  /** Why it did not run; undefined: it ran. */
  readonly skipped: string | undefined
  /** Why it could not run to its end. */
  readonly error?: string | undefined
  readonly failures: readonly {
    readonly request: string
    readonly what: string
    readonly expected: string
    readonly got: string
    readonly why: readonly string[]
    readonly line: number
  }[]
}

/** What requests can be about. */
export interface GatewayView {
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  readonly subscriptions: readonly string[]
  readonly files: readonly ShownFile[]
  /** Requests of the tests, to try them one by one. */
  readonly samples: readonly { readonly label: string; readonly request: GatewayRequest }[]
}

/** The results of the gateway tests. */
export interface GatewayTestResults {
  readonly tests: readonly ShownGatewayTest[]
  /** Mistakes in the files of tests. */
  readonly findings: readonly { readonly path: string; readonly line: number; readonly detail: string }[]
}

/** A question about a store. `context` is JSON, or empty. */
export type StoreQuestion = { readonly store: string; readonly context: string } & (
  | { readonly kind: "check"; readonly user: string; readonly relation: string; readonly object: string }
  | { readonly kind: "objects"; readonly user: string; readonly relation: string; readonly type: string }
  | { readonly kind: "users"; readonly type: string; readonly relation: string; readonly object: string }
)

/** The answer to a question: a proof, a list, or why the question cannot be answered. */
export type StoreAnswer =
  | { readonly kind: "explained"; readonly explanation: Explanation }
  | { readonly kind: "list"; readonly names: readonly string[] }
  | { readonly kind: "error"; readonly message: string }

/** A proposal for the text between two offsets. */
export interface ShownCompletion {
  readonly label: string
  /** A word for the icon: `keyword`, `type`, … */
  readonly kind: string
  readonly detail?: string | undefined
  readonly docs?: string | undefined
  readonly insert: string
  readonly start: number
  readonly end: number
}

/** What is known of the text between two offsets, as Markdown. */
export interface ShownHover {
  readonly start: number
  readonly end: number
  readonly markdown: string
}

/** A place in a file. `text` is that of the editor, which may be newer than the project that was opened last. */
interface TextPlace {
  readonly path: string
  readonly text: string
  readonly offset: number
}

/** What the page asks its worker. */
export type WorkerRequest =
  | { readonly kind: "open"; readonly texts: ProjectTexts }
  | { readonly kind: "ask"; readonly question: StoreQuestion }
  | { readonly kind: "send"; readonly request: GatewayRequest }
  | { readonly kind: "gateway" }
  | { readonly kind: "gateway-tests" }
  | { readonly kind: "add"; readonly text: string; readonly tuple: TupleKey }
  | ({ readonly kind: "complete" } & TextPlace)
  | ({ readonly kind: "hover" } & TextPlace)

/** What the worker replies. */
export type WorkerReply =
  | { readonly kind: "opened"; readonly analysis: Analysis }
  | { readonly kind: "answered"; readonly answer: StoreAnswer }
  | { readonly kind: "sent"; readonly answer: RequestAnswer }
  /** Undefined: the project has no gateway without errors. */
  | { readonly kind: "gateway"; readonly view: GatewayView | undefined }
  | { readonly kind: "gateway-tests"; readonly results: GatewayTestResults | undefined }
  /** Undefined: the text of the store file has errors. */
  | { readonly kind: "added"; readonly text: string | undefined }
  | { readonly kind: "completed"; readonly items: readonly ShownCompletion[] }
  | { readonly kind: "hovered"; readonly hover: ShownHover | undefined }
