import { once } from "node:events"
import { type AddressInfo, Server } from "node:net"
import { takeInherited } from "./inherited-sockets.ts"

/** Host and port to listen on. */
interface Where {
  readonly host: string
  readonly port: number
}

/** A listening server and its actual address, also when it was configured by name. */
export interface Bound<Kind extends Server = Server> {
  readonly server: Kind
  readonly address: Where
}

/** An opened server, and the servers that released their address for it: they no longer listen, but their connections continue. */
export interface Opened<Kind extends Server = Server> extends Bound<Kind> {
  readonly before: readonly Bound[]
}

/** Maximum number of turns in which a closing server accepts the connections that are still queued. */
const turnsMax = 1_000

/**
 * Opens a server at an address. Two addresses with the same port may exclude each other (`127.0.0.1:8000` and `0.0.0.0:8000`, `[::]:8000`), and only
 * an attempt shows it. When the system refuses, the servers of `leaving` with this port first stop listening. Their connections continue, connections
 * in their queue are accepted, and the port is closed for only a few microseconds.
 * @throws the system's error (`EADDRINUSE`, `EACCES` …); the servers that stopped then listen again
 */
export async function openServer<Kind extends Server>(
  server: Kind,
  address: Where,
  leaving: readonly Bound[] = [],
): Promise<Opened<Kind>> {
  try {
    return { ...(await listen(server, address)), before: [] }
  } catch (error) {
    const before = leaving.filter((each) => each.server.listening && each.address.port === address.port)
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error
    for (const each of before) await stopListening(each.server)
    try {
      return { ...(await listen(server, address)), before }
    } catch (again) {
      for (const each of before) await listen(each.server, each.address)
      throw again
    }
  }
}

/**
 * Stops listening permanently, and lets the servers that released their address listen again; connections continue.
 * @throws the system's error when another process has taken such an address
 */
export async function giveBack({ server, before }: Opened): Promise<void> {
  await stopListening(server)
  for (const each of before) await listen(each.server, each.address)
}

/** Whether a connection to `local` belongs to one of these addresses. */
export function isReachedBy(addresses: readonly Where[], local = ""): boolean {
  const reached = local.replace(/^::ffff:(?=\d+\.)/, "")
  return addresses.some(
    ({ host }) => host === "::" || host === reached || (host === "0.0.0.0" && !reached.includes(":")),
  )
}

async function listen<Kind extends Server>(server: Kind, { host, port }: Where): Promise<Bound<Kind>> {
  const inherited = await takeInherited({ host, port })
  if (inherited === undefined) server.listen({ host, port })
  else server.listen(inherited)
  await once(server, "listening")
  const bound = server.address() as AddressInfo
  return { server, address: { host: bound.address, port: bound.port } }
}

/** Node accepts one connection per turn: those still in the queue when the socket closes would be reset. */
async function stopListening(server: Server): Promise<void> {
  let taken = true
  const note = () => {
    taken = true
  }
  server.on("connection", note)
  for (let turn = 0; taken && turn < turnsMax; turn++) {
    taken = false
    await new Promise(setImmediate)
  }
  server.off("connection", note)
  // `close` of the HTTP server would also close idle connections.
  Server.prototype.close.call(server)
}
