import type { InProcessGateway } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Credentials } from "../../runtime/gateway/in-process/placed-credentials.ts"
import type { Subscriber } from "../../runtime/identity/keys.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"

/** As many as the gateways keep of the tokens that they have verified. */
const tokensMax = 10_000

/** Makes credentials for recorded callers: tokens with their claims, and keys of their subscriptions. */
export class PlayedCallers {
  /** The keys of subscriptions that no plan declares. */
  readonly issued = new Map<string, Subscriber>()
  /** By the text of their claims. */
  readonly #tokens = new Map<string, string>()
  readonly #before: InProcessGateway
  readonly #after: InProcessGateway

  constructor(before: InProcessGateway, after: InProcessGateway) {
    this.#before = before
    this.#after = after
  }

  /** What the caller shows; undefined: nothing. A text is the reason why it cannot be made. */
  credentialsOf({ claims, subscription }: RecordedRequest): Credentials | undefined | string {
    const key = subscription === undefined ? undefined : this.#keyOf(subscription)
    if (claims === undefined) return key === undefined ? undefined : { key }
    const token = this.#tokenOf(claims)
    if (token === undefined) return "the caller has shown something other than a token or a key"
    return key === undefined ? { token } : { token, key }
  }

  /** Both plans get the same token: that of a caller does not change with the plan. */
  #tokenOf(claims: Readonly<Record<string, unknown>>): string | undefined {
    const { iss } = claims
    if (typeof iss !== "string") return undefined
    const text = JSON.stringify(claims)
    const known = this.#tokens.get(text)
    if (known !== undefined) return known
    const token = this.#signed(iss, claims)
    if (this.#tokens.size >= tokensMax) this.#tokens.clear()
    if (token !== undefined) this.#tokens.set(text, token)
    return token
  }

  #signed(iss: string, claims: Readonly<Record<string, unknown>>): string | undefined {
    for (const gateway of [this.#before, this.#after]) {
      const issuer = gateway.issuerOf(iss)
      if (issuer !== undefined) return gateway.token({ issuer, claims })
    }
    return undefined
  }

  #keyOf({ name, product }: NonNullable<RecordedRequest["subscription"]>): string {
    const declared = this.#before.keyOf(name) ?? this.#after.keyOf(name)
    if (declared !== undefined) return declared
    const key = `key of ${JSON.stringify([name, product])}`
    if (!this.issued.has(key)) {
      // The record does not have the scope of a subscription without a product.
      const scope = product === null ? { product: undefined, all: true } : { product }
      this.issued.set(key, { name, api: undefined, ...scope })
    }
    return key
  }
}
