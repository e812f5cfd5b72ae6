import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { isIP } from "node:net"
import { expect, test } from "vitest"
import { isIP as ownIsIP } from "../../runtime/plan/ip-text.ts"
import * as browser from "../../runtime/platform/browser.ts"
import * as browserKeys from "../../runtime/platform/browser-keys.ts"
import * as node from "../../runtime/platform/node.ts"
import * as nodeKeys from "../../runtime/platform/node-keys.ts"
import { Random } from "../naive/random.ts"
import { firstSeed } from "../support/random-run.ts"

// The compiler compares the types: each file has everything of the other.
const platforms: readonly (typeof node)[] = [node, browser]
const keys: readonly (typeof nodeKeys)[] = [nodeKeys, browserKeys]
const random = new Random(firstSeed)

const both = <Result>(ask: (platform: typeof node) => Result): void => {
  const [here, there] = platforms.map(ask)
  expect(there).toEqual(here)
}
const someBytes = (most: number) =>
  Uint8Array.from({ length: random.below(most + 1) }, () => random.below(256))
const units = ["a", "é", "€", "\u{1f600}", "\ud800", "\udc00", "\ufeff", "\0", "=", "-", "_", "+", "/", "%"]
const someText = (most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(units)).join("")

test("both files have the same functions", () => {
  expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort())
  expect(Object.keys(browserKeys).sort()).toEqual(Object.keys(nodeKeys).sort())
})

test("both platforms do the same with 200 random byte strings and texts", () => {
  for (let round = 0; round < 200; round++) {
    const [bytes, others, text] = [someBytes(300), someBytes(3), someText(40)]
    const algorithm = random.pick(["md5", "sha1", "sha256", "sha384", "sha512"] as const)
    both((platform) => platform.sha256Hex(text))
    both((platform) => [platform.digestBytes(algorithm, bytes), platform.digestBytes(algorithm, text)])
    both((platform) => [
      platform.hmacBytes(algorithm, bytes, text),
      platform.hmacBytes(algorithm, text, bytes),
    ])
    both((platform) => [platform.utf8Length(text), platform.utf8Bytes(text), platform.utf8Text(bytes)])
    both((platform) => [platform.utf16Bytes(text), platform.utf16Text(bytes)])
    both((platform) => [
      platform.latin1Text(bytes),
      platform.toHex(bytes),
      platform.fromHex(platform.toHex(bytes)),
    ])
    both((platform) => [platform.toBase64(bytes), platform.fromBase64(platform.toBase64(bytes))])
    both((platform) => platform.fromBase64(`${text.replace(/[^ -<>-~]/g, "")}${node.toBase64(others)}`))
    both((platform) => platform.concatBytes([bytes, others, bytes]))
    both((platform) => [platform.compareBytes(bytes, others), platform.compareBytes(others, someBytes(0))])
    both((platform) => [platform.equalBytes(bytes, others), platform.equalBytes(others, others.slice())])
  }
})

test.each([node, browser])("a random UUID is of version 4", ({ randomUuid }) => {
  expect(randomUuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test.each([node, browser])("tasks run in order after the current one", async ({ afterEvents }) => {
  const seen: number[] = []
  const all = Promise.all(
    [1, 2, 3].map((each) => new Promise<void>((done) => afterEvents(() => done(void seen.push(each))))),
  )
  expect(seen).toEqual([])
  await all
  expect(seen).toEqual([1, 2, 3])
})

/** Keys in DER: of signers whole and compressed, of others, and damaged ones. */
function someKeys(): Uint8Array[] {
  const der = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ format: "der", type: "spki" })
  const ed = der(generateKeyPairSync("ed25519"))
  const p256 = der(generateKeyPairSync("ec", { namedCurve: "P-256" }))
  const others = [
    der(generateKeyPairSync("ec", { namedCurve: "P-384" })),
    der(generateKeyPairSync("ed448")),
    der(generateKeyPairSync("x25519")),
    der(generateKeyPairSync("rsa", { modulusLength: 1024 })),
  ]
  const compressed = (last: number, x: Uint8Array) =>
    Buffer.concat([
      Buffer.from("3039301306072a8648ce3d020106082a8648ce3d030107032200", "hex"),
      Buffer.from([last]),
      x,
    ])
  const x = p256.subarray(27, 59)
  const damaged = [ed, p256].flatMap((key) => [
    key.subarray(0, -1),
    Buffer.concat([key, Buffer.from([0])]),
    flipped(key),
  ])
  const points = Array.from({ length: 20 }, () => compressed(2, someFull(32)))
  return [
    ed,
    p256,
    ...others,
    compressed(2, x),
    compressed(3, x),
    compressed(4, x),
    ...damaged,
    ...points,
    new Uint8Array(),
  ]
}

const someFull = (length: number) => Uint8Array.from({ length }, () => random.below(256))
const flipped = (key: Buffer) => Buffer.from(key.map((byte, at) => (at === key.length - 1 ? byte ^ 1 : byte)))

test("both platforms know the keys of signers", () => {
  const kinds = someKeys().map((der) => keys.map(({ signerKeyKind }) => signerKeyKind(der)))
  expect(kinds.map(([, there]) => there)).toEqual(kinds.map(([here]) => here))
  expect(new Set(kinds.flat())).toEqual(new Set(["ed25519", "p256", undefined]))
})

test("our tests of addresses say what Node's say, for 20,000 random texts", () => {
  const parts = [
    "1",
    "0",
    "01",
    "255",
    "256",
    "ff",
    "FFFF",
    "12345",
    ".",
    ":",
    "::",
    "%eth0",
    "%",
    "1.2.3.4",
    " ",
    "",
  ]
  const kinds = new Set<number>()
  for (let round = 0; round < 20_000; round++) {
    const separator = random.pick([":", ".", ""])
    const text = Array.from({ length: 1 + random.below(9) }, () => random.pick(parts)).join(separator)
    kinds.add(ownIsIP(text))
    if (ownIsIP(text) !== isIP(text)) expect([text, ownIsIP(text)]).toEqual([text, isIP(text)])
  }
  expect(kinds).toEqual(new Set([0, 4, 6]))
})
