import { createSocket } from "node:dgram"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SystemPaths } from "../../runtime/http/names/system-files.ts"

/** What the server knows of a name. */
export interface Zone {
  readonly a?: readonly string[]
  /** Written in full: eight groups. */
  readonly aaaa?: readonly string[]
  readonly srv?: readonly {
    readonly priority: number
    readonly weight: number
    readonly port: number
    readonly name: string
  }[]
  /** Seconds (default: 1). */
  readonly ttl?: number
  /** Questions of these types are not answered (default: none). */
  readonly drops?: readonly ("A" | "AAAA" | "SRV")[]
  readonly delayMs?: number
  readonly code?: "SERVFAIL"
}

/** A name server on UDP that answers from a table. Names that are not in it do not exist. */
export interface DnsServer {
  readonly port: number
  /** Where `NameQuestions` reads: this server, and an empty hosts file. */
  readonly paths: SystemPaths
  /** Questions so far, in their order: `A orders.test`. */
  readonly asked: string[]
  set(name: string, zone: Zone | undefined): void
  /** Replaces a file of `paths`. */
  write(file: keyof SystemPaths, text: string): void
  stop(): Promise<void>
}

const types = { 1: "A", 28: "AAAA", 33: "SRV" } as const

export async function startDnsServer(options = ""): Promise<DnsServer> {
  const zones = new Map<string, Zone>()
  const asked: string[] = []
  let isOpen = true
  const udp = createSocket("udp4", (query, from) => {
    const { name, end } = readName(query)
    const type = types[query.readUInt16BE(end) as keyof typeof types]
    asked.push(`${type} ${name}`)
    const zone = zones.get(name)
    if (zone?.drops?.includes(type) === true) return
    const reply = replyTo(query, end + 4, type, zone)
    const answer = () => {
      // On a busy machine the test may be over.
      if (isOpen) udp.send(reply, from.port, from.address, () => undefined)
    }
    setTimeout(answer, zone?.delayMs ?? 0)
  })
  await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve))
  const { port } = udp.address()
  const folder = mkdtempSync(join(tmpdir(), "sallyport-names-"))
  const paths = {
    hosts: join(folder, "hosts"),
    resolver: join(folder, "resolv.conf"),
    sources: join(folder, "nsswitch.conf"),
  }
  const write = (file: keyof SystemPaths, text: string) => writeFileSync(paths[file], text)
  write("resolver", `nameserver 127.0.0.1:${port}\nsearch .\n${options}\n`)
  write("hosts", "")
  write("sources", "hosts: files dns\n")
  return {
    port,
    paths,
    asked,
    write,
    set: (name, zone) => {
      if (zone === undefined) zones.delete(name)
      else zones.set(name, zone)
    },
    stop: async () => {
      isOpen = false
      await new Promise<void>((resolve) => udp.close(resolve))
      rmSync(folder, { recursive: true })
    },
  }
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 }
}

/** A reply (RFC 1035 §4.1.1): NOERROR with the records of this type, which may be none, or NXDOMAIN. */
function replyTo(query: Buffer, end: number, type: "A" | "AAAA" | "SRV", zone: Zone | undefined): Buffer {
  const records = zone === undefined || zone.code !== undefined ? [] : dataOf(type, zone)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8580 | (zone === undefined ? 3 : zone.code === undefined ? 0 : 2), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  const answers = records.map((data) => {
    const fixed = Buffer.alloc(12)
    // The name is a pointer to the question.
    fixed.writeUInt16BE(0xc00c, 0)
    query.copy(fixed, 2, end - 4, end)
    fixed.writeUInt32BE(zone?.ttl ?? 1, 6)
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  return Buffer.concat([head, query.subarray(12, end), ...answers])
}

function dataOf(type: "A" | "AAAA" | "SRV", { a = [], aaaa = [], srv = [] }: Zone): readonly Buffer[] {
  if (type === "A") return a.map((address) => Buffer.from(address.split(".").map(Number)))
  if (type === "AAAA")
    return aaaa.map((address) =>
      Buffer.from(
        address
          .split(":")
          .map((group) => group.padStart(4, "0"))
          .join(""),
        "hex",
      ),
    )
  return srv.map(({ priority, weight, port, name }) => {
    const numbers = Buffer.alloc(6)
    for (const [index, number] of [priority, weight, port].entries()) numbers.writeUInt16BE(number, index * 2)
    const labels = name
      .split(".")
      .flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")])
    return Buffer.concat([numbers, ...(name === "" ? [] : labels), Buffer.from([0])])
  })
}
