import type { DiscoveryTarget } from "../../discovery/discovery.ts"
import type { TokenSource } from "../../identity/token-client.ts"
import type { Backend as BackendPlan } from "../../plan/resources.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"

/** A backend of the plan with its texts resolved and its files read. */
export interface BackendSettings {
  /** Its name in the plan; undefined: it is at a URL that a step computes. */
  readonly name: string | undefined
  readonly targets: readonly { readonly url: string; readonly weight: number }[]
  /** Finds the addresses of the only target. */
  readonly discovery: DiscoveryTarget | undefined
  readonly connectMs: number
  readonly totalMs: number | null
  readonly firstByteMs: number | undefined
  readonly idleMs: number | undefined
  /** PEM of the certificate authorities, when not those of the system. */
  readonly ca: string | undefined
  readonly insecure: boolean
  /** Client certificate for TLS. */
  readonly certificate: ClientCertificate | undefined
  /** Credentials for the Authorization field. */
  readonly authorization: { readonly basic: string } | { readonly tokens: TokenSource } | undefined
  /** `h2c`: without TLS, too. */
  readonly http2: boolean | "h2c"
  readonly balance: BackendPlan["balance"]
  readonly health: BackendPlan["health"]
  readonly breaker: BackendPlan["breaker"]
  readonly retry: BackendPlan["retry"]
}

/** A backend without credentials and special settings. */
export const plainBackend: Omit<BackendSettings, "targets" | "connectMs"> = {
  name: undefined,
  discovery: undefined,
  totalMs: null,
  firstByteMs: undefined,
  idleMs: undefined,
  ca: undefined,
  insecure: false,
  certificate: undefined,
  authorization: undefined,
  http2: false,
  balance: undefined,
  health: undefined,
  breaker: undefined,
  retry: undefined,
}
