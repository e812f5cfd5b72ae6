import { once } from "node:events"
import { type AddressInfo, Server } from "node:net"

/** Host and port to listen on. */
interface Where {
  readonly host: string
  readonly port: number
}

/** A server of ours that listens, and where: the address itself, though a name was asked for. */
export interface Bound<Kind extends Server = Server> {
  readonly server: Kind
  readonly address: Where
}

/** One that was opened, and those that gave up its address for it: they have stopped listening and go on with the connections they have. */
export interface Opened<Kind extends Server = Server> extends Bound<Kind> {
  readonly before: readonly Bound[]
}

/** Connections the system has taken for a server before it is looked for them no longer. */
const turnsMax = 1_000

/**
 * Opens a server at an address. Two addresses of one port may exclude each other (`127.0.0.1:8000` and `0.0.0.0:8000`, `[::]:8000`), and the system tells only who tries: where it refuses, those of
 * `leaving` with this port stop listening first. No connection of theirs ends, what the system has taken for them is taken, and between them and the new one are a few microseconds.
 * @throws the system's error (`EADDRINUSE`, `EACCES` …); then those listen again.
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

/** Stops listening for good, so that those listen again that gave up their address; connections go on. @throws the system's error when somebody else was quicker. */
export async function giveBack({ server, before }: Opened): Promise<void> {
  await stopListening(server)
  for (const each of before) await listen(each.server, each.address)
}

/** Does a connection that reached `local` belong to one of these addresses? */
export function isReachedBy(addresses: readonly Where[], local = ""): boolean {
  const reached = local.replace(/^::ffff:(?=\d+\.)/, "")
  return addresses.some(
    ({ host }) => host === "::" || host === reached || (host === "0.0.0.0" && !reached.includes(":")),
  )
}

async function listen<Kind extends Server>(server: Kind, { host, port }: Where): Promise<Bound<Kind>> {
  server.listen({ host, port })
  await once(server, "listening")
  const bound = server.address() as AddressInfo
  return { server, address: { host: bound.address, port: bound.port } }
}

/** Node takes one connection in each turn: those that still wait when the socket closes would be reset. */
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
  // The HTTP server's own `close` would end idle connections as well.
  Server.prototype.close.call(server)
}
