import { connect } from "node:tls"
import { cpuOf, type Round } from "../gateway/load.ts"
import type { Running } from "../gateway/servers.ts"

const inProgressMax = 16

/** Makes this many whole TLS 1.3 handshakes, without resumption, up to 16 at a time. Nothing is asked afterwards. */
export async function shakeHands(
  { port, pid }: Pick<Running, "port" | "pid">,
  ca: string,
  count: number,
): Promise<Round> {
  const before = cpuOf(pid)
  const start = performance.now()
  const micros: number[] = []
  let left = count
  let failed = 0
  const worker = async () => {
    while (left > 0) {
      left -= 1
      const from = performance.now()
      if (await shakeHand(port, ca)) micros.push((performance.now() - from) * 1000)
      else failed += 1
    }
  }
  await Promise.all(Array.from({ length: inProgressMax }, worker))
  const seconds = (performance.now() - start) / 1000
  micros.sort((a, b) => a - b)
  const at = (share: number): number => micros[Math.floor(micros.length * share)] ?? Number.NaN
  return {
    perSecond: count / seconds,
    cpuMicros: (cpuOf(pid) - before) / count,
    p50: at(0.5),
    p99: at(0.99),
    failed,
  }
}

/** Whether a handshake was completed, with a certificate of this authority for `localhost`. */
function shakeHand(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca, minVersion: "TLSv1.3" })
    socket.once("secureConnect", () => {
      socket.destroy()
      resolve(socket.authorized)
    })
    socket.once("error", () => resolve(false))
  })
}
