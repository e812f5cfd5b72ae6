import { AuthzApi } from "../authz/api.ts"
import type { AuthzParts } from "../authz/ports.ts"
import { type AuthzListeners, startAuthz } from "../authz/start.ts"
import { PlanRefused } from "../control/plan-keeper.ts"
import type { EngineDoor } from "../control/ports.ts"
import { listenReason } from "../gateway/load-error.ts"
import { addressText } from "../plan/address-text.ts"
import type { Plan } from "../plan/plan.ts"
import type { Address } from "../plan/resources.ts"
import type { EngineAccess } from "./engine-access.ts"

/** Listeners opened for a plan that is not yet the running one. */
export interface PreparedListeners {
  activate(): void
  discard(): Promise<void>
}

/** How long requests may take that came to an address the plan has left. */
const leftGraceMs = 60_000

/** The engine's HTTP listeners over the life of plans: a new address is opened before the old one is closed, an address that stays is left alone. */
export class EngineListeners {
  readonly #api: AuthzApi
  readonly #access: EngineAccess
  readonly #onError: (error: unknown) => void
  #open = new Map<string, AuthzListeners>()

  constructor(parts: Omit<AuthzParts, "access">, access: EngineAccess, onError: (error: unknown) => void) {
    this.#access = access
    this.#api = new AuthzApi({ ...parts, access: () => access.access })
    this.#onError = onError
  }

  /** `host:port` of each. */
  addresses(): string[] {
    return [...this.#open.values()].flatMap(({ addresses }) => addresses.map(addressText))
  }

  /** A listener of this process. Where it listens on all addresses, it is asked on the loopback one. */
  door(): EngineDoor | undefined {
    const [address] = this.addresses()
    if (address === undefined) return undefined
    const host = address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:")
    return { url: `http://${host}`, authorization: this.#access.authorization }
  }

  /** State of the issuers whose tokens the engine takes. */
  issuers(): ReturnType<EngineAccess["issuers"]> {
    return this.#access.issuers()
  }

  /**
   * Opens what the plan adds, and reads the keys of its callers. What is opened answers 503 until the plan is the running one: before, it would
   * let in whom the plan before lets in.
   * @throws PlanRefused naming the address that cannot be had · LoadError for keys and issuers; then none was opened.
   */
  async prepare(plan: Plan): Promise<PreparedListeners> {
    const access = await this.#access.prepare(plan)
    const wanted = new Map((plan.plan.authz?.listen ?? []).map((address) => [addressText(address), address]))
    const opened = new Map<string, AuthzListeners>()
    const discard = async () => {
      access.discard()
      await Promise.all([...opened.values()].map((listeners) => listeners.close()))
    }
    for (const [key, address] of wanted) {
      if (this.#open.has(key)) continue
      try {
        const serving = () => this.#open.get(key) === opened.get(key)
        opened.set(key, await startAuthz({ api: this.#api, listen: [address], serving }))
      } catch (error) {
        await discard()
        throw refused(plan, key, error as NodeJS.ErrnoException)
      }
    }
    const activate = () => {
      access.activate()
      this.#activate(wanted, opened)
    }
    return { activate, discard }
  }

  /** Requests under way have so long to end. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#open.values()].map((listeners) => listeners.close(graceMs)))
    this.#open.clear()
    this.#access.close()
  }

  #activate(wanted: ReadonlyMap<string, Address>, opened: ReadonlyMap<string, AuthzListeners>): void {
    this.#api.planChanged()
    for (const [key, listeners] of this.#open) {
      if (wanted.has(key)) continue
      this.#open.delete(key)
      listeners.close(leftGraceMs).catch(this.#onError)
    }
    for (const [key, listeners] of opened) this.#open.set(key, listeners)
  }
}

function refused(plan: Plan, address: string, error: NodeJS.ErrnoException): PlanRefused {
  const message = `the engine cannot listen on ${address}: ${listenReason(error)}`
  const origin = plan.origins["authz"]
  return new PlanRefused([{ path: "authz.listen", message, ...(origin === undefined ? {} : { origin }) }])
}
