import { randomUUID } from "node:crypto"
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose"
import { DevError } from "./dev-error.ts"

const algorithm = "RS256"

/** Enough for tokens that are still valid after several rotations; older keys are dropped. */
const keptKeysMax = 5

/** The signing keys of the development identity provider. */
export interface SigningKeys {
  /** The published set (RFC 7517), newest first, without private parts. */
  published(): { keys: JWK[] }
  /** Signs claims with the newest key. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>
  /** Adds a key and signs with it from now on. Older keys stay published, unless `retire` is set, which makes their tokens invalid. */
  rotate(retire?: boolean): Promise<void>
}

/**
 * Reads the keys from `folder`, or creates the first key and saves it there, readable only by its owner, so that tokens stay valid across a
 * restart. Without a folder the keys live as long as the process.
 * @throws {DevError} the folder cannot be written, or the file in it is damaged
 */
export async function openSigningKeys(folder: string | undefined): Promise<SigningKeys> {
  const path = folder === undefined ? undefined : join(folder, "identity-provider.json")
  let keys = path === undefined ? [] : await read(path)
  const replace = (next: JWK[]) => {
    if (path !== undefined) write(folder as string, path, next)
    keys = next
  }
  if (keys.length === 0) replace([await newKey()])
  return {
    published: () => ({ keys: keys.map(publicPart) }),
    async sign(claims) {
      const key = keys[0] as JWK & { kid: string }
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, typ: "JWT", kid: key.kid })
        .sign(await importJWK(key, algorithm))
    },
    async rotate(retire = false) {
      const key = await newKey()
      replace(retire ? [key] : [key, ...keys].slice(0, keptKeysMax))
    },
  }
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 })
  const jwk = await exportJWK(privateKey)
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: algorithm, use: "sig" }
}

/** Fields are listed one by one, so that new fields of a JWK are not published by accident. */
function publicPart({ kid, kty, alg, use, n, e }: JWK): JWK {
  return { kid, kty, alg, use, n, e } as JWK
}

async function read(path: string): Promise<JWK[]> {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw new DevError(
      `the identity provider cannot read its keys: ${(error as Error).message}`,
      `Make ${path} readable, or delete it.`,
    )
  }
  try {
    const { keys } = JSON.parse(text) as { keys: JWK[] }
    for (const key of keys) {
      if (key.kid === undefined || key.d === undefined)
        throw new Error("a key without `kid` or without its private part")
      await importJWK(key, algorithm)
    }
    return keys
  } catch (error) {
    throw new DevError(
      `the identity provider's keys in ${path} are damaged: ${(error as Error).message}`,
      "Delete the file: the next start creates new keys, and tokens signed with the old ones are refused.",
    )
  }
}

/** Writes a temporary file and renames it, so that a crash leaves the old file or the new one. */
function write(folder: string, path: string, keys: readonly JWK[]): void {
  const beside = `${path}.${randomUUID()}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(beside, JSON.stringify({ keys }), { mode: 0o600 })
    chmodSync(beside, 0o600)
    renameSync(beside, path)
  } catch (error) {
    throw new DevError(
      `the identity provider cannot store its keys in ${folder}: ${(error as Error).message}`,
      "Make the folder writable, or start in another folder.",
    )
  }
}
