import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { type Listener, openListener } from "../../runtime/http/server/listener.ts"
import { TicketKeys } from "../../runtime/http/server/ticket-keys.ts"
import { ListenerTls } from "../../runtime/http/server/tls.ts"
import { Authority } from "../support/certificates.ts"

const periodMs = 12 * 3_600_000
let folder: string
let authority: Authority
const listeners: Listener[] = []
const sockets: TLSSocket[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ticket-keys-"))
  authority = new Authority(folder)
  authority.sign("own", ["own.example"])
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const listener of listeners.splice(0)) await listener.close(0)
})

afterAll(() => rmSync(folder, { recursive: true }))

test("processes with one seed have the same keys in each period, whenever they start", () => {
  let now = 1000 * periodMs
  const clock = () => now
  const first = new TicketKeys(undefined, clock)
  const second = new TicketKeys(first.seed, clock)
  const keys = [first.keyOf("a")]
  expect(second.keyOf("a")).toEqual(keys[0])
  now += 3 * periodMs
  // One that starts later gets a seed of the present period.
  const third = new TicketKeys(first.seed, clock)
  keys.push(first.keyOf("a"), first.keyOf("b"))
  expect([second.keyOf("a"), third.keyOf("a")]).toEqual([keys[1], keys[1]])
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(3)
  expect(first.period - 1000).toBe(3)
  // The earlier secret is gone: its key cannot be made again.
  now -= 2 * periodMs
  expect(first.keyOf("a")).toEqual(keys[1])
  expect(new TicketKeys(undefined, clock).keyOf("a")).not.toEqual(keys[1])
})

async function opened(keys: TicketKeys | undefined, name = "gateway 0.0.0.0:443"): Promise<Listener> {
  const pem = (kind: string) => readFileSync(join(folder, `own.${kind}`), "utf8")
  const tls = new ListenerTls({
    certificates: [{ name: "own", cert: pem("pem"), key: pem("key") }],
    ...{ profile: "intermediate", refusesUnknownHosts: false },
    tickets: keys && { keys, listener: name },
  })
  const listener = await openListener(
    { host: "127.0.0.1", port: 0 },
    {
      limits: { headerBytesMax: 16_384, headMs: 10_000, requestMs: 10_000 },
      service: { kind: "bare-handler", handle: ({ reply }) => void reply.end("served") },
      answerRaw: (socket) => socket.destroy(),
      transport: { tls },
    },
  )
  listeners.push(listener)
  return listener
}

function connected({ opened: { address } }: Listener, session?: Buffer): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { servername: "own.example", ca: authority.pem, maxVersion: "TLSv1.2" } as const
    const socket = connect({ ...options, port: address.port, host: "127.0.0.1", session }, () =>
      resolve(socket),
    ).once("error", reject)
    sockets.push(socket)
  })
}

test("a session is resumed in a process with the same seed, not elsewhere and not with later keys", async () => {
  let now = 1000 * periodMs
  const keys = new TicketKeys(undefined, () => now)
  const [first, second] = [await opened(keys), await opened(new TicketKeys(keys.seed, () => now))]
  const [apart, other] = [await opened(undefined), await opened(keys, "gateway 0.0.0.0:444")]
  const session = (await connected(first)).getSession()
  const isResumed = async (listener: Listener) => (await connected(listener, session)).isSessionReused()
  expect(await Promise.all([first, second, apart, other].map(isResumed))).toEqual([true, true, false, false])
  now += periodMs
  expect(await Promise.all([first, second].map(isResumed))).toEqual([false, false])
})
