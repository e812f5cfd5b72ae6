import { isIP } from "node:net"
import { hostname } from "node:os"

const namePattern = /^(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[?[0-9a-f:.]+\]?)$/

/** Can it stand in the list of further names? Without a port: names are compared, ports may be forwarded. */
export function isOwnName(text: string): boolean {
  return namePattern.test(text.toLowerCase())
}

const judgedMax = 1_000

/**
 * The names a listener answers to: `localhost` and names below it, the machine's, the one it listens on (`listen`, its host part), and `more`: `authz.internal`, `*.svc.cluster.local` for all names
 * below one, or `*` for any. A page whose name is made to lead to this address (DNS rebinding) sends its own. Every IP address passes: no DNS answer stands behind it, and probes use that of their pod.
 */
export class OwnNames {
  readonly #always: ReadonlySet<string>
  readonly #more: () => readonly string[]
  #judgedBy: readonly string[] = []
  readonly #judged = new Map<string, boolean>()

  constructor(listen: string, more: () => readonly string[]) {
    this.#always = new Set(["localhost", hostname(), listen].map(plainName))
    this.#more = more
  }

  /** Is a request with this Host meant for the listener? */
  has(host: string): boolean {
    const more = this.#more()
    if (more !== this.#judgedBy || this.#judged.size > judgedMax) this.#judged.clear()
    this.#judgedBy = more
    const known = this.#judged.get(host)
    if (known !== undefined) return known
    const own = this.#judge(plainName(host.replace(/:\d{1,5}$/, "")), more)
    this.#judged.set(host, own)
    return own
  }

  #judge(name: string, more: readonly string[]): boolean {
    if (isIP(name) !== 0 || this.#always.has(name) || name.endsWith(".localhost")) return true
    return more.some((each) => {
      const own = plainName(each)
      return own === "*" || own === name || (own.startsWith("*.") && name.endsWith(own.slice(1)))
    })
  }
}

/** In lower case, without brackets and the root's dot. */
function plainName(text: string): string {
  return text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
}
