import { aesCbc } from "#keys"
import { chargeText, currentHost } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { attempt, declareChoice, failed, plain } from "./crypto-common.ts"

/** `bytes.Encrypt("Aes", key, iv)`: AES in CBC mode with PKCS#7 padding; the key determines the size. @throws CryptographicException */
export function cipher(
  encrypting: boolean,
  algorithm: string,
  bytes: Uint8Array,
  key: Uint8Array,
  iv: Uint8Array,
): Uint8Array {
  chargeText(bytes.length * 4)
  const bits = key.length * 8
  if (
    !/^(?:System\.Security\.Cryptography\.)?(?:Aes|AesManaged|AesCng|AesCryptoServiceProvider|Rijndael|RijndaelManaged)$/i.test(
      algorithm,
    )
  )
    throw failed(`The algorithm '${algorithm.slice(0, 50)}' is not known; \`Aes\` is.`)
  if (![128, 192, 256].includes(bits)) throw failed("Specified key is not a valid size for this algorithm.")
  if (iv.length !== 16)
    throw failed("Specified initialization vector (IV) does not match the block size for this algorithm.")
  return attempt(() => aesCbc(encrypting, bytes, key, iv))
}

/** System.Security.Cryptography.Aes, with its own key and initialization vector. */
class Aes extends CsObject {
  readonly typeName = "System.Security.Cryptography.Aes"
  key = plain(currentHost().randomBytes(32))
  iv = plain(currentHost().randomBytes(16))
}

class Transform extends CsObject {
  readonly typeName = "System.Security.Cryptography.ICryptoTransform"
  readonly run: (bytes: Uint8Array) => Uint8Array
  constructor(run: (bytes: Uint8Array) => Uint8Array) {
    super()
    this.run = run
  }
}

/** Only CBC with PKCS7 padding: other modes are unknown names, so that they are errors of the compiler and not of a request. */
export function declareAes(): void {
  const holds = (value: unknown): boolean => value instanceof Aes
  const transform = (encrypting: boolean, key: Uint8Array, iv: Uint8Array): Transform =>
    new Transform((bytes) => cipher(encrypting, "Aes", bytes, key, iv))
  declareChoice("CipherMode", ["CBC"])
  declareChoice("PaddingMode", ["PKCS7"])
  declareType(
    "Aes",
    { bases: ["IDisposable"], holds },
    {
      "static Create(): Aes": () => new Aes(),
      "Key: byte[]": (self: Aes) => self.key,
      "set Key: byte[]": (self: Aes, key: Uint8Array) => {
        self.key = plain(key)
      },
      "IV: byte[]": (self: Aes) => self.iv,
      "set IV: byte[]": (self: Aes, iv: Uint8Array) => {
        self.iv = plain(iv)
      },
      "set Mode: CipherMode": () => null,
      "set Padding: PaddingMode": () => null,
      "set KeySize: int": () => null,
      "CreateEncryptor(): ICryptoTransform": (self: Aes) => transform(true, self.key, self.iv),
      "CreateDecryptor(): ICryptoTransform": (self: Aes) => transform(false, self.key, self.iv),
      "CreateEncryptor(byte[] key, byte[] iv): ICryptoTransform": (
        _self: Aes,
        key: Uint8Array,
        iv: Uint8Array,
      ) => transform(true, key, iv),
      "CreateDecryptor(byte[] key, byte[] iv): ICryptoTransform": (
        _self: Aes,
        key: Uint8Array,
        iv: Uint8Array,
      ) => transform(false, key, iv),
    },
  )
  for (const name of ["AesManaged", "RijndaelManaged", "AesCryptoServiceProvider"])
    declareType(name, { bases: ["Aes"], holds }, { [`new(): ${name}`]: () => new Aes() })
  declareType(
    "ICryptoTransform",
    { bases: ["IDisposable"], holds: (value) => value instanceof Transform },
    {
      "TransformFinalBlock(byte[] bytes, int start, int count): byte[]": (
        self: Transform,
        bytes: Uint8Array,
        start: number,
        count: number,
      ) => self.run(bytes.subarray(start, start + count)),
    },
  )
}
