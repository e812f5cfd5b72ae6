import { generateKeyPair } from "node:crypto"
import { promisify } from "node:util"

const generate = promisify(generateKeyPair)

/** A new private key (P-256) as PEM, made outside of the event loop. */
export async function newPrivateKey(): Promise<string> {
  const encoding = { type: "pkcs8", format: "pem" } as const
  const { privateKey } = await generate("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: encoding,
    publicKeyEncoding: { type: "spki", format: "pem" },
  })
  return privateKey
}
