import { fromHex, toHex } from "#platform"
import type { OutPlace } from "../context-object.ts"
import { badFormat, CsException } from "../errors.ts"
import { currentHost } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"

/** System.Guid, as its 32 hexadecimal digits. */
export class Guid extends CsObject {
  readonly typeName = "System.Guid"
  readonly hex: string
  constructor(hex: string) {
    super()
    this.hex = hex
  }
  /** Accepts the formats D, N, B and P. @throws FormatException */
  static parse(text: string): Guid {
    const trimmed = text.trim()
    const bare = /^[{(](.*)[)}]$/.exec(trimmed)?.[1] ?? trimmed
    if (!/^[0-9a-f]{32}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(bare))
      throw badFormat("Guid should contain 32 digits with 4 dashes (xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx).")
    return new Guid(bare.replaceAll("-", "").toLowerCase())
  }
  override text(): string {
    return this.format("D")
  }
  /** The formats of .NET without `X`, which is an error with .NET's message. */
  format(format: string): string {
    const h = this.hex
    const dashed = [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join("-")
    const forms: Readonly<Record<string, string>> = {
      "": dashed,
      D: dashed,
      N: h,
      B: `{${dashed}}`,
      P: `(${dashed})`,
    }
    const form = format.toUpperCase()
    if (!Object.hasOwn(forms, form))
      throw badFormat('Format string can be only "D", "d", "N", "n", "P", "p", "B", "b", "X" or "x".')
    return forms[form] as string
  }
  /** The first three groups little-endian, as .NET stores them. */
  bytes(): Uint8Array {
    return swapped(fromHex(this.hex))
  }
  override same(other: unknown): boolean {
    return other instanceof Guid && other.hex === this.hex
  }
  override hash(): unknown {
    return `guid:${this.hex}`
  }
  compareTo(other: unknown): number {
    const { hex } = other as Guid
    return this.hex < hex ? -1 : this.hex > hex ? 1 : 0
  }
}

function swapped(bytes: Uint8Array): Uint8Array {
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
  return Uint8Array.from(order, (place) => bytes[place] ?? 0)
}

function fromBytes(bytes: Uint8Array): Guid {
  if (bytes.length !== 16)
    throw new CsException(
      "ArgumentException",
      "Byte array for Guid must be exactly 16 bytes long. (Parameter 'b')",
    )
  return new Guid(toHex(swapped(bytes)))
}

function newGuid(): Guid {
  const bytes = Uint8Array.from(currentHost().randomBytes(16))
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return new Guid(toHex(bytes))
}

const emptyGuid = new Guid("0".repeat(32))

/** `Guid`. `ParseExact` accepts every format, not only the one that is named. */
export function declareGuid(): void {
  declareType(
    "Guid",
    { value: true, bases: ["IFormattable"], holds: (value) => value instanceof Guid },
    {
      "static default(): Guid": () => emptyGuid,
      "static Empty: Guid": () => emptyGuid,
      "static NewGuid(): Guid": newGuid,
      "static Parse(string text): Guid": (text: string) => Guid.parse(text),
      "static ParseExact(string text, string format): Guid": (text: string) => Guid.parse(text),
      "static TryParse(string text, out Guid result): bool": (text: string | null, out: OutPlace) => {
        try {
          out.set(Guid.parse(text ?? ""))
          return true
        } catch {
          out.set(emptyGuid)
          return false
        }
      },
      "new(string text): Guid": (text: string) => Guid.parse(text),
      "new(byte[] bytes): Guid": fromBytes,
      "ToByteArray(): byte[]": (self: Guid) => self.bytes(),
      "ToString(string format): string": (self: Guid, format: string | null) => self.format(format ?? ""),
      "Equals(Guid other): bool": (self: Guid, other: Guid) => self.same(other),
      "CompareTo(Guid other): int": (self: Guid, other: Guid) => self.compareTo(other),
    },
  )
  declareRandom()
}

/** System.Random: random numbers come from the host. A seed is ignored, because programs must not depend on .NET's sequence. */
class Random extends CsObject {
  readonly typeName = "System.Random"
}

function chance(): number {
  const bytes = currentHost().randomBytes(6)
  return bytes.reduce((total, byte) => total * 256 + byte, 0) / 2 ** 48
}

function between(least: number, most: number): number {
  if (least > most)
    throw new CsException(
      "ArgumentOutOfRangeException",
      "'minValue' cannot be greater than maxValue. (Parameter 'minValue')",
    )
  return least + Math.floor(chance() * (most - least))
}

function declareRandom(): void {
  const shared = new Random()
  declareType(
    "Random",
    { holds: (value) => value instanceof Random },
    {
      "new(): Random": () => new Random(),
      "new(int seed): Random": () => new Random(),
      "static Shared: Random": () => shared,
      "Next(): int": () => between(0, 2147483647),
      "Next(int most): int": (_self: Random, most: number) => {
        if (most < 0)
          throw new CsException(
            "ArgumentOutOfRangeException",
            "'maxValue' must be greater than zero. (Parameter 'maxValue')",
          )
        return between(0, most)
      },
      "Next(int least, int most): int": (_self: Random, least: number, most: number) => between(least, most),
      "NextDouble(): double": () => chance(),
      "NextBytes(byte[] bytes): void": (_self: Random, bytes: Uint8Array) => {
        bytes.set(currentHost().randomBytes(bytes.length))
      },
    },
  )
}
