import type { ListedSession, SessionStore } from "../../oidc/session-store.ts"
import type { Clock } from "../../policies/clock.ts"

interface Kept {
  readonly text: string
  readonly untilMs: number
}

interface SessionList {
  readonly untilMs: Map<string, number>
  /** The last logout: the `iat` of its token, and until when it is remembered. */
  ended: { readonly seconds: number; readonly untilMs: number } | undefined
}

/** Sessions that a server would keep, in memory and by the clock of the gateway: what `session redis` means in a gateway without a server. */
export class MemorySessions implements SessionStore {
  readonly #clock: Pick<Clock, "now">
  readonly #texts = new Map<string, Kept>()
  readonly #lists = new Map<string, SessionList>()

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock
  }

  restart(): void {
    this.#texts.clear()
    this.#lists.clear()
  }

  async get(key: string): Promise<string | null> {
    const kept = this.#texts.get(key)
    return kept !== undefined && kept.untilMs > this.#clock.now() ? kept.text : null
  }

  async set(key: string, text: string, ms: number, only?: "absent" | "present"): Promise<boolean> {
    const isPresent = (await this.get(key)) !== null
    if (only !== undefined && isPresent !== (only === "present")) return false
    this.#texts.set(key, { text, untilMs: this.#clock.now() + ms })
    return true
  }

  async remove(key: string): Promise<number> {
    const isPresent = (await this.get(key)) !== null
    this.#texts.delete(key)
    return isPresent ? 1 : 0
  }

  async list(key: string, { session, now, untilMs, issuedSeconds }: ListedSession): Promise<boolean> {
    const list = this.#listOf(key)
    const { ended } = list
    if (ended !== undefined && ended.untilMs > now && issuedSeconds <= ended.seconds) return false
    list.untilMs.set(session, untilMs)
    return true
  }

  async end(key: string, seconds: number, rememberedMs: number): Promise<readonly string[]> {
    const now = this.#clock.now()
    const list = this.#listOf(key)
    list.ended = { seconds, untilMs: now + rememberedMs }
    return [...list.untilMs].flatMap(([session, untilMs]) => (untilMs > now ? [session] : []))
  }

  async unlist(key: string, session: string): Promise<void> {
    this.#lists.get(key)?.untilMs.delete(session)
  }

  #listOf(key: string): SessionList {
    const list = this.#lists.get(key) ?? { untilMs: new Map(), ended: undefined }
    this.#lists.set(key, list)
    return list
  }
}
