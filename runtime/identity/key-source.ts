import { readFile } from "node:fs/promises"
import { fileReason } from "../plan/file-reason.ts"
import {
  type DiscoveryPlace,
  fetchJson,
  parseJson,
  readDiscovery,
  requireSafeStep,
  stringMember,
} from "./discovery.ts"
import { type IssuerKey, readInlineKeys } from "./inline-keys.ts"
import { type KeySet, readKeySet } from "./key-set.ts"

/** Keys, and the exact `iss` of tokens of this issuer; null: any. `fixed`: a key without an id is also tried for tokens with a `kid`. */
export interface IssuerKeys {
  readonly issuer: string | null
  readonly keys: KeySet
  readonly fixed?: boolean
}

/** Gets the current keys. Rejects with a message for logs and status if they are unavailable or unusable. */
export type KeySource = () => Promise<IssuerKeys>

/** Where the document is, and the algorithms of the keys to use. */
export interface DiscoverySettings extends DiscoveryPlace {
  readonly algorithms: readonly string[]
}

/**
 * Keys by OpenID Connect Discovery 1.0. Redirects are rejected. `jwks_uri` must not lead from https to http, or from a public host to a private address.
 */
export function discoverySource(settings: DiscoverySettings): KeySource {
  return async () => {
    const { url, issuer, document } = await readDiscovery(settings)
    const jwksUri = stringMember(document, "jwks_uri")
    if (jwksUri === undefined) throw new Error(`the discovery document at ${url} has no \`jwks_uri\``)
    requireSafeStep(url, jwksUri, "jwks_uri")
    const keys = await readKeySet(await fetchJson(jwksUri, "the key set", settings.http), settings.algorithms)
    return { issuer, keys }
  }
}

/** Keys from a JWKS file. */
export function fileSource(path: string, issuer: string | null, algorithms: readonly string[]): KeySource {
  return async () => {
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      throw new Error(`the key file ${path} cannot be read: ${fileReason(error)}`)
    })
    return { issuer, keys: await readKeySet(parseJson(text, `the key file ${path}`), algorithms) }
  }
}

/** Keys written in the plan. */
export function inlineSource(
  keys: readonly IssuerKey[],
  issuer: string | null,
  algorithms: readonly string[],
): KeySource {
  return async () => ({ issuer, keys: await readInlineKeys(keys, algorithms), fixed: true })
}
