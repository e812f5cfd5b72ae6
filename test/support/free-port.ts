import { createServer } from "node:net"

/** Below those the system gives to connections of its own (32768 and up): nobody gets it by chance before it is listened on. */
const [from, to] = [12_000, 32_000]
const given = new Set<number>()

/** A port nobody listens on now, and that this process was not given before. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = from + Math.floor(Math.random() * (to - from))
    if (given.has(port)) continue
    given.add(port)
    if (await canListen(port, host)) return port
  }
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
