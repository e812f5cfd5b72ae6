import type { Explanation } from "../../check/ports.ts"
import type { Step } from "../../plan/steps.ts"
import type { ProblemName } from "../../policies/messages/answer.ts"
import type { TargetState } from "../backends/target.ts"

/** A request to explain. It need not have been made; nothing is sent anywhere. */
export interface RequestQuestion {
  readonly method: string
  /** Path with its query, as on the request line. */
  readonly target: string
  readonly host: string
  /** The address it comes from. */
  readonly ip: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer | undefined
  /** Put where the route wants its credential: a subscription key, a token. */
  readonly key?: string | undefined
  readonly token?: string | undefined
  /** Authentication passes, with these claims, or as the subscription that `sub` names. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** Why a route that is near does not answer: how it differs from the request, or what goes before it. */
export type Loss = "method" | "host" | "less-specific" | "look-alike" | "protection"

/** A route that could be meant and does not answer. */
export interface LostRoute {
  readonly route: string
  /** `file:line`; empty where it is not known. */
  readonly place: string
  readonly loss: Loss
  readonly why: string
}

/**
 * What a step did. `passed`: it ran and the next one is next. `answered`: it ended the request. `unknown`: what it does is known when a request is there only, and it
 * was taken to go on; its notes say why. `not-reached`: another step answered, or a branch was not taken. `shown`: it works on an answer there is none of yet.
 */
export type StepState = "passed" | "answered" | "unknown" | "not-reached" | "shown"

/** What is left of a limit for this caller. Nothing was counted. What is not there is known to a running process only. */
export interface LimitState {
  readonly key: string
  readonly callsMax: number
  readonly periodSeconds: number
  readonly remaining?: number
  readonly resetSeconds?: number
}

/** What was used of a quota by this caller. Nothing was counted. */
export interface QuotaState {
  readonly key: string
  readonly periodSeconds: number
  readonly callsMax?: number | undefined
  readonly bytesMax?: number | undefined
  readonly calls?: number
  readonly bytes?: number
  /** Null: it is never filled again. */
  readonly resetSeconds?: number | null
}

/** What the engine was asked about a store and said. Without `allowed` it was not asked; a decision point never is. */
export interface Proof {
  readonly store?: string
  readonly pdp?: string
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly allowed?: boolean
  readonly revision?: number
  readonly explanation?: Explanation
  /** The explanation as a tree for people. */
  readonly text?: string
}

/** A use of a step in a route. */
export interface ExplainedStep {
  /** Place in the route: `inbound.3`, `inbound.3.matched.0`. */
  readonly at: string
  /** `file:line`; empty where it is not known. */
  readonly place: string
  readonly state: StepState
  /** The step; lists of steps inside of it are empty here and stand in `inside`. */
  readonly step: Step
  readonly notes: readonly string[]
  readonly limit?: LimitState
  readonly quota?: QuotaState
  readonly proof?: Proof
  readonly inside: readonly { readonly place: string; readonly steps: readonly ExplainedStep[] }[]
}

/** A place of the configuration that answered. */
export interface Answerer {
  readonly kind: string
  /** `file:line`, several with ` or ` where the same step stands at several places of the route; empty where it is not known. */
  readonly place: string
}

/** What ends a WebSocket besides its two ends. */
export interface WebSocketEnds {
  /** So long without a byte; null: never. */
  readonly idleMs: number | null
  readonly expireWithToken: boolean
  /** When the route is gone, or leads elsewhere. */
  readonly closeWhenRemoved: boolean
}

/** How it ends. `answered`: by the gateway itself. `forwarded`: a backend would be asked, and its answer is not known. */
export type Verdict =
  | {
      readonly kind: "answered"
      readonly status: number
      readonly problem?: ProblemName
      /** For operators; no client is told. */
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
      /** It asks for a WebSocket: a tunnel opens when the backend answers 101. */
      readonly websocket?: WebSocketEnds
      readonly assuming: readonly string[]
    }

/** What is known of a request without calling backends. */
export interface RequestExplanation {
  readonly request: {
    readonly method: string
    /** Canonical; as given where it has no canonical form. */
    readonly path: string
    readonly host: string
    readonly ip: string
  }
  /** Whether a running process was asked, or the text alone. */
  readonly live: boolean
  readonly route: {
    readonly key: string
    readonly place: string
    readonly api: string
    readonly version: string | null
    readonly operation: string
    readonly parameters: Readonly<Record<string, string>>
  } | null
  /** Why this route, or why none. */
  readonly why: string
  readonly lost: readonly LostRoute[]
  readonly sections: readonly { readonly name: string; readonly steps: readonly ExplainedStep[] }[]
  /** Null: the plan could not be made ready here; `trouble` says why. */
  readonly verdict: Verdict | null
  readonly trouble: readonly string[]
}
