import { createHash } from "node:crypto"
import { type ClientRequest, type IncomingMessage, request as sendRequest } from "node:http"
import type { Socket } from "node:net"
import { connect, type Endpoint, openedEvent } from "./connections.ts"

/** RFC 6455 §1.3. */
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/** The connection of a server that was upgraded, and what came behind the head of its response. */
export interface UpgradedSocket {
  readonly socket: Socket
  readonly head: Buffer
}

/** A request for a WebSocket. */
export interface UpgradeRequest {
  /** Path and query, as they are sent. */
  readonly path: string
  /** Names in lower case and values in turn, with Host and `sec-websocket-key`; without Connection and Upgrade. */
  readonly fields: readonly string[]
  /** The value of `sec-websocket-key`. */
  readonly key: string
}

/** Told of what becomes of it: one of the three. */
export interface UpgradeReceiver {
  /** 101 with the right key. `rawFields`: names as sent and values, in turn. */
  onUpgrade(upgraded: UpgradedSocket, rawFields: readonly string[]): void
  /** 101 without having understood: who takes it for an upgrade would let a client speak to the server past the gateway. The connection is closed. */
  onFalseUpgrade(): void
  /** Another answer. */
  onResponse(response: IncomingMessage): void
  /** `reached`: there was a connection. May also come behind the others, when the connection breaks. */
  onError(error: NodeJS.ErrnoException, reached: boolean): void
}

/** Asks for a WebSocket (RFC 6455 §4.1) on a connection of its own. The request returned can be destroyed. */
export function requestWebSocket(
  endpoint: Endpoint,
  { path, fields, key }: UpgradeRequest,
  receiver: UpgradeReceiver,
): ClientRequest {
  let reached = false
  const headers = [...fields, "connection", "Upgrade", "upgrade", "websocket"]
  const sent = sendRequest({
    method: "GET",
    path,
    // The types know objects only; Node takes the flat form of `rawHeaders` too.
    headers: headers as unknown as Record<string, string>,
    setHost: false,
    // With `createConnection` and no agent the connection is this request's alone.
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

/** Only the right key says that the server has understood (RFC 6455 §4.2.2). */
function isTrue({ headers }: IncomingMessage, key: string): boolean {
  const accept = createHash("sha1")
    .update(key + acceptSuffix)
    .digest("base64")
  return headers["sec-websocket-accept"] === accept && headers.upgrade?.toLowerCase() === "websocket"
}
