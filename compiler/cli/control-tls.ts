import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { pairProblem } from "../../runtime/plan/certificate-pair.ts"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

/** How a connection to the control API is secured: PEM texts. */
export interface ControlTls {
  readonly trust: { readonly ca: string; readonly insecure: false } | undefined
  readonly certificate: { readonly cert: string; readonly key: string } | undefined
}

/** Options of every command that connects to a running Sallyport, and the variables they replace. */
export const connectionOptions = [
  ["--control <url>", "URL of the control API (default: SALLYPORT_CONTROL_URL)", "SALLYPORT_CONTROL_URL"],
  [
    "--ca <file>",
    "authorities (PEM) of its certificate (default: those of the system)",
    "SALLYPORT_CONTROL_CA",
  ],
  ["--cert <file>", "client certificate (PEM) to show it", "SALLYPORT_CONTROL_CERT"],
  ["--cert-key <file>", "private key (PEM) of the client certificate", "SALLYPORT_CONTROL_CERT_KEY"],
] as const

/** The environment with the connection options of the command line. */
export function withConnection(io: Io, options: Readonly<Record<string, unknown>>): Io {
  const env: Record<string, string | undefined> = { ...io.env }
  for (const [flags, , variable] of connectionOptions) {
    const name = flags
      .slice(2, flags.indexOf(" "))
      .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const given = options[name]
    if (typeof given === "string") env[variable] = given
  }
  return { ...io, env }
}

/**
 * Reads the files for a TLS connection.
 * @throws CliError for a file that cannot be read, for half of a client certificate, and for a key that does not belong to it
 */
export async function controlTlsOf(io: Io): Promise<ControlTls> {
  const [ca, cert, key] = await Promise.all([
    pemOf(io, "SALLYPORT_CONTROL_CA", "--ca"),
    pemOf(io, "SALLYPORT_CONTROL_CERT", "--cert"),
    pemOf(io, "SALLYPORT_CONTROL_CERT_KEY", "--cert-key"),
  ])
  if ((cert === undefined) !== (key === undefined))
    throw new CliError(
      "a client certificate needs its private key, and one of them is missing",
      "Give both: `--cert FILE --cert-key FILE`, or SALLYPORT_CONTROL_CERT and SALLYPORT_CONTROL_CERT_KEY.",
    )
  if (cert !== undefined && key !== undefined) {
    const [certFile = "", keyFile = ""] = [
      io.env["SALLYPORT_CONTROL_CERT"],
      io.env["SALLYPORT_CONTROL_CERT_KEY"],
    ]
    const problem = pairProblem({ cert, key }, { cert: certFile, key: keyFile })
    if (problem !== undefined) throw new CliError(problem, "Give a pair with --cert and --cert-key.")
  }
  return {
    trust: ca === undefined ? undefined : { ca, insecure: false },
    certificate: cert === undefined || key === undefined ? undefined : { cert, key },
  }
}

async function pemOf(io: Io, variable: string, option: string): Promise<string | undefined> {
  const file = io.env[variable]
  if (file === undefined || file === "") return undefined
  const text = await readFile(resolve(io.cwd, file), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `${file} cannot be read (${error.code ?? error.message})`,
      `Give a PEM file with ${option} or ${variable}.`,
    )
  })
  if (text.includes("-----BEGIN ")) return text
  throw new CliError(`${file} contains no PEM`, `Give a PEM file with ${option} or ${variable}.`)
}

/** What a failed handshake means, by Node's error code. `help` contains the remedy. */
const handshakeWords: Readonly<Record<string, readonly [message: string, help: string]>> = {
  CERT_HAS_EXPIRED: [
    "its certificate has expired",
    "Renew the certificate of the control listener; a replaced file is read without a restart.",
  ],
  CERT_NOT_YET_VALID: [
    "its certificate is not valid yet",
    "Check the clock of this machine, and the certificate of the control listener.",
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "its certificate is for other host names",
    "Use a host name of the certificate in the URL, or renew the certificate with this name.",
  ],
  ERR_SSL_WRONG_VERSION_NUMBER: ["it does not use TLS", "Write `http:` in the URL."],
  EPROTO: ["it does not use TLS, or no version that both sides have", "Write `http:` in the URL."],
  ...Object.fromEntries(
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "CERT_SIGNATURE_FAILURE",
    ].map((code) => [
      code,
      [
        "no known authority signed its certificate",
        "Give the authority that signed it with `--ca FILE` or SALLYPORT_CONTROL_CA.",
      ] as const,
    ]),
  ),
}

/** The error for a URL whose server cannot be trusted or understood; undefined for other codes. */
export function handshakeError(url: string, code: string): CliError | undefined {
  const [message, help] = handshakeWords[code] ?? []
  return message === undefined
    ? undefined
    : new CliError(`cannot connect to ${url}: ${message} (${code})`, help)
}
