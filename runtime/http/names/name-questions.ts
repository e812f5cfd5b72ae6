import { type RecordWithTtl, Resolver } from "node:dns"
import { lookup } from "node:dns/promises"
import {
  hasOtherSources,
  parseHosts,
  parseResolver,
  type ResolverSettings,
  SystemFile,
  type SystemPaths,
} from "./system-files.ts"

/** Why a name has no addresses. `unknown`: it does not exist, or has none. `unanswered`: no name server has said so; asking again may help. */
export class NameError extends Error {
  override readonly name = "NameError"
  readonly reason: "unknown" | "unanswered"
  /** As of Node's `dns.lookup`. */
  readonly code: "ENOTFOUND" | "EAI_AGAIN"

  constructor(reason: NameError["reason"], message: string) {
    super(message)
    this.reason = reason
    this.code = reason === "unknown" ? "ENOTFOUND" : "EAI_AGAIN"
  }
}

/** An IP address of a name. */
export interface NameAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** What a name means, and for how long. */
export interface Named<T> {
  readonly found: readonly T[]
  readonly ttlMs: number
}

/** Where a service is (SRV, RFC 2782). */
export interface ServiceRecord {
  readonly priority: number
  readonly weight: number
  readonly name: string
  readonly port: number
}

/** For everything that is asked about one name. Name servers that do not reply must not hold memory and sockets for longer. */
const questionMs = 10_000
/** After the first of A and AAAA was answered (compare the resolution delay of RFC 8305 §3): servers exist that never answer AAAA. */
const otherFamilyMs = 200
/** Where no time to live is known: hosts(5), and other sources of the system. */
const unknownTtlMs = 10_000

const paths: SystemPaths = {
  hosts: "/etc/hosts",
  resolver: "/etc/resolv.conf",
  sources: "/etc/nsswitch.conf",
}

/**
 * Asks for names as getaddrinfo of glibc does, but without its threads: one name server that does not reply would block the few threads of the process.
 * Files come first, then DNS with the search domains. Only what DNS does not know goes to getaddrinfo, one name at a time, and only where the system
 * has further sources of names. Other systems than Linux have no such files, so their getaddrinfo is asked, also one name at a time.
 */
export class NameQuestions {
  readonly #hosts: SystemFile<ReadonlyMap<string, readonly string[]>>
  readonly #resolver: SystemFile<ResolverSettings>
  readonly #others: SystemFile<boolean>
  readonly #hasFiles: boolean
  readonly #questionMs: number
  #systemTurn: Promise<unknown> = Promise.resolve()

  /** `limitMs`: for everything that is asked about one name. */
  constructor(at: Partial<SystemPaths> = {}, platform: string = process.platform, limitMs = questionMs) {
    this.#questionMs = limitMs
    this.#hosts = new SystemFile(at.hosts ?? paths.hosts, parseHosts)
    this.#resolver = new SystemFile(at.resolver ?? paths.resolver, (text) => parseResolver(text))
    this.#others = new SystemFile(at.sources ?? paths.sources, hasOtherSources)
    this.#hasFiles = platform === "linux"
  }

  /** Addresses that need no question: those of the hosts file, and of `localhost` (RFC 6761 §6.3). */
  known(name: string): readonly NameAddress[] | undefined {
    const bare = name.toLowerCase().replace(/\.$/, "")
    const listed = this.#hosts.value.get(bare)
    if (listed !== undefined) return listed.map(addressOf)
    if (bare === "localhost" || bare.endsWith(".localhost")) return ["127.0.0.1", "::1"].map(addressOf)
    return undefined
  }

  /**
   * The addresses of a name.
   * @throws NameError
   */
  async addresses(name: string): Promise<Named<NameAddress>> {
    const known = this.known(name)
    if (known !== undefined) return { found: known, ttlMs: unknownTtlMs }
    if (!this.#hasFiles) return await this.#ofSystem(name)
    const deadline = performance.now() + this.#questionMs
    try {
      return await this.#search(name, deadline, addressesOf)
    } catch (error) {
      // With a server that replies, DNS is the answer, unless the system has another source of names.
      if (!(error instanceof NameError) || error.reason !== "unknown" || !this.#others.value) throw error
      return await this.#ofSystem(name)
    }
  }

  /**
   * The services of a name. Node reports no time to live for them, so they count for a short time that fits most of them.
   * @throws NameError
   */
  async services(name: string): Promise<Named<ServiceRecord>> {
    return await this.#search(name, performance.now() + this.#questionMs, servicesOf)
  }

  /** Asks for a name and, with search domains, for its longer forms, in the order of glibc's `res_search`. */
  async #search<T>(name: string, deadline: number, ask: Ask<T>): Promise<Named<T>> {
    const settings = this.#resolver.value
    let soft: NameError | undefined
    for (const form of formsOf(name, settings)) {
      try {
        const named = await askOnce(form, settings, deadline, ask)
        if (named.found.length > 0) return named
      } catch (error) {
        const fault = questionError(name, error)
        // A timeout ends the search: the next form could be another host.
        if (fault?.ends === true) throw fault.error
        soft ??= fault?.error
      }
    }
    throw soft ?? new NameError("unknown", `the name \`${name}\` is unknown or has no address`)
  }

  /** getaddrinfo cannot be cancelled, so one question at a time: it blocks one of libuv's four threads at most. */
  async #ofSystem(name: string): Promise<Named<NameAddress>> {
    const turn = this.#systemTurn.then(() => lookup(name, { all: true, verbatim: true }))
    this.#systemTurn = turn.catch(() => undefined)
    const error = new NameError(
      "unanswered",
      `the system has not found \`${name}\` in ${this.#questionMs} ms`,
    )
    try {
      const found = await within(turn, this.#questionMs, () => error)
      return { found: found.map(({ address }) => addressOf(address)), ttlMs: unknownTtlMs }
    } catch (failure) {
      if (failure instanceof NameError) throw failure
      const { code } = failure as NodeJS.ErrnoException
      const reason = code === "ENOTFOUND" ? "unknown" : "unanswered"
      throw new NameError(reason, `the system does not find \`${name}\` (${code})`)
    }
  }
}

/** Asks one question. */
type Ask<T> = (resolver: Resolver, name: string) => Promise<Named<T>>

/** The names to ask for: with at least `ndots` dots the name itself first, otherwise last. A dot at the end excludes search domains. */
export function formsOf(name: string, { search, ndots }: ResolverSettings): readonly string[] {
  if (name.endsWith(".")) return [name]
  const dots = name.split(".").length - 1
  const longer = search.filter((domain) => domain !== "").map((domain) => `${name}.${domain}`)
  return dots >= ndots ? [name, ...longer] : [...longer, name]
}

/** A resolver of its own for each question, so that cancelling it ends no other. */
async function askOnce<T>(
  name: string,
  { servers, timeoutMs, attempts }: ResolverSettings,
  deadline: number,
  ask: Ask<T>,
): Promise<Named<T>> {
  const leftMs = deadline - performance.now()
  if (leftMs <= 0) throw Object.assign(new Error("no time is left"), { code: "ETIMEOUT" })
  const resolver = new Resolver({ timeout: timeoutMs, tries: attempts })
  resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), leftMs)
  try {
    return await ask(resolver, name)
  } finally {
    clearTimeout(timer)
    // The slower family may still be waiting.
    resolver.cancel()
  }
}

/** A and AAAA at the same time. An error only when neither has addresses. */
function addressesOf(resolver: Resolver, name: string): Promise<Named<NameAddress>> {
  return new Promise((resolve, reject) => {
    const found: NameAddress[] = []
    let ttlSeconds = Number.POSITIVE_INFINITY
    let failure: Error | undefined
    let open = 2
    let timer: NodeJS.Timeout | undefined
    const end = () => {
      clearTimeout(timer)
      if (found.length === 0 && failure !== undefined) reject(failure)
      else resolve({ found, ttlMs: ttlSeconds * 1000 })
    }
    const take =
      (family: 4 | 6) =>
      (error: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[] = []) => {
        open -= 1
        for (const { address, ttl } of records) {
          found.push({ address, family })
          ttlSeconds = Math.min(ttlSeconds, ttl)
        }
        // No record of this type (NODATA) is no failure: the name may have some of the other. A name that does not exist has neither.
        if (error !== null && error.code !== "ENODATA") failure ??= error
        if (open === 0 || error?.code === "ENOTFOUND") end()
        else if (found.length > 0) timer = setTimeout(end, otherFamilyMs)
      }
    resolver.resolve4(name, { ttl: true }, take(4))
    resolver.resolve6(name, { ttl: true }, take(6))
  })
}

function servicesOf(resolver: Resolver, name: string): Promise<Named<ServiceRecord>> {
  return new Promise((resolve, reject) => {
    resolver.resolveSrv(name, (error, records) => {
      if (error) reject(error)
      else resolve({ found: records, ttlMs: unknownTtlMs })
    })
  })
}

const missing: ReadonlySet<string | undefined> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])
/** The server has replied, but not with an answer; glibc then asks for the next form too. */
const refusing: ReadonlySet<string | undefined> = new Set(["ESERVFAIL", "EREFUSED", "ENOTIMP", "EFORMERR"])

/** An error of c-ares as one of this file; undefined: this form does not exist. `ends`: no further form may be asked. */
function questionError(
  name: string,
  error: unknown,
): { readonly error: NameError; readonly ends: boolean } | undefined {
  const { code } = error as NodeJS.ErrnoException
  if (missing.has(code)) return undefined
  const isLate = code === "ETIMEOUT" || code === "ECANCELLED"
  const why = isLate ? "no name server has replied in time" : `the name server fails (${code})`
  return {
    error: new NameError("unanswered", `the name \`${name}\` cannot be looked up: ${why}`),
    ends: !refusing.has(code),
  }
}

function addressOf(address: string): NameAddress {
  return { address, family: address.includes(":") ? 6 : 4 }
}

/** Rejects when the time is over. */
function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
