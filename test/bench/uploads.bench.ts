// What slow uploads leave to others: requests of one backend at a steady rate, alone and beside 300 bodies that bring 150 bytes a second.
import { fork } from "node:child_process"
import { createServer, get } from "node:http"
import { connect } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { startGateway } from "../gateway/harness.ts"
import { freePort } from "../support/free-port.ts"
import { row } from "./gateway/report.ts"
import { type Running, runningOf } from "./gateway/servers.ts"

const seconds = Number(process.env["SALLYPORT_BENCH_UPLOAD_SECONDS"] ?? 20)
const perSecond = 75
const uploads = 300
const uploadBytesPerSecond = 150
/** How long the backend thinks about a request. */
const backendMs = 20
/** Of the requests of the quiet run, as many as must be answered in time beside the uploads. */
const bar = 0.95

interface Ports {
  readonly port: number
  readonly backendPort: number
}

const roles: Readonly<Record<string, (ports: Ports) => Promise<unknown>>> = {
  async backend({ backendPort }) {
    const server = createServer((request, response) => {
      request.resume().once("end", () => setTimeout(() => response.end("ok"), backendMs))
      request.once("error", () => undefined)
    })
    await new Promise<void>((resolve) => server.listen(backendPort, "127.0.0.1", resolve))
  },
  gateway: ({ port, backendPort }) =>
    startGateway({
      port,
      backends: { main: `http://127.0.0.1:${backendPort}` },
      routes: [{ method: "*", path: "/{rest*}" }],
    }),
}

/** Requests at the steady rate: how many were answered with 200, and the time of all but a hundredth of them in ms. */
async function good(port: number): Promise<{ answered: number; p99: number }> {
  const times: number[] = []
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    const from = performance.now()
    get({ port, host: "127.0.0.1", path: "/good", agent: false }, (response) => {
      response.resume().once("end", () => {
        if (response.statusCode === 200 && performance.now() < end) times.push(performance.now() - from)
      })
    }).once("error", () => undefined)
    await pause(1_000 / perSecond)
  }
  return {
    answered: times.length,
    p99: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0,
  }
}

/** Uploads without credentials; what the gateway ends is begun again. */
function attack(port: number): () => void {
  let over = false
  const begin = (): void => {
    if (over) return
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => undefined)
    socket.write("POST /up HTTP/1.1\r\nHost: gw\r\nContent-Length: 1000000\r\n\r\n")
    const timer = setInterval(() => {
      if (over) socket.destroy()
      else socket.write(Buffer.alloc(uploadBytesPerSecond))
    }, 1_000)
    socket.resume().on("close", () => {
      clearInterval(timer)
      begin()
    })
  }
  for (let at = 0; at < uploads; at += 1) begin()
  return () => {
    over = true
  }
}

async function measure(): Promise<void> {
  const ports: Ports = { port: await freePort(), backendPort: await freePort() }
  const running: Running[] = []
  try {
    for (const role of ["backend", "gateway"]) {
      const child = fork(fileURLToPath(import.meta.url), [role, JSON.stringify(ports)], {
        stdio: ["ignore", 2, 2, "ipc"],
      })
      running.push(runningOf(child, ports.port))
      await new Promise((resolve) => child.once("message", resolve))
    }
    const quiet = await good(ports.port)
    const stop = attack(ports.port)
    await pause(2_000)
    const beside = await good(ports.port)
    stop()
    const words = ({ answered, p99 }: typeof quiet) => ({
      value: answered,
      latency: `p99 ${p99.toFixed(0)} ms`,
    })
    row({ what: `requests answered in ${seconds} s`, ...words(quiet) })
    row({
      what: `the same beside ${uploads} uploads of ${uploadBytesPerSecond} bytes/s`,
      ...words(beside),
      bar: `≥ ${bar * 100} %`,
      ok: beside.answered >= bar * quiet.answered,
    })
  } finally {
    for (const server of running) await server.stop()
  }
}

const [role, ports] = process.argv.slice(2)
if (role === undefined) await measure()
else {
  await roles[role]?.(JSON.parse(ports as string) as Ports)
  process.send?.("ready")
}
