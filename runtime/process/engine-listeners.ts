import { AuthzApi } from "../authz/api.ts"
import type { AuthzParts } from "../authz/ports.ts"
import { type AuthzListeners, startAuthz } from "../authz/start.ts"
import { PlanRefused } from "../control/plan-keeper.ts"
import { listenReason } from "../gateway/load-error.ts"
import { addressText } from "../plan/address-text.ts"
import type { Plan } from "../plan/plan.ts"
import type { Address } from "../plan/resources.ts"

/** Listeners opened for a plan that is not yet the running one. */
export interface PreparedListeners {
  activate(): void
  discard(): Promise<void>
}

/** The engine's HTTP listeners over the life of plans: a new address is opened before the old one is closed, an address that stays is left alone. */
export class EngineListeners {
  readonly #api: AuthzApi
  readonly #onError: (error: unknown) => void
  #open = new Map<string, AuthzListeners>()

  constructor(parts: AuthzParts, onError: (error: unknown) => void) {
    this.#api = new AuthzApi(parts)
    this.#onError = onError
  }

  /** `host:port` of each. */
  addresses(): string[] {
    return [...this.#open.values()].flatMap(({ addresses }) => addresses.map(addressText))
  }

  /** Opens what the plan adds. @throws PlanRefused naming the address that cannot be had; then none was opened. */
  async prepare(plan: Plan): Promise<PreparedListeners> {
    const wanted = new Map((plan.plan.authz?.listen ?? []).map((address) => [addressText(address), address]))
    const opened = new Map<string, AuthzListeners>()
    const discard = async () => {
      await Promise.all([...opened.values()].map((listeners) => listeners.close()))
    }
    for (const [key, address] of wanted) {
      if (this.#open.has(key)) continue
      try {
        opened.set(key, await startAuthz({ api: this.#api, listen: [address] }))
      } catch (error) {
        await discard()
        throw refused(plan, key, error as NodeJS.ErrnoException)
      }
    }
    return { activate: () => this.#activate(wanted, opened), discard }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((listeners) => listeners.close()))
    this.#open.clear()
  }

  #activate(wanted: ReadonlyMap<string, Address>, opened: ReadonlyMap<string, AuthzListeners>): void {
    this.#api.planChanged()
    for (const [key, listeners] of this.#open) {
      if (wanted.has(key)) continue
      this.#open.delete(key)
      listeners.close().catch(this.#onError)
    }
    for (const [key, listeners] of opened) this.#open.set(key, listeners)
  }
}

function refused(plan: Plan, address: string, error: NodeJS.ErrnoException): PlanRefused {
  const message = `the engine cannot listen on ${address}: ${listenReason(error)}`
  const origin = plan.origins["authz"]
  return new PlanRefused([{ path: "authz.listen", message, ...(origin === undefined ? {} : { origin }) }])
}
