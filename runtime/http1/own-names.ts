import { isIP } from "node:net"

const namePattern = /^(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[?[0-9a-f:.]+\]?)$/

/** Can it stand in the list of further names? Without a port: names are compared, ports may be forwarded. */
export function isOwnName(text: string): boolean {
  return namePattern.test(text.toLowerCase())
}

const judgedMax = 1_000

/**
 * The names a listener answers to: those of the loopback, the address it listens on (`listen`, its host part), the one a connection has reached, and `more`: `authz.internal`, `10.1.2.3`,
 * `*.svc.cluster.local` for all names below one, or `*` for any. A page whose name is made to lead to this address (DNS rebinding) sends its own.
 */
export class OwnNames {
  readonly #listen: string
  readonly #more: () => readonly string[]
  #judgedBy: readonly string[] = []
  readonly #judged = new Map<string, boolean>()

  constructor(listen: string, more: () => readonly string[]) {
    this.#listen = plainName(listen)
    this.#more = more
  }

  /** Is a request with this Host meant for the listener? `localAddress` is the connection's end here: probes ask by it. */
  has(host: string, localAddress = ""): boolean {
    const more = this.#more()
    if (more !== this.#judgedBy || this.#judged.size > judgedMax) this.#judged.clear()
    this.#judgedBy = more
    const key = `${localAddress} ${host}`
    const known = this.#judged.get(key)
    if (known !== undefined) return known
    const own = this.#judge(plainName(host.replace(/:\d{1,5}$/, "")), plainName(localAddress), more)
    this.#judged.set(key, own)
    return own
  }

  #judge(name: string, reached: string, more: readonly string[]): boolean {
    if (name === "localhost" || name.endsWith(".localhost") || isLoopback(name)) return true
    if (name === this.#listen || name === reached) return true
    return more.some((each) => {
      const own = plainName(each)
      return own === "*" || own === name || (own.startsWith("*.") && name.endsWith(own.slice(1)))
    })
  }
}

function isLoopback(name: string): boolean {
  return name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

/** In lower case, without brackets and the root's dot; an IPv6 address in its shortest form, an IPv4 one that is mapped as itself. */
function plainName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
  if (isIP(name) !== 6) return name
  const shortest = URL.canParse(`http://[${name}]`) ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(shortest) ?? []
  if (high === undefined || low === undefined) return shortest
  const bytes = [high, low].flatMap((half) => [
    Number.parseInt(half, 16) >> 8,
    Number.parseInt(half, 16) & 255,
  ])
  return bytes.join(".")
}
