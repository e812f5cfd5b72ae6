import { setTimeout as sleep } from "node:timers/promises"
import { reachable } from "../http/names/host-names.ts"
import type { NameQuestions, ServiceRecord } from "../http/names/name-questions.ts"
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

/** Each address of each service of a name is a target (SRV, RFC 2782). The addresses of a service share its weight. */
export function serviceSource(
  { name }: { readonly name: string },
  questions: Pick<NameQuestions, "addresses" | "services">,
): TargetSource {
  return repeated(name, async () => {
    const { found } = await questions.services(name)
    // A single record with the root as its target: the service is decidedly not available (RFC 2782).
    const services = found.filter(({ name }) => name !== "" && name !== ".")
    const failures: unknown[] = []
    let ttlMs = renewMsMax
    const targets = await Promise.all(
      services.map(async (service) => {
        try {
          // The name is complete; search domains are not for it.
          const named = await questions.addresses(`${service.name.replace(/\.$/, "")}.`)
          ttlMs = Math.min(ttlMs, named.ttlMs)
          return targetsOf(service, reachable(named.found))
        } catch (error) {
          failures.push(error)
          return []
        }
      }),
    )
    const all = distinct(targets.flat())
    if (all.length === 0 && failures.length > 0) throw failures[0]
    // A service that could not be looked up is asked again soon.
    return { targets: all, ttlMs: failures.length > 0 ? renewMsMin : ttlMs }
  })
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
