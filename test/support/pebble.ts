import { type ChildProcess, spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:https"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Authority } from "./certificates.ts"
import { freePort } from "./free-port.ts"
import { programPath } from "./program.ts"
import { until } from "./until.ts"

/** What to do when there is none. */
export const pebbleMissing =
  "no Pebble: `go install github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.3`, or PEBBLE_BIN=/path/to/pebble"

/** Let's Encrypt's test server: `PEBBLE_BIN`, else where `go install` puts it; undefined when there is none. */
export function pebbleBinary(): string | undefined {
  return process.env["PEBBLE_BIN"] || programPath("pebble")
}

/** How a Pebble behaves. */
export interface PebbleOptions {
  /** The ports at which it validates hosts. */
  readonly httpPort: number
  readonly tlsPort: number
  /** Its variables, see Pebble's README: faults, sleeps. */
  readonly env?: Readonly<Record<string, string>>
  /** Keys of external accounts by id; then it registers no other accounts. */
  readonly externalAccounts?: Readonly<Record<string, string>>
  /** Validity of certificates in seconds (default: 90 days). */
  readonly validitySeconds?: number
}

/** A running Pebble on loopback ports. Every host name leads it to 127.0.0.1. */
export interface Pebble {
  readonly directory: string
  /** PEM file of the authority that signed the certificate of the directory's server. */
  readonly caFile: string
  /** PEM of the root that signs what it issues. */
  root(): Promise<string>
  /** Sets what it answers when asked when to renew a certificate (RFC 9773), as JSON. */
  suggest(cert: string, response: string): Promise<void>
  readonly output: readonly string[]
  stop(): Promise<void>
}

/** Starts a Pebble. Its directory is served by HTTPS with a certificate for `localhost`. */
export async function startPebble(binary: string, options: PebbleOptions): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), "pebble-"))
  const authority = new Authority(folder)
  const { cert, key } = authority.sign("pebble", ["localhost"])
  const [api, management] = [await freePort(), await freePort()]
  const dns = await startDns()
  const { httpPort, tlsPort, externalAccounts } = options
  const pebble = {
    listenAddress: `127.0.0.1:${api}`,
    managementListenAddress: `127.0.0.1:${management}`,
    ...{ certificate: cert, privateKey: key, httpPort, tlsPort, ocspResponderURL: "" },
    externalAccountBindingRequired: externalAccounts !== undefined,
    externalAccountMACKeys: externalAccounts ?? {},
    retryAfter: { authz: 1, order: 1 },
    profiles: {
      default: { description: "for tests", validityPeriod: options.validitySeconds ?? 90 * 86_400 },
    },
  }
  const config = join(folder, "pebble.json")
  writeFileSync(config, JSON.stringify({ pebble }))
  const child = spawn(binary, ["-config", config, "-dnsserver", `127.0.0.1:${dns.port}`], {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)))
  const ca = join(folder, "ca.pem")
  const read = (url: string) => fetched(url, readFileSync(ca, "utf8"))
  await until(() =>
    read(`https://localhost:${api}/dir`).then(
      () => true,
      () => false,
    ),
  )
  return {
    directory: `https://localhost:${api}/dir`,
    caFile: ca,
    root: () => read(`https://localhost:${management}/roots/0`),
    suggest: async (cert, response) => {
      const body = JSON.stringify({ Certificate: cert, ARIResponse: response })
      await fetched(`https://localhost:${management}/set-renewal-info/`, readFileSync(ca, "utf8"), body)
    },
    output,
    stop: async () => {
      await ended(child)
      await dns.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once("exit", resolve))
  child.kill()
  await exit
}

/** GET, or with a body POST. */
function fetched(url: string, ca: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST"
    const headers = { "content-type": "application/jose+json", "user-agent": "test" }
    const sent = request(url, { method, headers, agent: new Agent({ ca }) }, (response) => {
      let text = ""
      response.on("data", (chunk) => {
        text += chunk
      })
      response.on("end", () => resolve(text))
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

/** A DNS server on one port, for UDP and TCP, that knows one address for every name: 127.0.0.1. */
async function startDns(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const tcp = createServer((socket) => {
    let buffered = Buffer.alloc(0)
    socket.on("error", () => socket.destroy())
    socket.on("data", (chunk) => {
      buffered = Buffer.concat([buffered, chunk])
      if (buffered.length < 2 || buffered.length < 2 + buffered.readUInt16BE(0)) return
      const reply = dnsReply(buffered.subarray(2))
      const length = Buffer.alloc(2)
      length.writeUInt16BE(reply.length)
      socket.end(Buffer.concat([length, reply]))
    })
  })
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve))
  const { port } = tcp.address() as { readonly port: number }
  const udp = createSocket("udp4", (message, from) => udp.send(dnsReply(message), from.port, from.address))
  await new Promise<void>((resolve) => udp.bind(port, "127.0.0.1", resolve))
  return {
    port,
    stop: async () => {
      udp.close()
      await new Promise((resolve) => tcp.close(resolve))
    },
  }
}

/** The reply to a question (RFC 1035 §4.1): an A record for type A, and an empty list for other types. Names that end in `.away` do not exist. */
function dnsReply(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5
  const question = query.subarray(12, end)
  const type = query.readUInt16BE(end - 4)
  const isAway = question.includes(Buffer.from("\u0004away\u0000", "latin1"))
  const answer =
    type === 1 && !isAway ? Buffer.from("c00c00010001000000000004" + "7f000001", "hex") : Buffer.alloc(0)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(isAway ? 0x8583 : 0x8580, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(answer.length > 0 ? 1 : 0, 6)
  return Buffer.concat([head, question, answer])
}
