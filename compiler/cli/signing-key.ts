import { createPrivateKey, type KeyObject } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileReason } from "../../runtime/plan/file-reason.ts"
import { canSign } from "../../runtime/plan/seal.ts"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

const make = "Make one with `sallyport signing-key create FILE`."

/** Reads the private key that seals are signed with: PKCS #8, or SEC 1 for ECDSA, as PEM. */
export function readSigningKey(io: Io, path: string): KeyObject {
  const text = textOf(io, path)
  const key = keyOf(text)
  if (key !== undefined && canSign(key)) return key
  if (text.includes("ENCRYPTED"))
    throw new CliError(
      `the key in ${path} is protected by a passphrase`,
      `Decrypt it: openssl pkey -in ${path} -out PLAIN`,
    )
  if (key !== undefined) throw new CliError(`the key in ${path} is neither Ed25519 nor ECDSA on P-256`, make)
  throw new CliError(`${path} is not a private key in PEM format`, make)
}

function textOf(io: Io, path: string): string {
  try {
    return readFileSync(resolve(io.cwd, path), "utf8")
  } catch (error) {
    throw new CliError(`the signing key ${path} cannot be read: ${fileReason(error)}`, make)
  }
}

function keyOf(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}
