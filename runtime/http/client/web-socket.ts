import { createHash } from "node:crypto"
import { type IncomingMessage, request as sendRequest } from "node:http"
import type { Socket } from "node:net"
import type { ByteSocket } from "../byte-socket.ts"
import { connect, type Endpoint, openedEvent } from "./connections.ts"

/** RFC 6455 §1.3. */
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/** The connection of an upgraded server, and the bytes after the head of its response. */
export interface UpgradedSocket {
  readonly socket: ByteSocket
  readonly head: Buffer
}

/** A request for a WebSocket. */
export interface UpgradeRequest {
  /** Path and query, as sent. */
  readonly path: string
  /** Lower-case names and values alternate, with Host and `sec-websocket-key`; without Connection and Upgrade. */
  readonly fields: readonly string[]
  /** The value of `sec-websocket-key`. */
  readonly key: string
}

/** A request for a WebSocket on its way. */
export interface OpeningWebSocket {
  /** Gives it up. `onError` follows, unless the result has arrived. */
  destroy(): unknown
}

/** A response without an upgrade, as `node:http` has it. */
export interface UpgradeResponse {
  readonly statusCode?: number | undefined
  /** Names as sent and values alternate. */
  readonly rawHeaders: string[]
  on(event: "data", listener: (chunk: Buffer) => void): unknown
  once(event: "end", listener: () => void): unknown
  once(event: "error", listener: (error: Error) => void): unknown
  pause(): unknown
  resume(): unknown
}

/** Receives the result: one of the first three, or an error. */
export interface UpgradeReceiver {
  /** 101 with the right key. `rawFields`: names as sent and values alternate. */
  onUpgrade(upgraded: UpgradedSocket, rawFields: readonly string[]): void
  /** 101 without the right key: the server has not understood the upgrade, and a tunnel would let a client bypass the gateway. The connection is closed. */
  onFalseUpgrade(): void
  /** Any other response. */
  onResponse(response: UpgradeResponse): void
  /** `reached`: the connection was open. May follow the other events when the connection breaks. */
  onError(error: NodeJS.ErrnoException, reached: boolean): void
}

/** Requests a WebSocket (RFC 6455 §4.1) on a new connection. */
export function requestWebSocket(
  endpoint: Endpoint,
  { path, fields, key }: UpgradeRequest,
  receiver: UpgradeReceiver,
): OpeningWebSocket {
  let reached = false
  const headers = [...fields, "connection", "Upgrade", "upgrade", "websocket"]
  const sent = sendRequest({
    method: "GET",
    path,
    // The types allow only objects, but Node also accepts the flat form of `rawHeaders`.
    headers: headers as unknown as Record<string, string>,
    setHost: false,
    // With `createConnection` and without an agent, only this request uses the connection.
    createConnection: (_options, done) => {
      const socket = connect(endpoint)
      const failed = (error: Error) => done(error, socket)
      socket.once("error", failed).once(openedEvent(endpoint), () => {
        socket.off("error", failed)
        reached = true
        done(null as unknown as Error, socket)
      })
      return undefined as unknown as Socket
    },
  })
  sent.on("upgrade", (answer, socket, head) => {
    if (isTrue(answer, key)) receiver.onUpgrade({ socket: socket as Socket, head }, answer.rawHeaders)
    else {
      socket.destroy()
      receiver.onFalseUpgrade()
    }
  })
  sent.on("response", (answer) => receiver.onResponse(answer))
  sent.on("error", (error) => receiver.onError(error, reached))
  sent.end()
  return sent
}

/** Only the right key proves that the server has understood the upgrade (RFC 6455 §4.2.2). */
function isTrue({ headers }: IncomingMessage, key: string): boolean {
  return (
    headers["sec-websocket-accept"] === webSocketAccept(key) && headers.upgrade?.toLowerCase() === "websocket"
  )
}

/** The `sec-websocket-accept` with which a server shows that it has understood the upgrade with this key (RFC 6455 §4.2.2). */
export function webSocketAccept(key: string): string {
  return createHash("sha1")
    .update(key + acceptSuffix)
    .digest("base64")
}
