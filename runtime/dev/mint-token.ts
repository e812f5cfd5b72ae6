import { openSigningKeys } from "./signing-keys.ts"
import { claimsOf, issuerAt } from "./token-claims.ts"

/** Whose keys sign (`folder`, as the identity provider has it), at which address it is (`url`), and for whom. */
export interface MintOptions {
  readonly folder: string
  readonly url: string
  readonly subject: string
  /** Adds to, or replaces, what a token has by itself. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/**
 * Signs a token for anybody with the keys of the development identity provider, from another process than its own.
 * @throws {DevError} the folder's keys can't be read.
 */
export async function mintToken({ folder, url, subject, claims = {} }: MintOptions): Promise<string> {
  const keys = await openSigningKeys(folder)
  return keys.sign({ ...claimsOf(issuerAt(url), subject), ...claims })
}
