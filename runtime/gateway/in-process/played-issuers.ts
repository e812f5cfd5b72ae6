import type { RequestSender } from "../../http/client/http-client.ts"
import { createVerifier, type IssuerSettings } from "../../identity/issuer.ts"
import type { TokenVerifier } from "../../identity/verifier.ts"
import { signingKeyFor } from "./signing-keys.ts"
import type { VirtualClock } from "./virtual-clock.ts"

/** A token to sign. Claims replace the usual ones: `iss`, `aud`, `iat`, and `exp` in an hour. */
export interface IssuedToken {
  readonly issuer: string
  readonly claims: Readonly<Record<string, unknown>>
  /** The signature is of another key. */
  readonly isForged?: boolean
}

const wellKnown = "/.well-known/openid-configuration"
const tokenSeconds = 3_600
const signedMax = 10_000

/**
 * The issuers of a plan with generated keys instead of their own. Tokens are signed and verified as in production: discovery, key set, signature and
 * claims.
 */
export class PlayedIssuers {
  readonly #clock: VirtualClock
  readonly #settings = new Map<string, IssuerSettings>()
  readonly #signed = new Map<string, string>()
  #down: ReadonlySet<string> = new Set()
  /** Changes with the issuers that are unavailable: keys that were fetched before must be forgotten. */
  #version = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  restart(down: ReadonlySet<string>): void {
    if (down.size === 0 && this.#down.size === 0) return
    this.#down = down
    this.#version += 1
  }

  /** The verifier of an issuer of the plan, with generated keys. */
  readonly createVerifier = (settings: IssuerSettings): TokenVerifier => {
    const { name } = settings
    this.#settings.set(name, settings)
    let version = this.#version
    let current = this.#open(settings)
    const now = (): TokenVerifier => {
      if (version !== this.#version) {
        version = this.#version
        current.close()
        current = this.#open(settings)
      }
      return current
    }
    return {
      verify: (token, rules) => {
        const verified = now().verify(token, rules)
        return verified instanceof Promise ? this.#clock.during(verified) : verified
      },
      issuer: () => now().issuer(),
      state: () => now().state(),
      close: () => current.close(),
    }
  }

  /** How an issuer of the plan is found; undefined: nothing of the plan uses it. */
  settingsOf(name: string): IssuerSettings | undefined {
    return this.#settings.get(name)
  }

  /** The `iss` of the tokens of an issuer; null: any. */
  issOf(name: string): string | null {
    const settings = this.#settings.get(name)
    return settings === undefined ? null : issuerNameOf(settings)
  }

  /** The key set of an issuer. */
  keySetOf(name: string): Readonly<Record<string, unknown>> {
    const settings = this.#settings.get(name)
    return { keys: settings === undefined ? [] : [signingKeyFor(settings.algorithms).jwk] }
  }

  get names(): readonly string[] {
    return [...this.#settings.keys()]
  }

  /** The issuer of the plan whose tokens have this `iss`. */
  named(iss: string): string | undefined {
    for (const settings of this.#settings.values()) if (issuerNameOf(settings) === iss) return settings.name
    return undefined
  }

  /**
   * A token of an issuer of the plan.
   * @throws Error for another issuer
   */
  sign({ issuer, claims, isForged = false }: IssuedToken): string {
    const settings = this.#settings.get(issuer)
    if (settings === undefined) throw new Error(`the plan has no issuer \`${issuer}\``)
    const seconds = Math.floor(this.#clock.now() / 1000)
    const iss = issuerNameOf(settings)
    const [aud] = settings.audiences ?? []
    const whole = {
      ...(iss === null ? {} : { iss }),
      ...(aud === undefined ? {} : { aud }),
      ...{ iat: seconds, exp: seconds + tokenSeconds, ...claims },
    }
    const key = signingKeyFor(settings.algorithms)
    const input = `${encoded({ alg: key.algorithm, typ: "JWT", kid: "test" })}.${encoded(whole)}`
    const kept = isForged ? undefined : this.#signed.get(input)
    if (kept !== undefined) return kept
    const signature = key.signature(isForged ? `${input}.` : input).toString("base64url")
    const token = `${input}.${signature}`
    if (this.#signed.size >= signedMax) this.#signed.clear()
    if (!isForged) this.#signed.set(input, token)
    return token
  }

  #open(settings: IssuerSettings): TokenVerifier {
    const { now, monotonic } = this.#clock
    const isDown = this.#down.has(settings.name)
    const http: RequestSender = {
      send: ({ url }) =>
        isDown
          ? Promise.reject(new Error("the issuer is unavailable"))
          : Promise.resolve(documentAt(url, settings)),
    }
    return createVerifier({ ...settings, source: sourceOf(settings, isDown) }, { now, monotonic, http })
  }
}

/** An issuer that is unavailable is asked by discovery, whatever the plan says: keys in a file are never away. */
function sourceOf({ source, algorithms }: IssuerSettings, isDown: boolean): IssuerSettings["source"] {
  if ("discovery" in source) return source
  if (isDown) return { discovery: "https://issuer.invalid" }
  const { jwk, secret } = signingKeyFor(algorithms)
  const key = secret === undefined ? { id: "test", jwk: jwk ?? {} } : { id: "test", secret }
  return { keys: [key], issuer: source.issuer }
}

/** The `iss` of its tokens; null: any. */
function issuerNameOf({ source }: IssuerSettings): string | null {
  if (!("discovery" in source)) return source.issuer
  const { discovery } = source
  return discovery.endsWith(wellKnown) ? discovery.slice(0, -wellKnown.length) : discovery
}

/** The discovery document, and the key set beside it. */
function documentAt(
  url: string,
  settings: IssuerSettings,
): { readonly status: number; readonly body: Buffer } {
  const { jwk } = signingKeyFor(settings.algorithms)
  const isKeys = url.endsWith("/jwks-of-the-test")
  const document = isKeys
    ? { keys: [jwk] }
    : { issuer: issuerNameOf(settings), jwks_uri: new URL("/jwks-of-the-test", url).href }
  return { status: 200, body: Buffer.from(JSON.stringify(document)) }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url")
}
