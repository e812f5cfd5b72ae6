import type { TupleKey } from "../../runtime/check/ports.ts"
import type { InProcessGateway } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { LogoutOrder } from "../../runtime/gateway/in-process/played-logouts.ts"
import type { SignatureOrder } from "../../runtime/gateway/in-process/played-signatures.ts"
import type {
  BackendAnswer,
  FieldLine,
  PlayedLogin,
  PresentedCertificate,
} from "../../runtime/gateway/in-process/world.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { CompiledModel } from "../model/compile-model.ts"

/** Who sends a request, and how it shows. */
export interface TestCaller {
  readonly token?:
    | {
        /** Undefined: the first that the route of the request accepts. */
        readonly issuer: string | undefined
        readonly claims: Readonly<Record<string, unknown>>
        /** Claims that are times, in milliseconds from the moment of the request. */
        readonly relative: Readonly<Record<string, number>>
        readonly isForged: boolean
      }
    | undefined
  readonly subscription?: string | undefined
  readonly key?: string | undefined
  readonly password?: { readonly user: string; readonly password: string } | undefined
  readonly signature?: SignatureOrder | undefined
  readonly certificate?: PresentedCertificate | undefined
  /** A browser, and who logs in with it; its cookies are kept within a test. */
  readonly login?: PlayedLogin | undefined
  /** A provider that ends sessions. */
  readonly logout?: LogoutOrder | undefined
  readonly ip?: string | undefined
  readonly headers: readonly FieldLine[]
}

/** One way in which a backend responds. */
export interface PlayedAnswer {
  /** Only to these requests; undefined: to all. */
  readonly on: { readonly method: string; readonly path: string } | undefined
  readonly answer: BackendAnswer
}

/** A subscription that was issued while the gateway runs. */
export interface IssuedSubscription {
  readonly name: string
  readonly key: string
  readonly product: string | undefined
  readonly api: string | undefined
}

/** What a test finds at its beginning. */
export interface TestGiven {
  readonly timeMs: number
  readonly environment: Readonly<Record<string, string>>
  readonly tuples: Readonly<Record<string, readonly TupleKey[]>>
  readonly callers: ReadonlyMap<string, TestCaller>
  readonly subscriptions: readonly IssuedSubscription[]
  /** By name of a backend, or by origin of another server. */
  readonly answers: ReadonlyMap<string, readonly PlayedAnswer[]>
  readonly issuersDown: ReadonlySet<string>
}

/** A request of a test. */
export interface RequestOrder {
  readonly method: string
  readonly target: string
  readonly headers: readonly FieldLine[]
  readonly body: Buffer | undefined
  readonly ip: string | undefined
  readonly caller: TestCaller | undefined
  /** Whether a browser goes where it is redirected (default: true). */
  readonly follows?: boolean | undefined
  /** As written, for results. */
  readonly text: string
}

/** What a step does with a WebSocket that an earlier request opened. */
export interface WebSocketAct {
  readonly name: string
  /** Texts that the client sends, then those of the backend. */
  readonly send: readonly string[]
  readonly respond: readonly string[]
  /** Who closes it at the end. */
  readonly close: "client" | "backend" | undefined
  /** As written, for results. */
  readonly text: string
}

/** What differs from an expectation. */
export interface Mismatch {
  readonly expected: string
  readonly got: string
}

/** The state of a WebSocket after a step, and what has passed since the step before. */
export interface ObservedWebSocket {
  readonly isOpen: boolean
  /** Why the gateway closed it. */
  readonly cause: string | undefined
  /** What the backend got, and the client. */
  readonly sent: string
  readonly received: string
}

/** A passage with the proofs of its decisions, as text; empty when no expectation of the step reads them. */
export interface Observed extends Omit<Passage, "decisions" | "webSocket"> {
  readonly webSocket: ObservedWebSocket | undefined
  readonly decisions: readonly (Passage["decisions"][number] & { readonly proof: string })[]
}

/** One thing that must be true of a request's passage. */
export interface Expectation {
  /** `status`, `header x-user`, `backend orders_v1`. */
  readonly what: string
  readonly span: Span
  /** Undefined: it is as expected. */
  differs(passage: Observed): Mismatch | undefined
  /** Whether it reads the proofs of decisions. */
  readonly needsProof?: boolean
}

/** A step of a test: time passes, then a request is sent. */
export interface GatewayTestStep {
  readonly span: Span
  readonly afterMs: number
  readonly request: RequestOrder | undefined
  /** The WebSocket that the request asks for, or that is used without a request. */
  readonly webSocket: WebSocketAct | undefined
  /** How often the request is sent. The expectations hold for each. */
  readonly times: number
  readonly expectations: readonly Expectation[]
  /** Requests that are sent at one moment, in this order, instead of `request`. */
  readonly together: readonly GatewayTestStep[]
}

/** A test of a gateway, or one row of its table. */
export interface GatewayTest {
  /** With the values of its row. */
  readonly name: string
  readonly span: Span
  readonly given: TestGiven
  readonly steps: readonly GatewayTestStep[]
  /** `only: true`: without `--filter`, only such tests run. */
  readonly isOnly: boolean
  /** Why it does not run. */
  readonly skip: string | undefined
}

/** One document of a test file. */
export interface GatewaySuite {
  readonly file: SourceFile
  readonly name: string
  /** Path of the gateway.conf. */
  readonly config: string
  readonly plan: Plan
  /** The folder of gateway.conf, absolute: files that the plan names are read there. */
  readonly folder: string
  /** The models of its stores, with the places of their relations. */
  readonly models: ReadonlyMap<string, CompiledModel | undefined>
  /** What all its tests begin with. */
  readonly given: TestGiven
  readonly tests: readonly GatewayTest[]
}

/** Opens the gateway of a plan: `openInProcess` of the runtime, which only the command line loads. */
export type OpenGateway = (
  plan: Plan,
  environment: Readonly<Record<string, string>>,
  folder: string,
) => Promise<InProcessGateway>
