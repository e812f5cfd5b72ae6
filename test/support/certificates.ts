import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"

/** Files of a certificate and its key, with the PEM of its authority. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate authority in a folder, which signs certificates with openssl. */
export class Authority {
  readonly #folder: string
  readonly #ca: CertificateFiles

  constructor(folder: string) {
    this.#folder = folder
    this.#ca = this.#files("ca")
    this.#openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "30",
      "-subj",
      "/CN=Test authority",
      "-keyout",
      this.#ca.key,
      "-out",
      this.#ca.cert,
    )
  }

  /** PEM of the authority, for clients. */
  get pem(): string {
    return readFileSync(this.#ca.cert, "utf8")
  }

  /** Signs a certificate for host names (`*.example.com` too); replaces the files of the same name. */
  sign(name: string, hosts: readonly string[], { days = 30 } = {}): CertificateFiles {
    const files = this.#files(name)
    const [request, extensions] = [join(this.#folder, `${name}.csr`), join(this.#folder, `${name}.ext`)]
    writeFileSync(extensions, `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(",")}\n`)
    this.#openssl(
      "req",
      "-new",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      files.key,
      "-out",
      request,
    )
    this.#openssl(
      "x509",
      "-req",
      "-in",
      request,
      "-CA",
      this.#ca.cert,
      "-CAkey",
      this.#ca.key,
      "-CAcreateserial",
      "-days",
      String(days),
      "-extfile",
      extensions,
      "-out",
      files.cert,
    )
    return files
  }

  #files(name: string): CertificateFiles {
    return { cert: join(this.#folder, `${name}.pem`), key: join(this.#folder, `${name}.key`) }
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] })
  }
}

/** A response by HTTPS: its status, and the fingerprint of the certificate that the server showed. */
export interface SecuredAnswer {
  readonly status: number | undefined
  readonly certificate: string
}

/** Requests a path of `own.example` at a port of this machine, over a new connection. */
export function getSecured(port: number, path: string, ca: string): Promise<SecuredAnswer> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, ca, servername: "own.example", agent: false } as const
    const sent = request(options, (response) => {
      const { fingerprint256: certificate } = (response.socket as TLSSocket).getPeerCertificate()
      response.resume()
      response.on("end", () => resolve({ status: response.statusCode, certificate }))
    })
    sent.on("error", reject)
    sent.end()
  })
}
