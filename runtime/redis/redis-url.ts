/** Where a Redis server is, and how to connect. Passwords are in it: never log it. */
export interface RedisAddress {
  /** `sentinel`: the nodes are Sentinels, which know the current primary of `group`. */
  readonly kind: "single" | "cluster" | "sentinel"
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly db: number
  /** The name that Sentinels know the primary by. */
  readonly group: string | undefined
}

const kinds: Readonly<Record<string, Pick<RedisAddress, "kind" | "tls">>> = {
  redis: { kind: "single", tls: false },
  rediss: { kind: "single", tls: true },
  "redis+cluster": { kind: "cluster", tls: false },
  "rediss+cluster": { kind: "cluster", tls: true },
  "redis+sentinel": { kind: "sentinel", tls: false },
  "rediss+sentinel": { kind: "sentinel", tls: true },
}

/**
 * Reads `redis://USER:PASSWORD@HOST:PORT/DB`, `rediss:` (TLS), `redis+cluster://HOST:PORT,HOST:PORT`, `redis+sentinel://HOST:PORT,HOST:PORT/GROUP/DB` and
 * their `rediss+` forms. `what`: the URL in messages.
 * @throws Error for a form that is not supported, without the text of the URL, because it may hold a password
 */
export function readRedisUrl(url: string, what = "the URL of Redis"): RedisAddress {
  const [, scheme = "", rest = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(url.trim()) ?? []
  const form = kinds[scheme.toLowerCase()]
  if (form === undefined)
    throw new Error(
      `${what} begins with ${scheme === "" ? "no scheme" : `\`${scheme}:\``}; write one of ${Object.keys(
        kinds,
      )
        .map((each) => `\`${each}://\``)
        .join(", ")}`,
    )
  if (/[?#]/.test(rest))
    throw new Error(`${what} has options after \`?\` or \`#\`, which are not supported; remove them`)
  const slash = rest.indexOf("/")
  const authority = slash < 0 ? rest : rest.slice(0, slash)
  const path =
    slash < 0
      ? []
      : rest
          .slice(slash + 1)
          .split("/")
          .filter((part) => part !== "")
  const at = authority.lastIndexOf("@")
  const [username, password] = at < 0 ? [undefined, undefined] : credentialsOf(authority.slice(0, at))
  const usualPort = form.kind === "sentinel" ? 26_379 : 6379
  const nodes = authority
    .slice(at + 1)
    .split(",")
    .map((node) => nodeOf(node, usualPort))
  if (form.kind === "single" && nodes.length > 1)
    throw new Error(`${what} names several hosts; write \`redis+cluster://\` or \`redis+sentinel://\``)
  const group = form.kind === "sentinel" ? path.shift() : undefined
  if (form.kind === "sentinel" && group === undefined)
    throw new Error(`${what} names no group of the Sentinels; write \`redis+sentinel://HOST:PORT/GROUP\``)
  return { ...form, nodes, username, password, db: dbOf(path, form.kind), group }
}

/** `host:port` of the nodes, for messages. */
export function redisName({ nodes }: RedisAddress): string {
  return nodes.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(", ")
}

function credentialsOf(text: string): [string | undefined, string | undefined] {
  const colon = text.indexOf(":")
  const decode = (part: string) => {
    try {
      return part === "" ? undefined : decodeURIComponent(part)
    } catch {
      throw new Error("the user or password in the URL of Redis has a `%` that encodes nothing; write `%25`")
    }
  }
  return colon < 0 ? [undefined, decode(text)] : [decode(text.slice(0, colon)), decode(text.slice(colon + 1))]
}

function nodeOf(text: string, usualPort: number): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? usualPort : Number(digits)
  if (host === undefined || port < 1 || port > 65_535)
    throw new Error("a host in the URL of Redis is not understood; write `HOST:PORT`, IPv6 in brackets")
  return { host, port }
}

function dbOf(path: readonly string[], kind: RedisAddress["kind"]): number {
  const [db = "0", more] = path
  if (!/^\d{1,5}$/.test(db) || more !== undefined)
    throw new Error("the path in the URL of Redis is not a database number, such as `/0`")
  if (kind === "cluster" && db !== "0")
    throw new Error("Redis Cluster has only database 0; remove the number")
  return Number(db)
}
