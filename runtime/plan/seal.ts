import * as z from "zod"
import {
  isSigned,
  type Key,
  kindOfSigner,
  parsePublicKey,
  publicKeyBytes,
  publicKeyOf,
  signBytes,
  signerKeyKind,
} from "#keys"
import { concatBytes, digestBytes, fromBase64, toBase64, toHex, utf8Bytes } from "#platform"
import { canonicalJson, digestOf } from "./canonical.ts"
import type { PlanSigner } from "./change-rules.ts"
import { digest, type Plan, plan } from "./plan.ts"

/** Who made or applied a plan, for the history. `commit`: its id, with `+` for changes that are not in it, and its first line. */
export const planAuthor = z.strictObject({
  who: z.string().min(1).max(200),
  commit: z.string().max(200).nullable(),
  message: z.string().max(2000).nullable(),
})

/**
 * The plan that another was compared with. Its stamp distinguishes plans of equal serial in different histories of the database. Without serial
 * and stamp, the plan was compared with a plan in a file, whichever process serves that.
 */
const comparedPlan = z.strictObject({
  serial: z.number().int().min(1).optional(),
  stamp: z.string().max(100).optional(),
  digest,
})

/**
 * What a seal says about a plan: its `digest`, the plan it was compared with (null: no plan was running), the database whose history that plan is
 * in (null: none was asked), and who made it when.
 */
export const planSeal = z.strictObject({
  history: z.string().max(100).nullable(),
  base: comparedPlan.nullable(),
  digest,
  author: planAuthor,
  at: z.iso.datetime(),
})
export type PlanSeal = z.infer<typeof planSeal>

/** A signature of a seal. `key`: the first 16 hex digits of the SHA-256 of the public key. `value`: base64. */
export const sealSignature = z.strictObject({
  key: z.string().regex(/^[0-9a-f]{16}$/),
  value: z.base64().max(1000),
})
export type SealSignature = z.infer<typeof sealSignature>

/**
 * A plan sealed by `sallyport plan --out`. It is applied only while the running plan is still the one it was compared with. `checksum` is that of
 * the seal: it reveals damage, and anybody can compute it. Only `signature` proves who made the seal.
 */
export const sealedPlan = z.strictObject({
  sealed: z.literal(3),
  seal: planSeal,
  checksum: digest,
  signature: sealSignature.optional(),
  plan,
})
export type SealedPlan = z.infer<typeof sealedPlan>

/** Seals a plan, and signs the seal with a private key. */
export function sealPlan(about: Omit<PlanSeal, "digest">, plan: Plan, key?: Key): SealedPlan {
  const seal = { ...about, digest: plan.digest }
  const signature = key === undefined ? {} : { signature: signSeal(seal, key) }
  return { sealed: 3, seal, checksum: digestOf(seal), ...signature, plan }
}

function signSeal(seal: PlanSeal, key: Key): SealSignature {
  const publicKey = publicKeyOf(key)
  return {
    key: keyIdOf(publicKey),
    value: toBase64(signBytes(algorithmOf(publicKey), signedBytes(seal), key)),
  }
}

/** The signer whose key made the signature of a seal; undefined: none of them. */
export function signerOf(
  seal: PlanSeal,
  signature: SealSignature,
  signers: readonly PlanSigner[],
): PlanSigner | undefined {
  return signers.find(({ key: text }) => {
    const key = readSignerKey(text)
    if (key === undefined || keyIdOf(key) !== signature.key) return false
    return isSigned(algorithmOf(key), signedBytes(seal), key, fromBase64(signature.value))
  })
}

const payloadType = "application/vnd.sallyport.plan-seal+json"

/** The bytes of DSSE, the envelope of sigstore and in-toto: they cannot be mistaken for a message of another protocol. */
function signedBytes(seal: PlanSeal): Uint8Array {
  const body = utf8Bytes(canonicalJson(seal))
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${body.length} `
  return concatBytes([utf8Bytes(head), body])
}

/** Whether a text is the public key of a signer, as `readSignerKey` reads it. A browser can tell this, but not read the key. */
export function isSignerKey(text: string): boolean {
  return signerKeyKind(fromBase64(text)) !== undefined
}

/** Reads the public key of a signer: Ed25519, or ECDSA on P-256 as sigstore has it. Undefined: it is neither. */
export function readSignerKey(text: string): Key | undefined {
  try {
    const key = parsePublicKey(fromBase64(text))
    return canSign(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** Whether a key is of a kind that seals are signed with. */
export function canSign(key: Key): boolean {
  return kindOfSigner(key) !== undefined
}

/** A public key as the rules have it. */
export function signerKeyText(key: Key): string {
  return toBase64(publicKeyBytes(key))
}

/** The id of a public key in signatures. */
export function keyIdOf(key: Key): string {
  return toHex(digestBytes("sha256", publicKeyBytes(key))).slice(0, 16)
}

/** Ed25519 has its own hash; ECDSA signs a SHA-256. */
function algorithmOf(key: Key): "sha256" | null {
  return key.asymmetricKeyType === "ed25519" ? null : "sha256"
}
