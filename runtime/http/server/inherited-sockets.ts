import { lookup } from "node:dns/promises"
import { type AddressInfo, Socket } from "node:net"
import { addressText } from "../../plan/resources.ts"

/** The first file descriptor that a supervisor passes (sd_listen_fds(3)). */
const firstDescriptor = 3

interface InheritedSocket {
  readonly host: string
  readonly port: number
  /** Holds the descriptor: while it exists, the descriptor is not closed. */
  readonly socket: Socket
}

/** What `adoptSockets` found. */
export interface AdoptedSockets {
  /** `host:port` of each socket that listeners can use. */
  readonly addresses: readonly string[]
  /** The descriptors of all passed sockets, for child processes that use them as well. */
  readonly descriptors: readonly number[]
  /** Why sockets were passed but cannot be used. */
  readonly troubles: readonly string[]
}

/** File descriptors belong to the process, and each can be used once: so there is one list for all listeners. */
const waiting: InheritedSocket[] = []

/**
 * Takes over listening sockets of a supervisor such as systemd, which stay open while this process restarts. The protocol is that of
 * sd_listen_fds(3): `LISTEN_FDS` sockets from descriptor 3 on, for the process `LISTEN_PID`. Call it once, before the first listener opens. A
 * listener with the address of such a socket then uses it instead of opening its own.
 */
export function adoptSockets(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
  first = firstDescriptor,
): AdoptedSockets {
  const { LISTEN_FDS: count, LISTEN_PID: target } = env
  if (!count) return { addresses: [], descriptors: [], troubles: [] }
  if (target !== String(pid))
    return refused(`LISTEN_PID is ${target ?? "not set"}, but this process is ${pid}`)
  if (!/^[1-9]\d{0,2}$/.test(count)) return refused(`LISTEN_FDS is not a number of sockets: ${count}`)
  const descriptors = Array.from({ length: Number(count) }, (_, index) => first + index)
  const troubles = descriptors.flatMap((descriptor) => adopt(descriptor) ?? [])
  return { addresses: unusedSockets(), descriptors, troubles }
}

function refused(trouble: string): AdoptedSockets {
  return { addresses: [], descriptors: [], troubles: [trouble] }
}

/** Returns why the descriptor cannot be used. */
function adopt(descriptor: number): string | undefined {
  let address: Partial<AddressInfo>
  let socket: Socket
  try {
    // Reads the address without accepting connections; that begins with `listen`.
    socket = new Socket({ fd: descriptor, readable: false, writable: false })
    address = socket.address() as Partial<AddressInfo>
  } catch (error) {
    return `descriptor ${descriptor} is not a TCP socket (${(error as NodeJS.ErrnoException).code ?? String(error)})`
  }
  const { address: host, port } = address
  if (host === undefined || port === undefined)
    return `descriptor ${descriptor} is not a TCP socket with an address`
  waiting.push({ host, port, socket })
  return undefined
}

/** `host:port` of the inherited sockets that no listener has used. */
export function unusedSockets(): string[] {
  return waiting.map(addressText)
}

const anyHosts = new Set(["0.0.0.0", "::"])

/**
 * The inherited socket for an address, to pass to `Server.listen`, or undefined if the supervisor passed none for it. A host name matches the sockets of its addresses.
 * `0.0.0.0` and `::` match each other, because systemd opens `[::]` for both.
 */
export async function takeInherited(address: {
  readonly host: string
  readonly port: number
}): Promise<Socket | undefined> {
  const samePort = waiting.filter(({ port }) => port === address.port)
  if (samePort.length === 0) return undefined
  const hosts = new Set([address.host, ...(await addressesOf(address.host))])
  const isAny = [...hosts].some((host) => anyHosts.has(host))
  const found = samePort.find(({ host }) => hosts.has(host) || (isAny && anyHosts.has(host)))
  if (found === undefined) return undefined
  waiting.splice(waiting.indexOf(found), 1)
  return found.socket
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}
