import type { Socket } from "node:net"

/** What every HTTP/2 connection begins with (RFC 9113 §3.4). No request of HTTP/1.1 begins with its first word. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1")
const enoughBytes = 4

/** Reads the first bytes of an unencrypted connection and passes it on with them. It is closed when they do not arrive in time. */
export function onFirstBytes(socket: Socket, waitMs: number, take: (isHttp2: boolean) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  const late = setTimeout(() => socket.destroy(), waitMs)
  const drop = (): void => {
    clearTimeout(late)
    socket.destroy()
  }
  const look = (): void => {
    const read = socket.read() as Buffer | null
    if (read === null) {
      // The client has closed the connection.
      drop()
      return
    }
    bytes = Buffer.concat([bytes, read])
    const first = bytes.subarray(0, enoughBytes)
    const isHttp2 = preface.subarray(0, first.length).equals(first)
    if (isHttp2 && first.length < enoughBytes) {
      socket.once("readable", look)
      return
    }
    clearTimeout(late)
    socket.off("error", drop)
    socket.off("close", drop)
    socket.unshift(bytes)
    take(isHttp2)
  }
  socket.once("error", drop)
  socket.once("close", drop)
  socket.once("readable", look)
}
