import type { Socket } from "node:net"
import { EventCounts } from "./event-counts.ts"
import { readFirstBytes } from "./first-bytes.ts"
import { proxyHeader } from "./proxy-header.ts"

/** Why a connection was closed before TLS or HTTP. */
export type ConnectionRefusal = "too-many" | "proxy-header"

/** What happens to an accepted connection before TLS and HTTP. */
export interface DoorRules {
  /** Whether connections from this address begin with a header of the PROXY protocol. Absent: none does. */
  readonly isProxy: ((address: string) => boolean) | undefined
  /** Counts a connection from an address; undefined when it has too many. The result is called when it is closed. */
  readonly admit: ((address: string) => (() => void) | undefined) | undefined
  refused(reason: ConnectionRefusal): void
}

/** A proxy sends the header at once. */
const headerMs = 5_000

/** Takes an accepted connection: reads the address that its proxy reports, and counts it. */
export function openDoor(socket: Socket, rules: DoorRules, serve: (socket: Socket) => void): void {
  const peer = socket.remoteAddress ?? ""
  const enter = (): boolean => {
    const leave = rules.admit === undefined ? nothing : rules.admit(socket.remoteAddress ?? "")
    if (leave === undefined) {
      rules.refused("too-many")
      socket.destroy()
      return false
    }
    if (leave !== nothing) socket.once("close", leave)
    return true
  }
  if (rules.isProxy?.(peer) !== true) {
    if (enter()) serve(socket)
    return
  }
  readHeader(socket, rules, () => {
    if (!enter()) return
    // Only now the stream knows that nobody waits for `readable`: the HTTP server reads by events.
    process.nextTick(() => {
      if (!socket.destroyed) serve(socket)
    })
  })
}

/** Connections of the listeners of one side that were closed before TLS and HTTP, by reason. */
export class ConnectionRefusals extends EventCounts<ConnectionRefusal> {}

function nothing(): void {}

function readHeader(socket: Socket, { refused }: DoorRules, done: () => void): void {
  const refuse = (): void => {
    refused("proxy-header")
    socket.destroy()
  }
  const late = setTimeout(refuse, headerMs)
  const onError = (): unknown => socket.destroy()
  socket.once("error", onError)
  socket.once("close", () => clearTimeout(late))
  readFirstBytes(socket, {
    judge: (bytes) => proxyHeader(bytes),
    take(header, bytes) {
      clearTimeout(late)
      if (header === undefined) {
        refuse()
        return
      }
      socket.off("error", onError)
      if (bytes.length > header.size) socket.unshift(bytes.subarray(header.size))
      if (header.address !== undefined) setAddress(socket, header.address)
      done()
    },
    closed: refuse,
  })
}

const reported = new Map<string, string>()

/** From now on the connection has this address, also for TLS on it, which asks the system again. */
function setAddress(socket: Socket, address: string): void {
  const key = peerKey(socket)
  reported.set(key, address)
  socket.once("close", () => reported.delete(key))
  Object.defineProperty(socket, "remoteAddress", { value: address })
}

/** Gives a TLS connection the address that a proxy reported for the connection below it. */
export function inheritAddress(socket: Socket): void {
  if (reported.size === 0) return
  const address = reported.get(peerKey(socket))
  if (address !== undefined) Object.defineProperty(socket, "remoteAddress", { value: address })
}

/** Both ends, which identify a connection of TCP. */
function peerKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
