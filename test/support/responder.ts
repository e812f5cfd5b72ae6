import { execFile } from "node:child_process"
import { once } from "node:events"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

/** What `openssl ocsp` says about a certificate, and who signs it. */
export interface Saying {
  /** Serial numbers (hexadecimal) with `V` (valid) or `R` (revoked). */
  readonly serials: Readonly<Record<string, "V" | "R">>
  /** Name of the certificate that signs (default: `ca`). */
  readonly signer?: string
  /** For how many days it is valid (default: 7). */
  readonly days?: number
}

/** An OCSP responder by HTTP: openssl makes its responses, from an authority's files in a folder. */
export class Responder {
  /** Replaces what openssl would say. */
  fault: { readonly status: number; readonly body: Buffer } | undefined
  saying: Saying = { serials: {} }
  requests = 0
  readonly #folder: string
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      this.requests += 1
      void this.#answer(Buffer.concat(parts)).then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/ocsp-response" }).end(body)
      })
    })
  })

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Starts it. Returns its URL. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ocsp`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** What openssl answers to a request. */
  async #answer(request: Buffer): Promise<{ readonly status: number; readonly body: Buffer }> {
    if (this.fault !== undefined) return this.fault
    const { serials, signer = "ca", days = 7 } = this.saying
    const own = join(this.#folder, `ocsp-${this.requests}`)
    const line = ([serial, state]: [string, string]) =>
      [state, "300101000000Z", state === "R" ? "250101000000Z" : "", serial, "unknown", `/CN=${serial}`].join(
        "\t",
      )
    writeFileSync(
      `${own}.index`,
      Object.entries(serials)
        .map((each) => `${line(each)}\n`)
        .join(""),
    )
    writeFileSync(`${own}.request`, request)
    const at = (name: string) => join(this.#folder, name)
    await new Promise<void>((resolve, reject) => {
      const args = ["ocsp", "-index", `${own}.index`, "-CA", at("ca.pem"), "-reqin", `${own}.request`]
      args.push("-rsigner", at(`${signer}.pem`), "-rkey", at(`${signer}.key`), "-ndays", String(days))
      execFile("openssl", [...args, "-respout", `${own}.response`], (error) =>
        error === null ? resolve() : reject(error),
      )
    })
    const body = readFileSync(`${own}.response`)
    for (const kind of ["index", "request", "response"]) rmSync(`${own}.${kind}`)
    return { status: 200, body }
  }
}
