import { execFileSync } from "node:child_process"
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
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

  /**
   * Signs a certificate for host names (`*.example.com` too); replaces the files of the same name. `more`: lines of openssl's configuration.
   * `withChain`: the file also contains the authority's certificate.
   */
  sign(
    name: string,
    hosts: readonly string[],
    { days = 30, more = [] as readonly string[], withChain = false } = {},
  ): CertificateFiles {
    const files = this.#files(name)
    const [request, extensions] = [join(this.#folder, `${name}.csr`), join(this.#folder, `${name}.ext`)]
    const names = `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(",")}`
    writeFileSync(extensions, `${[names, ...more].join("\n")}\n`)
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
    if (withChain) appendFileSync(files.cert, this.pem)
    return files
  }

  /** Signs a certificate of a client. `subject`: `/O=Acme/CN=orders`; `extensions`: lines of openssl's configuration. */
  signClient(
    name: string,
    subject: string,
    extensions: readonly string[] = [],
    signer = "ca",
  ): CertificateFiles {
    return this.#signWith(name, subject, ["extendedKeyUsage=clientAuth", ...extensions], signer)
  }

  /** An authority below this one, which `signClient` and `revocationList` can use as signer. */
  signAuthority(name: string): CertificateFiles {
    return this.#signWith(name, `/CN=${name}`, [
      "basicConstraints=critical,CA:TRUE",
      "keyUsage=keyCertSign,cRLSign",
    ])
  }

  /** Writes the revocation list `NAME.crl` of a signer. `expired`: its next version was to be issued in 2020. */
  revocationList(name: string, revoked: readonly string[], { signer = "ca", expired = false } = {}): string {
    const [list, index, settings] = [`${name}.crl`, `${name}.index`, `${name}.cnf`].map((file) =>
      join(this.#folder, file),
    ) as [string, string, string]
    const { cert, key } = this.#files(signer)
    writeFileSync(index, "")
    writeFileSync(settings, `[ca]\ndefault_ca=own\n[own]\ndatabase=${index}\ndefault_md=sha256\n`)
    const ca = ["ca", "-config", settings, "-cert", cert, "-keyfile", key] as const
    for (const each of revoked) this.#openssl(...ca, "-revoke", this.#files(each).cert)
    const times = expired
      ? ["-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z"]
      : ["-crldays", "10"]
    this.#openssl(...ca, "-gencrl", ...times, "-out", list)
    return list
  }

  #signWith(name: string, subject: string, extensions: readonly string[], signer = "ca"): CertificateFiles {
    const files = this.#files(name)
    const [request, extended] = [join(this.#folder, `${name}.csr`), join(this.#folder, `${name}.ext`)]
    const { cert, key } = this.#files(signer)
    writeFileSync(extended, `${extensions.join("\n")}\n`)
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"] as const
    this.#openssl("req", "-new", ...curve, "-subj", subject, "-keyout", files.key, "-out", request)
    this.#openssl(
      ...["x509", "-req", "-in", request, "-CA", cert, "-CAkey", key, "-CAcreateserial"],
      ...["-days", "30", "-extfile", extended, "-out", files.cert],
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
