import { isIP, type LookupFunction } from "node:net"
import { networkInterfaces } from "node:os"
import { LRUCache } from "lru-cache"
import { type NameAddress, NameError, NameQuestions } from "./name-questions.ts"

/** How long what is known about a name is used. Times in milliseconds. */
export interface NameTimes {
  /** Bounds of the time to live that DNS states. */
  readonly ttlMin: number
  readonly ttlMax: number
  /** After its time to live, a known address serves for so long while it is asked again in the background. */
  readonly background: number
  /** Later, a look-up waits so long for the new answer before it uses the known address (compare RFC 8767 §5). */
  readonly patience: number
  /** When name servers fail, known addresses serve for so long (RFC 8767 §4: one to three days). */
  readonly staleMax: number
  /** For so long an unknown name is not asked again, and one whose name servers fail. */
  readonly unknown: number
  readonly unanswered: number
}

const defaultTimes: NameTimes = {
  ttlMin: 1_000,
  ttlMax: 300_000,
  background: 60_000,
  patience: 1_000,
  staleMax: 86_400_000,
  unknown: 5_000,
  unanswered: 1_000,
}

/** A computed URL may name any host, so their number is limited. */
const namesMax = 10_000

interface Entry {
  addresses: readonly NameAddress[]
  freshUntilMs: number
  /** Not before this time is the name asked again after a failure. */
  askAgainMs: number
  failure: NameError | undefined
  /** A connection to its addresses failed. */
  doubted: boolean
  asking: Promise<void> | undefined
}

/**
 * The addresses of names for all outgoing connections of the process. Each name has its own questions, so a name server that does not reply for one
 * delays only that one; known addresses serve on while they are asked again.
 */
export class HostNames {
  readonly questions: NameQuestions
  readonly #times: NameTimes
  readonly #entries = new LRUCache<string, Entry>({ max: namesMax })

  constructor(questions = new NameQuestions(), times: Partial<NameTimes> = {}) {
    this.questions = questions
    this.#times = { ...defaultTimes, ...times }
  }

  /** For sockets of Node, which use all addresses with their own attempts (RFC 8305). */
  readonly lookup: LookupFunction = (name, { all, family }, callback) => {
    this.addresses(name).then(
      (found) => {
        const wanted = ofFamily(found, family)
        const [first] = wanted
        if (first === undefined) {
          const error = new NameError("unknown", `the name \`${name}\` has no address of IPv${family}`)
          callback(error, all === true ? [] : "")
        } else if (all === true) callback(null, [...wanted])
        else callback(null, first.address, first.family)
      },
      (error: NameError) => callback(error, all === true ? [] : ""),
    )
  }

  /**
   * The addresses of a name, the best first.
   * @throws NameError
   */
  async addresses(name: string): Promise<readonly NameAddress[]> {
    const listed = this.questions.known(name)
    if (listed !== undefined) return preferred(listed)
    const key = name.toLowerCase()
    const entry = this.#entryOf(key)
    const now = performance.now()
    const { background, patience, staleMax } = this.#times
    const hasAddresses = entry.addresses.length > 0 && now < entry.freshUntilMs + staleMax
    if (hasAddresses && !entry.doubted && now < entry.freshUntilMs) return preferred(entry.addresses)
    const asking = this.#ask(key, entry, now)
    if (hasAddresses && !entry.doubted && now < entry.freshUntilMs + background)
      return preferred(entry.addresses)
    await (hasAddresses ? Promise.race([asking, pause(patience)]) : asking)
    if (entry.addresses.length > 0 && (hasAddresses || performance.now() < entry.freshUntilMs))
      return preferred(entry.addresses)
    throw entry.failure ?? new NameError("unanswered", `the name \`${name}\` cannot be looked up`)
  }

  /** A connection to the addresses of a name failed: the next look-up asks again before it uses them. */
  doubt(name: string): void {
    const entry = isIP(name) === 0 ? this.#entries.get(name.toLowerCase()) : undefined
    if (entry !== undefined) entry.doubted = true
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const entry: Entry = {
      addresses: [],
      freshUntilMs: Number.NEGATIVE_INFINITY,
      askAgainMs: Number.NEGATIVE_INFINITY,
      failure: undefined,
      doubted: false,
      asking: undefined,
    }
    this.#entries.set(key, entry)
    return entry
  }

  /** One question at a time for each name. It never rejects: the result is in the entry. */
  #ask(name: string, entry: Entry, now: number): Promise<void> {
    if (entry.asking !== undefined) return entry.asking
    if (now < entry.askAgainMs) return Promise.resolve()
    const { ttlMin, ttlMax, unknown, unanswered } = this.#times
    const learn = async () => {
      try {
        const { found, ttlMs } = await this.questions.addresses(name)
        entry.addresses = found
        const at = performance.now()
        entry.freshUntilMs = at + Math.min(Math.max(ttlMs, ttlMin), ttlMax)
        // A doubted name is asked once more in this time, not for each failing connection.
        entry.askAgainMs = at + ttlMin
        entry.failure = undefined
      } catch (error) {
        const failure = error as NameError
        entry.failure = failure
        entry.askAgainMs = performance.now() + (failure.reason === "unknown" ? unknown : unanswered)
        // DNS says that the name is gone. A server that fails says nothing.
        if (failure.reason === "unknown") entry.addresses = []
      }
      entry.doubted = false
      entry.asking = undefined
    }
    entry.asking = learn()
    return entry.asking
  }
}

/** The names of this process. */
export const hostNames = new HostNames()

/**
 * Orders addresses as RFC 6724 does where it matters here: IPv6 first if the machine has an address for it. Sockets try the families in turn. The order
 * within a family is the name server's, which often rotates it.
 */
function preferred(addresses: readonly NameAddress[]): readonly NameAddress[] {
  const [first] = addresses
  if (first === undefined || addresses.every(({ family }) => family === first.family)) return addresses
  const six = addresses.filter(({ family }) => family === 6)
  const four = addresses.filter(({ family }) => family === 4)
  const isLocal = six.every(({ address }) => address === "::1")
  return hasIpv6(isLocal) ? [...six, ...four] : [...four, ...six]
}

/** Without IPv6 addresses where the machine has no IPv6 and the name has others, as AI_ADDRCONFIG of getaddrinfo. */
export function reachable(addresses: readonly NameAddress[]): readonly NameAddress[] {
  const four = addresses.filter(({ family }) => family === 4)
  if (four.length === 0 || four.length === addresses.length) return addresses
  const isLocal = addresses.every(({ family, address }) => family === 4 || address === "::1")
  return hasIpv6(isLocal) ? addresses : four
}

const interfacesMs = 10_000
let interfacesRead = Number.NEGATIVE_INFINITY
let ipv6: { local: boolean; global: boolean } = { local: false, global: false }

/** Whether an interface has an IPv6 address: `::1`, or one that is not link-local. Read now and then, because it is a system call. */
function hasIpv6(local: boolean): boolean {
  const now = performance.now()
  if (now - interfacesRead > interfacesMs) {
    interfacesRead = now
    const six = Object.values(networkInterfaces()).flatMap((each = []) =>
      each.filter(({ family }) => family === "IPv6"),
    )
    ipv6 = {
      local: six.some(({ internal }) => internal),
      global: six.some(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address)),
    }
  }
  return local ? ipv6.local : ipv6.global
}

function ofFamily(
  found: readonly NameAddress[],
  family: number | "IPv4" | "IPv6" | undefined,
): readonly NameAddress[] {
  const wanted = family === "IPv4" ? 4 : family === "IPv6" ? 6 : family
  return wanted === 4 || wanted === 6 ? found.filter((each) => each.family === wanted) : found
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
