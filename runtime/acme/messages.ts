import type { AcmeSettings } from "../http/server/managed-certificates.ts"
import type { SuggestedWindow } from "./schedule.ts"

/** A new certificate with its chain, and its key: PEM. */
export interface IssuedPair {
  readonly cert: string
  readonly key: string
}

/** What an authority wants to find at a host while an order runs. */
export interface PublishedChallenge {
  readonly token: string
  readonly host: string
  readonly response: string
}

/** When to renew a certificate (RFC 9773), and when to ask again, in milliseconds since 1970. */
export interface RenewalSuggestion {
  readonly window: SuggestedWindow
  readonly nextMs: number
}

/** An order that the authority did not fulfil. The message is for operators. */
export class OrderFailed extends Error {
  override readonly name = "OrderFailed"
  /** The pause that the authority asks for, in milliseconds. */
  readonly pauseMs: number

  constructor(message: string, pauseMs = 0) {
    super(message)
    this.pauseMs = pauseMs
  }
}

/** What a task of the thread concerns, without the secret that protects keys in the database. */
export type OrderSettings = Omit<AcmeSettings, "name" | "protectedBy">

/** A task of the thread. */
export type AuthorityTask =
  | {
      readonly kind: "order"
      readonly settings: OrderSettings
      readonly accountKey: string
      /** The certificate that is renewed. */
      readonly replaced: string | undefined
    }
  | {
      readonly kind: "suggestion"
      readonly settings: OrderSettings
      readonly cert: string
      readonly nowMs: number
    }
  | { readonly kind: "validation"; readonly host: string; readonly response: string }

/** To the thread: a task, or that a challenge can be found; `failure`: why it cannot. */
export type ToAuthorityThread =
  | { readonly id: number; readonly task: AuthorityTask }
  | { readonly published: string; readonly failure: string | undefined }

/** From the thread. A challenge is answered with `published`. */
export type FromAuthorityThread =
  | { readonly id: number; readonly publish: PublishedChallenge }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string; readonly pauseMs: number | undefined }
