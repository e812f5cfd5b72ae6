import { readFile } from "node:fs/promises"
import { connect, isIP, type Socket } from "node:net"
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls"
import { hostName, type ServerAddress, type ServerTls } from "./connection-url.ts"

/** Whether a connection is encrypted: never, always, or when the server offers it. */
export type Encryption = "plain" | "tls" | "tls-if-offered"

interface SocketOptions {
  readonly encryption: Encryption
  readonly tls: ServerTls
  readonly keepAliveMs: number | undefined
  /** Destroys the socket. */
  readonly signal: AbortSignal
  /** Called for each reply of the server on the way. */
  readonly onSign: () => void
}

/** The certificate of the server is not accepted, TLS is not offered, or a certificate file cannot be read. */
export class TlsFault extends Error {
  override readonly name = "TlsFault"
}

/** Asks the server whether it speaks TLS (SSLRequest: length 8, code 80877103). */
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const offered = "S".charCodeAt(0)
const notOffered = "N".charCodeAt(0)

/**
 * Connects to a server, encrypted as `encryption` says. Certificate files are read now, so a renewed file is used by the next connection.
 * @throws TlsFault, or Node's error of the socket
 */
export async function openSocket(address: ServerAddress, options: SocketOptions): Promise<Socket> {
  const { signal, encryption, tls, onSign, keepAliveMs } = options
  const isFolder = address.host.startsWith("/")
  const socket = isFolder
    ? connect({ path: `${address.host}/.s.PGSQL.${address.port}` })
    : connect({ host: address.address ?? address.host, port: address.port })
  // An `error` event without a listener ends the process, and the reader attaches its own only after this function.
  socket.on("error", () => undefined)
  const abort = () => {
    const isLate = (signal.reason as Error | undefined)?.name === "TimeoutError"
    socket.destroy(
      new Error(isLate ? "no connection within connect_timeout" : "the attempt to connect was given up"),
    )
  }
  signal.addEventListener("abort", abort)
  try {
    await eventOf(socket, "connect")
    onSign()
    if (keepAliveMs !== undefined) socket.setKeepAlive(true, keepAliveMs)
    socket.setNoDelay(true)
    // As in libpq, a Unix socket is never encrypted.
    if (encryption === "plain" || isFolder) return socket
    const isOffered = tls.negotiation === "direct" || (await offersTls(socket))
    onSign()
    if (isOffered) return await secured(socket, address, tls)
    if (encryption === "tls-if-offered") return socket
    throw new TlsFault(`${hostName(address)} does not offer TLS, which sslmode=${tls.mode} demands`)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener("abort", abort)
  }
}

async function offersTls(socket: Socket): Promise<boolean> {
  socket.write(tlsRequest)
  const reply = await eventOf<Buffer>(socket, "data")
  // More than one byte does not come from the server, but from a man in the middle who injected it before the encryption began (CVE-2021-23222).
  if (reply.length !== 1 || (reply[0] !== offered && reply[0] !== notOffered))
    throw new TlsFault("the server's reply to the request for TLS is not one")
  return reply[0] === offered
}

async function secured(socket: Socket, address: ServerAddress, tls: ServerTls): Promise<TLSSocket> {
  const { host } = address
  const direct = tls.negotiation === "direct"
  const secure = connectTls({
    socket,
    host,
    ...(tls.serverName && isIP(host) === 0 ? { servername: host } : {}),
    ...(direct ? { ALPNProtocols: ["postgresql"] } : {}),
    ...(await tlsOptions(tls)),
  })
  secure.on("error", () => undefined)
  try {
    await eventOf(secure, "secureConnect")
  } catch (error) {
    if (socket.destroyed && (error as NodeJS.ErrnoException).code === undefined) throw error
    throw new TlsFault(`TLS with ${hostName(address)} failed: ${described(error, tls)}`, { cause: error })
  }
  if (direct && secure.alpnProtocol !== "postgresql") {
    secure.destroy()
    throw new TlsFault(
      `${hostName(address)} does not take sslnegotiation=direct (PostgreSQL 17 and later do)`,
    )
  }
  return secure
}

function described(error: unknown, { mode, rootCert }: ServerTls): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `${message}; the certificate must contain the host name of the URL`
  const isTrust = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/.test(code ?? "")
  if (!isTrust) return `${message}${code === undefined ? "" : ` (${code})`}`
  const against = rootCert === undefined || rootCert === "system" ? "the trusted roots of Node.js" : rootCert
  return `${message} (${code}); sslmode=${mode} checks the certificate with ${against}: set sslrootcert to the file of its authority`
}

async function tlsOptions(tls: ServerTls): Promise<ConnectionOptions> {
  const { mode, rootCert, cert, key, keyPassword, revoked, versionMin, versionMax } = tls
  const ca = rootCert === undefined || rootCert === "system" ? undefined : await read("sslrootcert", rootCert)
  // With an authority, `require` checks like verify-ca, as in libpq.
  const isChecked = mode === "verify-full" || mode === "verify-ca" || (mode === "require" && ca !== undefined)
  return {
    rejectUnauthorized: isChecked,
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert: await read("sslcert", cert) }),
    ...(key === undefined ? {} : { key: await read("sslkey", key) }),
    ...(keyPassword === undefined ? {} : { passphrase: keyPassword }),
    ...(revoked === undefined ? {} : { crl: await read("sslcrl", revoked) }),
    ...(versionMin === undefined ? {} : { minVersion: versionMin }),
    ...(versionMax === undefined ? {} : { maxVersion: versionMax }),
  }
}

async function read(parameter: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new TlsFault(
      `${parameter}: the file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}

/** Resolves at the event; rejects when the socket fails or closes before. */
function eventOf<T>(socket: Socket, event: "connect" | "data" | "secureConnect"): Promise<T> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error("the server closed the connection"))
    socket.once("error", reject)
    socket.once("close", closed)
    socket.once(event, (value: T) => {
      socket.removeListener("error", reject)
      socket.removeListener("close", closed)
      resolve(value)
    })
  })
}
