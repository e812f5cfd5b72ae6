import { setTimeout as sleep } from "node:timers/promises"
import { reachable } from "../http/names/host-names.ts"
import {
  type NameAddress,
  NameError,
  type NameQuestions,
  type ServiceRecord,
} from "../http/names/name-questions.ts"
import type { FoundTarget, TargetSource } from "./discovery.ts"

/** Bounds for the time between two questions, whatever time to live DNS states. */
const renewMsMin = 1_000
const renewMsMax = 300_000
/** After a failure the name is asked again at growing intervals. */
const againMsMin = 1_000
const againMsMax = 30_000

/** Weight 0 in SRV: a very small chance of being selected (RFC 2782). */
const leastWeight = 0.01

/** The targets of a question, and how long they hold. Rejects when there is no answer. */
type Ask = () => Promise<{ readonly targets: readonly FoundTarget[]; readonly ttlMs: number }>

/** Each address of a name is a target. */
export function nameSource(
  { name, port }: { readonly name: string; readonly port: number },
  questions: Pick<NameQuestions, "addresses">,
): TargetSource {
  return repeated(name, async () => {
    const { found, ttlMs } = await questions.addresses(name)
    const targets = reachable(found).map(({ address }) => ({ host: address, port, weight: 1, priority: 0 }))
    return { targets, ttlMs }
  })
}

/**
 * Each address of each service of a name is a target (SRV, RFC 2782). The addresses of a service share its weight. Each answer is kept for its own time to
 * live, so the list of services is asked for again without asking for all their addresses.
 */
export function serviceSource(
  { name }: { readonly name: string },
  questions: Pick<NameQuestions, "addresses" | "services">,
): TargetSource {
  const addresses = new ServiceAddresses(questions)
  return repeated(name, async () => {
    const { found, ttlMs } = await questions.services(name)
    // A single record with the root as its target: the service is decidedly not available (RFC 2782).
    const services = found.filter(({ name }) => name !== "" && name !== ".")
    const failures: unknown[] = []
    const targets = await Promise.all(
      services.map(async (service) => {
        try {
          return targetsOf(service, reachable(await addresses.of(service.name)))
        } catch (error) {
          failures.push(error)
          return []
        }
      }),
    )
    addresses.keepOnly(new Set(services.map((service) => service.name)))
    const all = distinct(targets.flat())
    if (all.length === 0 && failures.length > 0) throw failures[0]
    // A service that could not be looked up is asked again soon.
    return { targets: all, ttlMs: failures.length > 0 ? renewMsMin : Math.min(ttlMs, addresses.leftMs()) }
  })
}

/** The addresses of services, each for its time to live, and after it for as long as no name server answers. */
class ServiceAddresses {
  readonly #questions: Pick<NameQuestions, "addresses">
  readonly #known = new Map<string, { readonly found: readonly NameAddress[]; readonly untilMs: number }>()

  constructor(questions: Pick<NameQuestions, "addresses">) {
    this.#questions = questions
  }

  /** Rejects when the name has no addresses, or none are known and no server answers. */
  async of(name: string): Promise<readonly NameAddress[]> {
    const known = this.#known.get(name)
    if (known !== undefined && performance.now() < known.untilMs) return known.found
    try {
      // The name is complete; search domains are not for it.
      const { found, ttlMs } = await this.#questions.addresses(`${name.replace(/\.$/, "")}.`)
      this.#keep(name, found, ttlMs)
      return found
    } catch (error) {
      const isUnknown = error instanceof NameError && error.reason === "unknown"
      if (known === undefined || isUnknown) throw error
      this.#keep(name, known.found, renewMsMin)
      return known.found
    }
  }

  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name)
  }

  /** Until the first of them has to be asked for again. */
  leftMs(): number {
    const ends = [...this.#known.values()].map(({ untilMs }) => untilMs)
    return Math.max(0, Math.min(...ends) - performance.now())
  }

  #keep(name: string, found: readonly NameAddress[], ttlMs: number): void {
    const untilMs = performance.now() + Math.min(Math.max(ttlMs, renewMsMin), renewMsMax)
    this.#known.set(name, { found, untilMs })
  }
}

function targetsOf(
  { port, weight, priority }: ServiceRecord,
  addresses: readonly { readonly address: string }[],
): FoundTarget[] {
  const share = Math.max(weight, leastWeight) / addresses.length
  return addresses.map(({ address }) => ({ host: address, port, weight: share, priority }))
}

/** Two records may lead to one address: the better one counts. */
function distinct(targets: readonly FoundTarget[]): FoundTarget[] {
  const best = new Map<string, FoundTarget>()
  for (const target of targets) {
    const key = `${target.host} ${target.port}`
    const known = best.get(key)
    if (known === undefined || target.priority < known.priority) best.set(key, target)
  }
  return [...best.values()]
}

/** Asks again when the time to live is over. An empty or failed answer keeps the last targets: name servers fail more often than services end. */
function repeated(name: string, ask: Ask): TargetSource {
  return async (report, signal) => {
    let againMs = againMsMin
    while (!signal.aborted) {
      let waitMs: number
      try {
        const { targets, ttlMs } = await ask()
        if (targets.length === 0) throw new Error(`\`${name}\` has no address`)
        report.found(targets)
        waitMs = Math.min(Math.max(ttlMs, renewMsMin), renewMsMax)
        againMs = againMsMin
      } catch (error) {
        report.failed(error instanceof Error ? error.message : String(error))
        waitMs = againMs
        againMs = Math.min(againMs * 2, againMsMax)
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
}
