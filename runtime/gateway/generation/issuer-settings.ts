import { resolve } from "node:path"
import type { IssuerKey } from "../../identity/inline-keys.ts"
import type { IssuerSettings } from "../../identity/issuer.ts"
import type { Issuer, InlineKey as PlanKey } from "../../plan/resources.ts"
import type { LoadText } from "../../plan/text.ts"
import type { References } from "./references.ts"

/** The settings of an issuer with resolved texts; files are relative to `folder`. */
export function issuerSettingsOf(
  name: string,
  { source, audiences, clockSkewSeconds, algorithms }: Issuer,
  references: Pick<References, "text" | "secrets">,
  folder: string,
): IssuerSettings {
  const { text } = references
  const issuerOf = (issuer: LoadText | null) => (issuer === null ? null : text(issuer))
  return {
    name,
    source:
      "discovery" in source
        ? { discovery: text(source.discovery), exact: source.exact === true }
        : "inline" in source
          ? {
              keys: source.inline.map((key) => keyOf(key, references.secrets, folder)),
              issuer: issuerOf(source.issuer),
            }
          : { keysFile: resolve(folder, source.keys.file), issuer: issuerOf(source.issuer) },
    audiences: audiences === null ? null : audiences.map(text),
    clockSkewSeconds,
    algorithms,
  }
}

function keyOf(key: PlanKey, secrets: ReadonlyMap<string, string>, folder: string): IssuerKey {
  const { id } = key
  if ("rsa" in key) return { id, jwk: { kty: "RSA", n: urlSafe(key.rsa.n), e: urlSafe(key.rsa.e) } }
  if ("certificate" in key) return { id, certificateFile: resolve(folder, key.certificate.file) }
  const secret = Buffer.from(secrets.get(key.secret) ?? "", key.encoding === "base64" ? "base64" : "utf8")
  return { id, secret: secret.toString("base64url") }
}

/** Accepts both Base64 alphabets, with or without padding. */
function urlSafe(base64: string): string {
  return Buffer.from(base64, "base64").toString("base64url")
}
