import { argument } from "../errors.ts"
import { chargeText } from "../run.ts"
import { declareType } from "../table.ts"

/** System.BitConverter, little-endian like every machine that runs .NET. */
export function declareBits(): void {
  const rows: Record<string, (...values: never[]) => unknown> = {
    "static IsLittleEndian: bool": () => true,
    "static ToString(byte[] bytes): string": (bytes: Uint8Array) => {
      chargeText(bytes.length * 3)
      return [...bytes].map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("-")
    },
    "static ToBoolean(byte[] bytes, int start): bool": (bytes: Uint8Array, start: number) =>
      bytes[start] !== 0,
  }
  const types = [
    ["short", "Int16", 2],
    ["ushort", "Uint16", 2],
    ["int", "Int32", 4],
    ["uint", "Uint32", 4],
    ["long", "BigInt64", 8],
    ["ulong", "BigUint64", 8],
    ["double", "Float64", 8],
    ["float", "Float32", 4],
  ] as const
  const names: Readonly<Record<string, string>> = {
    BigInt64: "Int64",
    BigUint64: "UInt64",
    Uint16: "UInt16",
    Uint32: "UInt32",
    Float64: "Double",
    Float32: "Single",
  }
  for (const [type, kind, size] of types) {
    rows[`static To${names[kind] ?? kind}(byte[] bytes, int start): ${type}`] = (
      bytes: Uint8Array,
      start: number,
    ) => {
      if (start < 0 || start + size > bytes.length)
        throw argument(
          "Destination array is not long enough to copy all the items in the collection. Check array index and length.",
        )
      return new DataView(bytes.buffer, bytes.byteOffset)[`get${kind}`](start, true)
    }
    rows[`static GetBytes(${type} value): byte[]`] = (value: never) => {
      const made = new Uint8Array(size)
      new DataView(made.buffer)[`set${kind}`](0, value, true)
      return made
    }
  }
  rows["static GetBytes(bool value): byte[]"] = (value: boolean) => Uint8Array.of(value ? 1 : 0)
  declareType("BitConverter", {}, rows)
}
