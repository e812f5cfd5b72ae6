import * as nodeCrypto from "node:crypto"
import { createPublicKey, verify } from "node:crypto"
import * as nodeHttp from "node:http"
import * as nodeNet from "node:net"
import { posix } from "node:path"
import { promisify } from "node:util"
import * as nodeZlib from "node:zlib"
import { expect, test } from "vitest"
import { Buffer as OwnBuffer } from "../../compiler/playground/node/buffer.ts"
import * as own from "../../compiler/playground/node/crypto.ts"
import { readFileSync, setFiles } from "../../compiler/playground/node/fs.ts"
import * as http from "../../compiler/playground/node/http.ts"
import * as net from "../../compiler/playground/node/net.ts"
import { resolve } from "../../compiler/playground/node/path.ts"
import * as zlib from "../../compiler/playground/node/zlib.ts"

// What replaces Node.js in the playground must say what Node.js says.

const texts = ["", "a", "ä€🙂", "x".repeat(1000)]
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

test.each(["md5", "sha1", "sha256", "sha384", "sha512"])("%s and its HMAC", (name) => {
  for (const text of texts) {
    expect(own.createHash(name).update(text).digest("base64url")).toBe(
      nodeCrypto.createHash(name).update(text).digest("base64url"),
    )
    expect(own.createHmac(name, "key").update(text).update("!").digest("hex")).toBe(
      nodeCrypto.createHmac(name, "key").update(text).update("!").digest("hex"),
    )
    expect(own.hash(name, text, "base64")).toBe(nodeCrypto.createHash(name).update(text).digest("base64"))
  }
})

test("keys from secrets and passwords", () => {
  expect(hex(new Uint8Array(own.hkdfSync("sha256", "secret", "salt", "info", 42)))).toBe(
    hex(new Uint8Array(nodeCrypto.hkdfSync("sha256", "secret", "salt", "info", 42))),
  )
  const cost = { N: 1024, r: 8, p: 1 }
  expect(hex(own.scryptSync("password", "salt", 32, cost))).toBe(
    hex(nodeCrypto.scryptSync("password", "salt", 32, cost)),
  )
  expect(own.timingSafeEqual(Buffer.from("abc"), Buffer.from("abc"))).toBe(true)
  expect(own.timingSafeEqual(Buffer.from("abc"), Buffer.from("abd"))).toBe(false)
})

test("AES: what one seals the other opens, and nobody opens what was changed", () => {
  const [key, iv, additional] = [
    nodeCrypto.randomBytes(32),
    nodeCrypto.randomBytes(12),
    Buffer.from("purpose"),
  ]
  const sealing = own.createCipheriv("aes-256-gcm", key, iv).setAAD(additional)
  const sealed = Buffer.concat([sealing.update("text", "utf8") as Uint8Array, sealing.final() as Uint8Array])
  const opening = nodeCrypto.createDecipheriv("aes-256-gcm", key, iv).setAAD(additional)
  opening.setAuthTag(Buffer.from(sealing.getAuthTag()))
  expect(opening.update(sealed, undefined, "utf8") + opening.final("utf8")).toBe("text")
  const back = own.createDecipheriv("aes-256-gcm", key, iv).setAAD(additional)
  back.setAuthTag(sealing.getAuthTag())
  expect(back.update(sealed, undefined, "utf8")).toBe("text")
  const changed = Buffer.from(sealed)
  changed[0] = (changed[0] as number) ^ 1
  expect(() => back.update(changed)).toThrow()
})

const kinds = [
  ["ed25519", undefined, null, undefined],
  ["ec", "P-256", "sha256", undefined],
  ["ec", "P-384", "sha384", undefined],
  ["ec", "P-521", "sha512", undefined],
  ["rsa", undefined, "sha256", undefined],
  ["rsa", undefined, "sha512", 6],
] as const

test.each(kinds)("signatures by %s %s %s %s", (kind, namedCurve, hashName, padding) => {
  const { publicKey, privateKey } = own.generateKeyPairSync(kind, namedCurve && { namedCurve })
  const key = createPublicKey({ key: publicKey.export(), format: "jwk" })
  const check = (text: string, signature: Uint8Array) =>
    verify(
      hashName,
      Buffer.from(text),
      { key, dsaEncoding: "ieee-p1363", ...(padding === undefined ? {} : { padding, saltLength: -1 }) },
      signature,
    )
  for (const text of texts) {
    const asked = padding === undefined ? privateKey : { key: privateKey, padding }
    const signature = own.sign(hashName, Buffer.from(text), asked)
    expect(check(text, signature)).toBe(true)
    expect(check(`${text}!`, signature)).toBe(false)
  }
})

test("buffers in base64url", () => {
  for (const text of texts) {
    const encoded = Buffer.from(text).toString("base64url")
    expect(OwnBuffer.from(text).toString("base64url" as BufferEncoding)).toBe(encoded)
    expect(OwnBuffer.from(encoded, "base64url" as BufferEncoding).toString("utf8")).toBe(text)
  }
})

test("lists of networks and ranges", () => {
  const lists = [new nodeNet.BlockList(), new net.BlockList()] as const
  for (const list of lists) {
    list.addSubnet("10.1.0.0", 16, "ipv4")
    list.addSubnet("2001:db8::", 33, "ipv6")
    list.addRange("192.0.2.5", "192.0.2.9", "ipv4")
    list.addRange("fe80::1", "fe80::ff", "ipv6")
  }
  const asked = [
    ...["10.1.2.3", "10.2.0.0", "192.0.2.4", "192.0.2.5", "192.0.2.9", "192.0.2.10", "0.0.0.0"],
    ...["2001:db8:7fff::", "2001:db8:8000::", "fe80::1", "fe80::100", "::ffff:10.1.0.9", "::1"],
  ]
  for (const address of asked) {
    const family = address.includes(":") ? "ipv6" : "ipv4"
    expect(lists[1].check(address), address).toBe(lists[0].check(address, family))
  }
})

test("names and values of header fields", () => {
  const outcome = (check: () => void) => {
    try {
      check()
      return "valid"
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  for (let code = 0; code < 300; code += 1) {
    const text = String.fromCharCode(code)
    expect(outcome(() => http.validateHeaderName(text))).toBe(
      outcome(() => nodeHttp.validateHeaderName(text)),
    )
    expect(outcome(() => http.validateHeaderValue("a", text))).toBe(
      outcome(() => nodeHttp.validateHeaderValue("a", text)),
    )
  }
  expect(http.STATUS_CODES).toEqual(nodeHttp.STATUS_CODES)
})

test("compressed content, and its bound", async () => {
  const data = Buffer.from("text ".repeat(1000))
  const pairs = [
    [zlib.gunzip, nodeZlib.gzipSync(data)],
    [zlib.inflate, nodeZlib.deflateSync(data)],
    [zlib.inflateRaw, nodeZlib.deflateRawSync(data)],
  ] as const
  for (const [decode, encoded] of pairs) {
    const decoded = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array | undefined>(decode)
    expect(hex((await decoded(encoded, { maxOutputLength: 5000 })) ?? new Uint8Array())).toBe(hex(data))
    await expect(decoded(encoded, { maxOutputLength: 4999 })).rejects.toMatchObject({
      code: "ERR_BUFFER_TOO_LARGE",
    })
    await expect(decoded(encoded.subarray(3), { maxOutputLength: 5000 })).rejects.toThrow()
  }
  const stream = zlib.createGzip({ level: 5 })
  const pieces: Uint8Array[] = []
  stream.on("data", (piece: Uint8Array) => void pieces.push(piece))
  stream.write(data)
  stream.end()
  await new Promise((done) => stream.on("end", done))
  expect(hex(nodeZlib.gunzipSync(Buffer.concat(pieces)))).toBe(hex(data))
})

test("paths, and the files of the project", () => {
  const paths = [
    ["/", "a/b"],
    ["/a", "../b"],
    ["/a", "/c"],
    ["/", "./x//y"],
    ["/", "../.."],
  ] as const
  for (const parts of paths) expect(resolve(...parts)).toBe(posix.resolve(...parts))
  setFiles({ "keys/a.txt": "secret\n" })
  expect(readFileSync("/keys/a.txt", "utf8")).toBe("secret\n")
  expect(() => readFileSync("/b.txt")).toThrow("the project has no file `b.txt`")
})
