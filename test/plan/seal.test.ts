import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { expect, test } from "vitest"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { type PlanSeal, readSignerKey, sealPlan, signerKeyText, signerOf } from "../../runtime/plan/seal.ts"

const plan = { digest: digestOf("a plan") } as Plan
const about: Omit<PlanSeal, "digest"> = {
  history: "here",
  base: { serial: 4, stamp: "stamp", digest: digestOf("before") },
  author: { who: "ann", commit: "abc+ subject", message: null },
  at: "2026-01-02T03:04:05.678Z",
}
const ed25519 = () => generateKeyPairSync("ed25519").privateKey
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
const signerFor = (key: KeyObject, name: string) => ({ key: signerKeyText(createPublicKey(key)), name })

test.each([
  ["Ed25519", ed25519],
  ["ECDSA on P-256", p256],
])("a signature of %s is valid for its seal and its key only", (_, make) => {
  const [own, other] = [make(), make()]
  const { seal, signature } = sealPlan(about, plan, own)
  if (signature === undefined) throw new Error("not signed")
  const signers = [signerFor(other, "other"), signerFor(own, "own")]
  expect(signerOf(seal, signature, signers)).toEqual(signerFor(own, "own"))
  expect(signerOf(seal, signature, [signerFor(other, "other")])).toBeUndefined()
  const forged: PlanSeal[] = [
    { ...seal, digest: digestOf("another plan") },
    { ...seal, history: "there" },
    { ...seal, at: "2026-01-02T03:04:05.679Z" },
    { ...seal, author: { ...seal.author, who: "bob" } },
    { ...seal, author: { ...seal.author, commit: "abc subject" } },
    { ...seal, base: null },
    { ...seal, base: { digest: digestOf("before"), serial: 5, stamp: "stamp" } },
    { ...seal, base: { digest: digestOf("before"), serial: 4, stamp: "other" } },
  ]
  for (const each of forged) expect(signerOf(each, signature, signers), JSON.stringify(each)).toBeUndefined()
  // The signature of another key under the id of this one.
  const { signature: wrong } = sealPlan(about, plan, other)
  expect(signerOf(seal, { key: signature.key, value: wrong?.value ?? "" }, signers)).toBeUndefined()
  expect(signerOf(seal, { ...signature, value: "" }, signers)).toBeUndefined()
})

test("no other kind of key signs plans", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey
  const x25519 = generateKeyPairSync("x25519").publicKey
  for (const key of [rsa, p384, x25519]) expect(readSignerKey(signerKeyText(key))).toBeUndefined()
  expect(readSignerKey("no key")).toBeUndefined()
})
