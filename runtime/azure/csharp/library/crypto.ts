import {
  type Key,
  type ParsedCertificate,
  parseCertificate,
  parsePrivateKey,
  type RsaSigning,
  rsaDecrypt,
  rsaEncrypt,
  rsaSign,
  rsaVerify,
} from "#keys"
import { digestBytes, equalBytes, fromHex, type HashAlgorithm, hmacBytes, latin1Text, toHex } from "#platform"
import type { CsEnum } from "../collections.ts"
import { DateTime } from "../date-time.ts"
import { argumentNull } from "../errors.ts"
import type { PolicyCertificate } from "../ports.ts"
import { charge, chargeText, currentHost } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { declareAes } from "./aes.ts"
import { attempt, declareChoice, plain } from "./crypto-common.ts"

/** A hash algorithm; for HMACs with a key. */
class Hasher extends CsObject {
  readonly typeName = "System.Security.Cryptography.HashAlgorithm"
  readonly algorithm: HashAlgorithm
  key: Uint8Array | undefined
  constructor(algorithm: HashAlgorithm, key?: Uint8Array) {
    super()
    this.algorithm = algorithm
    this.key = key
  }
  compute(bytes: Uint8Array | null): Uint8Array {
    if (bytes === null) throw argumentNull("buffer")
    chargeText(bytes.length * 4)
    charge(50)
    return this.key === undefined
      ? digestBytes(this.algorithm, bytes)
      : hmacBytes(this.algorithm, this.key, bytes)
  }
}

const hashes = [
  ["MD5", "md5", 16],
  ["SHA1", "sha1", 20],
  ["SHA256", "sha256", 32],
  ["SHA384", "sha384", 48],
  ["SHA512", "sha512", 64],
] as const

/** Hashes and keyed hashes (HMAC). One class holds both; the key tells the types apart. */
function declareHashes(): void {
  declareType(
    "HashAlgorithm",
    { bases: ["IDisposable"], holds: (value) => value instanceof Hasher },
    {
      "ComputeHash(byte[] bytes): byte[]": (self: Hasher, bytes: Uint8Array | null) => self.compute(bytes),
      "Clear(): void": () => null,
    },
  )
  for (const [name, algorithm] of hashes) {
    const isPlain = (value: unknown): boolean =>
      value instanceof Hasher && value.algorithm === algorithm && value.key === undefined
    const isKeyed = (value: unknown): boolean =>
      value instanceof Hasher && value.algorithm === algorithm && value.key !== undefined
    declareType(
      name,
      { bases: ["HashAlgorithm"], holds: isPlain },
      {
        [`static Create(): ${name}`]: () => new Hasher(algorithm),
        "static HashData(byte[] bytes): byte[]": (bytes: Uint8Array) => new Hasher(algorithm).compute(bytes),
      },
    )
    for (const kin of [`${name}Managed`, `${name}CryptoServiceProvider`, `${name}Cng`])
      declareType(kin, { bases: [name], holds: isPlain }, { [`new(): ${kin}`]: () => new Hasher(algorithm) })
    declareType(
      `HMAC${name}`,
      { bases: ["HashAlgorithm"], holds: isKeyed },
      {
        [`new(byte[] key): HMAC${name}`]: (key: Uint8Array | null) => {
          if (key === null) throw argumentNull("key")
          return new Hasher(algorithm, key)
        },
        [`new(): HMAC${name}`]: () => new Hasher(algorithm, plain(currentHost().randomBytes(64))),
        "Key: byte[]": (self: Hasher) => self.key,
        "set Key: byte[]": (self: Hasher, key: Uint8Array | null) => {
          if (key === null) throw argumentNull("value")
          self.key = plain(key)
        },
        "static HashData(byte[] key, byte[] bytes): byte[]": (key: Uint8Array, bytes: Uint8Array) =>
          new Hasher(algorithm, key).compute(bytes),
      },
    )
  }
  declareType(
    "CryptographicOperations",
    {},
    {
      "static FixedTimeEquals(byte[] a, byte[] b): bool": equalBytes,
    },
  )
}

/** An RSA key, private if it was loaded with a private key. */
class Rsa extends CsObject {
  readonly typeName = "System.Security.Cryptography.RSACng"
  readonly key: Key
  constructor(key: Key) {
    super()
    this.key = key
  }
}

/** Null for a key of another type. */
function rsaOf(key: Key): Rsa | null {
  return key.asymmetricKeyType === "rsa" ? new Rsa(key) : null
}

const digestName = (name: CsEnum): string => (name.names[0] ?? "SHA256").toLowerCase()

function signing(hash: CsEnum, padding: CsEnum): RsaSigning {
  return { hash: digestName(hash), pss: padding.has("Pss") }
}

/** The hash of OAEP; undefined for the padding of PKCS#1. */
function oaepHash(padding: CsEnum): string | undefined {
  const [name = ""] = padding.names
  return name.startsWith("Oaep") ? name.slice(4).toLowerCase() : undefined
}

/** RSA. Each operation is charged with 20,000 steps, because one signature takes as long as many thousand simple members. */
function declareRsa(): void {
  declareChoice("HashAlgorithmName", ["MD5", "SHA1", "SHA256", "SHA384", "SHA512"])
  declareChoice("RSASignaturePadding", ["Pkcs1", "Pss"])
  declareChoice("RSAEncryptionPadding", ["Pkcs1", "OaepSHA1", "OaepSHA256", "OaepSHA384", "OaepSHA512"])
  const holds = (value: unknown): boolean => value instanceof Rsa
  declareType(
    "RSA",
    { bases: ["IDisposable"], holds },
    {
      "SignData(byte[] bytes, HashAlgorithmName hash, RSASignaturePadding padding): byte[]": (
        self: Rsa,
        bytes: Uint8Array,
        hash: CsEnum,
        padding: CsEnum,
      ) => {
        charge(20_000)
        return attempt(() => rsaSign(signing(hash, padding), bytes, self.key))
      },
      "VerifyData(byte[] bytes, byte[] signature, HashAlgorithmName hash, RSASignaturePadding padding): bool":
        (self: Rsa, bytes: Uint8Array, signature: Uint8Array, hash: CsEnum, padding: CsEnum) => {
          charge(2000)
          return attempt(() => rsaVerify(signing(hash, padding), bytes, self.key, signature))
        },
      "Encrypt(byte[] bytes, RSAEncryptionPadding padding): byte[]": (
        self: Rsa,
        bytes: Uint8Array,
        padding: CsEnum,
      ) => {
        charge(2000)
        return attempt(() => rsaEncrypt(oaepHash(padding), bytes, self.key))
      },
      "Decrypt(byte[] bytes, RSAEncryptionPadding padding): byte[]": (
        self: Rsa,
        bytes: Uint8Array,
        padding: CsEnum,
      ) => {
        charge(20_000)
        return attempt(() => rsaDecrypt(oaepHash(padding), bytes, self.key))
      },
      "KeySize: int": (self: Rsa) => self.key.asymmetricKeyDetails?.modulusLength ?? 0,
    },
  )
  for (const name of ["RSACng", "RSACryptoServiceProvider"]) declareType(name, { bases: ["RSA"], holds }, {})
}

/** System.Security.Cryptography.X509Certificates.X509Certificate2. */
export class Certificate extends CsObject {
  readonly typeName = "System.Security.Cryptography.X509Certificates.X509Certificate2"
  readonly source: PolicyCertificate
  readonly parsed: ParsedCertificate
  constructor(source: PolicyCertificate) {
    super()
    this.source = source
    this.parsed = attempt(() => parseCertificate(source.raw))
  }
  get thumbprint(): string {
    return this.parsed.fingerprint.replaceAll(":", "")
  }
  override text(): string {
    return `[Subject]\n  ${nameText(this.parsed.subject)}\n\n[Thumbprint]\n  ${this.thumbprint}`
  }
  override same(other: unknown): boolean {
    return other instanceof Certificate && other.thumbprint === this.thumbprint
  }
}

/** `CN=a, O=b`: .NET writes distinguished names with the last part first. */
function nameText(name: string): string {
  return name.split("\n").reverse().join(", ")
}

function commonName(name: string): string {
  return /^CN=(.*)$/m.exec(name)?.[1] ?? ""
}

/** Certificates: those that gateway.conf declares, that of the client, and those made from bytes. */
function declareCertificate(): void {
  const date = (text: string): DateTime => DateTime.fromMs(Date.parse(text), "local")
  declareType(
    "X509Certificate2",
    { bases: ["IDisposable"], holds: (value) => value instanceof Certificate },
    {
      "new(byte[] raw): X509Certificate2": (raw: Uint8Array) => fromBytes(raw),
      "new(byte[] raw, string password): X509Certificate2": (raw: Uint8Array) => fromBytes(raw),
      "Thumbprint: string": (self: Certificate) => self.thumbprint,
      "Subject: string": (self: Certificate) => nameText(self.parsed.subject),
      "Issuer: string": (self: Certificate) => nameText(self.parsed.issuer),
      "SubjectName: X500DistinguishedName": (self: Certificate) => new Name(self.parsed.subject),
      "IssuerName: X500DistinguishedName": (self: Certificate) => new Name(self.parsed.issuer),
      "SerialNumber: string": (self: Certificate) => self.parsed.serialNumber,
      "FriendlyName: string": () => "",
      "NotBefore: DateTime": (self: Certificate) => date(self.parsed.validFrom),
      "NotAfter: DateTime": (self: Certificate) => date(self.parsed.validTo),
      "HasPrivateKey: bool": (self: Certificate) => self.source.key !== undefined,
      "RawData: byte[]": (self: Certificate) => plain(self.parsed.raw),
      "Version: int": () => 3,
      "GetCertHash(): byte[]": (self: Certificate) => fromHex(self.thumbprint),
      "GetCertHashString(): string": (self: Certificate) => self.thumbprint,
      "GetRawCertData(): byte[]": (self: Certificate) => plain(self.parsed.raw),
      "GetRawCertDataString(): string": (self: Certificate) => toHex(self.parsed.raw).toUpperCase(),
      "GetSerialNumberString(): string": (self: Certificate) => self.parsed.serialNumber,
      "GetExpirationDateString(): string": (self: Certificate) => date(self.parsed.validTo).text(),
      "GetNameInfo(X509NameType type, bool forIssuer): string": (
        self: Certificate,
        _type: CsEnum,
        forIssuer: boolean,
      ) => commonName(forIssuer ? self.parsed.issuer : self.parsed.subject),
      "GetRSAPrivateKey(): RSA": (self: Certificate) => {
        const { key } = self.source
        return key === undefined ? null : attempt(() => rsaOf(parsePrivateKey(key)))
      },
      "GetRSAPublicKey(): RSA": (self: Certificate) => rsaOf(self.parsed.publicKey),
      "Verify(): bool": (self: Certificate) => self.source.verify(true),
      "VerifyNoRevocation(): bool": (self: Certificate) => self.source.verify(false),
    },
  )
  declareType(
    "X500DistinguishedName",
    { holds: (value) => value instanceof Name },
    {
      "Name: string": (self: Name) => nameText(self.written),
    },
  )
  declareChoice("X509NameType", ["SimpleName", "EmailName", "UpnName", "DnsName"])
}

class Name extends CsObject {
  readonly typeName = "System.Security.Cryptography.X509Certificates.X500DistinguishedName"
  readonly written: string
  constructor(written: string) {
    super()
    this.written = written
  }
}

function fromBytes(raw: Uint8Array): Certificate {
  return new Certificate({
    raw,
    key: pemKey(raw),
    // A certificate from bytes has no trusted chain.
    verify: () => false,
  })
}

/** A PEM file can contain its key. Node cannot read the keys of PKCS#12 archives, so those certificates are rejected. */
function pemKey(raw: Uint8Array): string | undefined {
  const text = latin1Text(raw)
  return /-----BEGIN (?:RSA )?PRIVATE KEY-----[\s\S]+?-----END (?:RSA )?PRIVATE KEY-----/.exec(text)?.[0]
}

export function declareCrypto(): void {
  declareHashes()
  declareRsa()
  declareCertificate()
  declareAes()
}
