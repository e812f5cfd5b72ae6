import type { Explanation } from "../../check/ports.ts"
import type { Step } from "../../plan/steps.ts"
import type { ProblemName } from "../../policies/messages/answer.ts"
import type { TargetState } from "../backends/target.ts"

/** A request to explain. It may be hypothetical; nothing is sent. */
export interface RequestQuestion {
  readonly method: string
  /** Path and query, as on the request line. */
  readonly target: string
  readonly host: string
  /** The client's address. */
  readonly ip: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer | undefined
  /** A subscription key or token, put where the route reads its credential. */
  readonly key?: string | undefined
  readonly token?: string | undefined
  /** Authentication succeeds with these claims, or as the subscription that `sub` names. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** Why a similar route does not match: how it differs from the request, or what takes precedence. */
export type Loss = "method" | "host" | "less-specific" | "look-alike" | "protection"

/** A route that could be meant but does not match. */
export interface LostRoute {
  readonly route: string
  /** `file:line`; empty when it is not known. */
  readonly place: string
  readonly loss: Loss
  readonly why: string
}

/**
 * The outcome of a step. `passed`: it ran and the next step follows. `answered`: it ended the request. `unknown`: the outcome depends on a real
 * request, and the explanation assumes that it continues; the notes have the reason. `not-reached`: another step ended the request, or a branch was
 * not taken. `shown`: it works on a response that does not exist yet.
 */
export type StepState = "passed" | "answered" | "unknown" | "not-reached" | "shown"

/** What is left of a limit for this caller; nothing was counted. Absent values are known only to a running process. */
export interface LimitState {
  readonly key: string
  readonly callsMax: number
  readonly periodSeconds: number
  readonly remaining?: number
  readonly resetSeconds?: number
}

/** Usage of a quota by this caller; nothing was counted. */
export interface QuotaState {
  readonly key: string
  readonly periodSeconds: number
  readonly callsMax?: number | undefined
  readonly bytesMax?: number | undefined
  readonly calls?: number
  readonly bytes?: number
  /** Null: the quota never resets. */
  readonly resetSeconds?: number | null
}

/** A question to the engine about a store, and the answer. Without `allowed` it was not asked; a decision point is never asked. */
export interface Proof {
  readonly store?: string
  readonly pdp?: string
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly allowed?: boolean
  readonly revision?: number
  readonly explanation?: Explanation
  /** The explanation as a readable tree. */
  readonly text?: string
}

/** A use of a step in a route. */
export interface ExplainedStep {
  /** Place in the route: `inbound.3`, `inbound.3.matched.0`. */
  readonly at: string
  /** `file:line`; empty when it is not known. */
  readonly place: string
  readonly state: StepState
  /** The step; its inner lists are empty here and are in `inside`. */
  readonly step: Step
  readonly notes: readonly string[]
  readonly limit?: LimitState
  readonly quota?: QuotaState
  readonly proof?: Proof
  readonly inside: readonly { readonly place: string; readonly steps: readonly ExplainedStep[] }[]
}

/** The place in the configuration that responded. */
export interface Answerer {
  readonly kind: string
  /** `file:line`, several joined with ` or ` when the same step occurs at several places of the route; empty when it is not known. */
  readonly place: string
}

/** What closes a WebSocket, apart from client and backend. */
export interface WebSocketEnds {
  /** Idle timeout; null: none. */
  readonly idleMs: number | null
  readonly expireWithToken: boolean
  /** Whether it is closed when the route is removed or gets another target. */
  readonly closeWhenRemoved: boolean
}

/** The result. `answered`: the gateway itself responds. `forwarded`: a backend would get the request, and its response is not known. */
export type Verdict =
  | {
      readonly kind: "answered"
      readonly status: number
      readonly problem?: ProblemName
      /** For operators; clients do not see it. */
      readonly cause?: string | undefined
      readonly by?: Answerer
      readonly assuming: readonly string[]
    }
  | {
      readonly kind: "forwarded"
      readonly backend: string
      readonly method: string
      readonly targets: readonly TargetState[]
      readonly path: string
      /** The request asks for a WebSocket: a tunnel opens when the backend responds with 101. */
      readonly websocket?: WebSocketEnds
      readonly assuming: readonly string[]
    }

/** What the gateway does at a path of an OIDC client. */
export interface LoginExplanation {
  /** Name of the client. */
  readonly client: string
  readonly does: "login" | "callback" | "logout" | "back-channel-logout"
  /** `file:line`; empty when it is not known. */
  readonly place: string
  /** What happens, in this order. */
  readonly order: readonly string[]
}

/** The explanation of a request, made without calling backends. */
export interface RequestExplanation {
  readonly request: {
    readonly method: string
    /** Canonical; as given when it has no canonical form. */
    readonly path: string
    readonly host: string
    readonly ip: string
  }
  /** Whether a running process explained it, or the text alone. */
  readonly live: boolean
  readonly route: {
    readonly key: string
    readonly place: string
    readonly api: string
    readonly version: string | null
    readonly operation: string
    readonly parameters: Readonly<Record<string, string>>
  } | null
  /** Why this route was chosen, or why none. */
  readonly why: string
  readonly lost: readonly LostRoute[]
  /** The path belongs to an OIDC client: then there is no route. */
  readonly login?: LoginExplanation
  readonly sections: readonly { readonly name: string; readonly steps: readonly ExplainedStep[] }[]
  /** Null: the plan could not be provisioned here; `trouble` has the reasons. */
  readonly verdict: Verdict | null
  readonly trouble: readonly string[]
}
