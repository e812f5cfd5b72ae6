import type { Socket } from "node:net"
import { readFirstBytes } from "../first-bytes.ts"

/** What every HTTP/2 connection begins with (RFC 9113 §3.4). No request of HTTP/1.1 begins with its first word. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1")
const enoughBytes = 4

/** Reads the first bytes of an unencrypted connection and passes it on with them. It is closed when they do not arrive in time. */
export function onFirstBytes(socket: Socket, waitMs: number, take: (isHttp2: boolean) => void): void {
  const late = setTimeout(() => socket.destroy(), waitMs)
  const drop = (): void => {
    clearTimeout(late)
    socket.destroy()
  }
  socket.once("error", drop)
  socket.once("close", drop)
  readFirstBytes(socket, {
    judge: startsHttp2,
    take(isHttp2, bytes) {
      clearTimeout(late)
      socket.off("error", drop)
      socket.off("close", drop)
      socket.unshift(bytes)
      take(isHttp2)
    },
    closed: drop,
  })
}

function startsHttp2(bytes: Buffer): boolean | "more" {
  const first = bytes.subarray(0, enoughBytes)
  const isHttp2 = preface.subarray(0, first.length).equals(first)
  return isHttp2 && first.length < enoughBytes ? "more" : isHttp2
}
