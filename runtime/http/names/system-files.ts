import { readFileSync, statSync } from "node:fs"
import { isIP } from "node:net"
import { hostname } from "node:os"

/** Where the system keeps its names. */
export interface SystemPaths {
  /** hosts(5) */
  readonly hosts: string
  /** resolv.conf(5) */
  readonly resolver: string
  /** nsswitch.conf(5) */
  readonly sources: string
}

/** The settings of resolv.conf(5) that decide who is asked, and for which names. */
export interface ResolverSettings {
  /** `127.0.0.53`, or `[127.0.0.1]:5353` with a port, as c-ares reads it too. */
  readonly servers: readonly string[]
  /** Domains that are appended to short names. */
  readonly search: readonly string[]
  /** Names with at least so many dots are asked as they are first. */
  readonly ndots: number
  /** For the reply of one server, in milliseconds. */
  readonly timeoutMs: number
  readonly attempts: number
}

/** Look-ups check at most this often whether a file has changed. */
const checkMs = 1_000

const serversMax = 3
const searchMax = 32

/** A file that is read again when it has changed. A file that cannot be read counts as empty, as for the C library. */
export class SystemFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  #stamp = ""
  #checkedMs = Number.NEGATIVE_INFINITY
  #value: T

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path
    this.#parse = parse
    this.#value = parse("")
  }

  /** Reads synchronously: look-ups of files would otherwise wait for the threads that a slow name server may block. */
  get value(): T {
    const now = performance.now()
    if (now - this.#checkedMs < checkMs) return this.#value
    this.#checkedMs = now
    try {
      const { ino, mtimeMs, size } = statSync(this.#path)
      const stamp = `${ino} ${mtimeMs} ${size}`
      if (stamp !== this.#stamp) this.#value = this.#parse(readFileSync(this.#path, "utf8"))
      this.#stamp = stamp
    } catch {
      this.#value = this.#parse("")
      this.#stamp = ""
    }
    return this.#value
  }
}

/** Addresses by lower-case name (hosts(5)). A name may be on several lines. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const line of text.split("\n")) {
    const [address = "", ...names] = wordsOf(line.replace(/#.*/, ""))
    if (isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const addresses = found.get(key)
      if (addresses === undefined) found.set(key, [address])
      else if (!addresses.includes(address)) addresses.push(address)
    }
  }
  return found
}

/**
 * Reads resolv.conf(5) as glibc does: the last `search` or `domain` counts, the variables `LOCALDOMAIN` and `RES_OPTIONS` come after the file, and
 * without either the domain of the host is searched.
 */
export function parseResolver(
  text: string,
  env: NodeJS.ProcessEnv = process.env,
  host = hostname(),
): ResolverSettings {
  const servers: string[] = []
  let search = wordsOf(/\.(.+)/.exec(host)?.[1] ?? "")
  const options: string[] = []
  for (const line of text.split("\n")) {
    const [keyword, ...rest] = wordsOf(line.replace(/[#;].*/, ""))
    if (keyword === "nameserver" && rest[0] !== undefined) servers.push(rest[0])
    else if (keyword === "search") search = rest
    else if (keyword === "domain") search = rest.slice(0, 1)
    else if (keyword === "options") options.push(...rest)
  }
  if (env.LOCALDOMAIN !== undefined) search = wordsOf(env.LOCALDOMAIN)
  options.push(...wordsOf(env.RES_OPTIONS ?? ""))
  const option = (name: string, byDefault: number, max: number) => {
    const found = options.findLast((each) => each.startsWith(`${name}:`))
    const value = Number(found?.slice(name.length + 1))
    return Number.isInteger(value) && value >= 0 ? Math.min(value, max) : byDefault
  }
  return {
    servers: servers.length === 0 ? ["127.0.0.1"] : servers.slice(0, serversMax),
    search: search.slice(0, searchMax).map((domain) => domain.replace(/^\.|\.$/g, "")),
    ndots: option("ndots", 1, 15),
    timeoutMs: Math.max(1, option("timeout", 5, 30)) * 1000,
    attempts: Math.max(1, option("attempts", 2, 5)),
  }
}

/** Whether the system finds host names elsewhere than in files and DNS (nsswitch.conf(5)): mDNS, LDAP, the host's own name. */
export function hasOtherSources(text: string): boolean {
  const line = text.split("\n").find((each) => /^\s*hosts\s*:/.test(each)) ?? ""
  const sources = wordsOf(line.replace(/#.*|\[.*?\]|^\s*hosts\s*:/g, " "))
  return sources.some((source) => source !== "files" && source !== "dns")
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "")
}
