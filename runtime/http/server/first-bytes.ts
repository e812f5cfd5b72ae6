import type { Socket } from "node:net"

/** What to do with the first bytes of a connection. */
export interface FirstBytes<Found> {
  /** Says what the bytes are; `more`: there are not enough yet. */
  judge(bytes: Buffer): Found | "more"
  /** The bytes were taken from the socket: `unshift` returns what others have to read. */
  take(found: Found, bytes: Buffer): void
  /** The client has closed the connection before that. */
  closed(): void
}

/** Reads the beginning of a connection until it is known what it is. It waits without end: a time limit is the caller's. */
export function readFirstBytes<Found>(socket: Socket, { judge, take, closed }: FirstBytes<Found>): void {
  const look = (before: Buffer | undefined): void => {
    const read = socket.read() as Buffer | null
    if (read === null) {
      closed()
      return
    }
    const bytes = before === undefined ? read : Buffer.concat([before, read])
    const found = judge(bytes)
    if (found === "more") socket.once("readable", () => look(bytes))
    else take(found, bytes)
  }
  socket.once("readable", () => look(undefined))
}
