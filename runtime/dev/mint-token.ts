import { openSigningKeys } from "./signing-keys.ts"
import { claimsOf, issuerAt } from "./token-claims.ts"

/** The folder with the signing keys of the identity provider (`folder`), its address (`url`), and the subject. */
export interface MintOptions {
  readonly folder: string
  readonly url: string
  readonly subject: string
  /** Adds or replaces claims of the token. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/**
 * Signs a token for any subject with the keys of the development identity provider, from a process of its own.
 * @throws {DevError} the keys in the folder cannot be read
 */
export async function mintToken({ folder, url, subject, claims = {} }: MintOptions): Promise<string> {
  const keys = await openSigningKeys(folder)
  return keys.sign({ ...claimsOf(issuerAt(url), subject), ...claims })
}
