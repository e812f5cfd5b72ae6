import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose"

export interface TestKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

/** A key pair with its public JWK. */
export async function testKey(kid: string, alg = "RS256"): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A real issuer whose documents a test replaces as it needs. */
export class IssuerServer {
  readonly #server: Server
  keys: unknown
  discovery: Answer | undefined
  jwks: Answer | undefined
  fetches = { discovery: 0, jwks: 0 }

  constructor(keys: readonly TestKey[]) {
    this.keys = { keys: keys.map((key) => key.jwk) }
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** A token; `claims` replace the good ones, undefined removes one. */
  async token(
    key: TestKey,
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000)
    const all = { iss: this.url, aud: "api", sub: "ann", iat: seconds, exp: seconds + 600, ...claims }
    const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
      .sign(key.privateKey)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const json = (value: unknown): void => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(value))
    }
    if (/\/openid-configuration(?:\?.*)?$/.test(request.url ?? "")) {
      this.fetches.discovery += 1
      if (this.discovery !== undefined) this.discovery(request, response)
      else json({ issuer: this.url, jwks_uri: `${this.url}/jwks` })
    } else if (request.url === "/jwks") {
      this.fetches.jwks += 1
      if (this.jwks !== undefined) this.jwks(request, response)
      else json(this.keys)
    } else response.writeHead(404).end()
  }
}
