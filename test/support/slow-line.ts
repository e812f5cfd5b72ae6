import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"

/** A line to a port of this machine on which each message takes a while. */
export interface SlowLine {
  readonly port: number
  close(): void
}

/** Opens one; `ms`: how long a message takes in each direction. */
export async function openSlowLine(to: number, ms: number): Promise<SlowLine> {
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1")
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (chunk) => setTimeout(() => other.write(chunk), ms))
      from.on("error", () => other.destroy())
      from.on("close", () => other.destroy())
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
