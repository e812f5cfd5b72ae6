import { latin1Text, utf8Bytes, utf8Text, utf16Bytes, utf16Text } from "#platform"
import { piecesOf } from "../../../pattern/text-search.ts"
import { compositeFormat } from "../composite-format.ts"
import { CsException, outOfRange } from "../errors.ts"
import { chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject, toText } from "../values.ts"

/** System.Text.StringBuilder. */
class StringBuilder extends CsObject {
  readonly typeName = "System.Text.StringBuilder"
  value = ""
  append(text: string): this {
    chargeText(this.value.length > 1_000_000 ? this.value.length : text.length)
    if (this.value.length + text.length > 16_777_216) chargeText(this.value.length + text.length)
    this.value += text
    return this
  }
  override text(): string {
    return this.value
  }
}

/** An encoding by its name in .NET. */
class Encoding extends CsObject {
  readonly typeName = "System.Text.Encoding"
  readonly name: string
  readonly encode: (text: string) => Uint8Array
  readonly decode: (bytes: Uint8Array) => string
  constructor(name: string, encode: (text: string) => Uint8Array, decode: (bytes: Uint8Array) => string) {
    super()
    this.name = name
    this.encode = encode
    this.decode = decode
  }
}

const narrow = (text: string, most: number): Uint8Array =>
  Uint8Array.from(text, (c) => (c.length === 1 && c.charCodeAt(0) <= most ? c.charCodeAt(0) : 63))

/** The encodings of .NET that Node has too. Characters that ASCII lacks become `?`, as in .NET. */
const encodings: readonly (readonly [string, Encoding])[] = [
  ["UTF8", new Encoding("utf-8", utf8Bytes, utf8Text)],
  [
    "ASCII",
    new Encoding(
      "us-ascii",
      (text) => narrow(text, 127),
      (bytes) => latin1Text(bytes).replace(/[\u0080-\u00ff]/g, "?"),
    ),
  ],
  ["Unicode", new Encoding("utf-16", utf16Bytes, utf16Text)],
  [
    "Latin1",
    new Encoding(
      "iso-8859-1",
      (text) => narrow(text, 255),
      (bytes) => latin1Text(bytes),
    ),
  ],
]

/** Finds an encoding by name, in any letter case. windows-1252 is read as ISO-8859-1: the two differ only in control characters. */
function encodingNamed(name: string): Encoding {
  const wanted = name.toLowerCase()
  const aliases: Readonly<Record<string, string>> = {
    utf8: "utf-8",
    ascii: "us-ascii",
    latin1: "iso-8859-1",
    unicode: "utf-16",
    "windows-1252": "iso-8859-1",
  }
  const found = encodings.find(
    ([, { name: known }]) => known === (Object.hasOwn(aliases, wanted) ? aliases[wanted] : wanted),
  )
  if (found === undefined)
    throw new CsException(
      "ArgumentException",
      `'${name}' is not a supported encoding name. (Parameter 'name')`,
    )
  return found[1]
}

/** `Encoding`. Each conversion is charged with two steps for each character. */
function declareEncoding(): void {
  const rows: Record<string, (...values: never[]) => unknown> = {
    "static GetEncoding(string name): Encoding": encodingNamed,
    "GetBytes(string text): byte[]": (self: Encoding, text: string) => {
      chargeText(text.length * 2)
      return self.encode(text)
    },
    "GetString(byte[] bytes): string": (self: Encoding, bytes: Uint8Array) => {
      chargeText(bytes.length * 2)
      return self.decode(bytes)
    },
    "GetString(byte[] bytes, int index, int count): string": (
      self: Encoding,
      bytes: Uint8Array,
      index: number,
      count: number,
    ) => {
      if (index < 0 || count < 0 || index + count > bytes.length) throw outOfRange("bytes")
      chargeText(count * 2)
      return self.decode(bytes.subarray(index, index + count))
    },
    "GetByteCount(string text): int": (self: Encoding, text: string) => self.encode(text).length,
    "WebName: string": (self: Encoding) => self.name,
  }
  for (const [name, encoding] of encodings) rows[`static ${name}: Encoding`] = () => encoding
  rows["static Default: Encoding"] = () => encodings[0]?.[1]
  declareType("Encoding", { holds: (value) => value instanceof Encoding }, rows)
  for (const [type, index] of [
    ["UTF8Encoding", 0],
    ["ASCIIEncoding", 1],
    ["UnicodeEncoding", 2],
  ] as const)
    declareType(
      type,
      { bases: ["Encoding"] },
      {
        [`new(): ${type}`]: () => encodings[index]?.[1],
        [`new(bool mark): ${type}`]: () => encodings[index]?.[1],
      },
    )
}

/** Members of `StringBuilder`. */
const builderRows: Record<string, (...values: never[]) => unknown> = {
  "new(): StringBuilder": () => new StringBuilder(),
  "new(int capacity): StringBuilder": () => new StringBuilder(),
  "new(string text): StringBuilder": (text: string | null) => new StringBuilder().append(text ?? ""),
  "Length: int": (self: StringBuilder) => self.value.length,
  "set Length: int": (self: StringBuilder, length: number) => {
    if (length < 0) throw outOfRange("value")
    chargeText(length)
    self.value = self.value.slice(0, length).padEnd(length, "\0")
  },
  "this[int index]: char": (self: StringBuilder, index: number) => {
    if (index < 0 || index >= self.value.length) throw outOfRange("index")
    return self.value[index]
  },
  "Append(object value): StringBuilder": (self: StringBuilder, value: unknown) => self.append(toText(value)),
  "Append(string value): StringBuilder": (self: StringBuilder, value: string | null) =>
    self.append(value ?? ""),
  "Append(char value): StringBuilder": (self: StringBuilder, value: string) => self.append(value),
  "Append(char value, int count): StringBuilder": (self: StringBuilder, value: string, count: number) => {
    chargeText(count)
    return self.append(value.repeat(count))
  },
  "AppendLine(): StringBuilder": (self: StringBuilder) => self.append("\n"),
  "AppendLine(string value): StringBuilder": (self: StringBuilder, value: string | null) =>
    self.append(`${value ?? ""}\n`),
  "AppendFormat(string format, params object[] values): StringBuilder": (
    self: StringBuilder,
    format: string,
    values: readonly unknown[],
  ) => self.append(compositeFormat(format, values)),
  "AppendJoin<T>(string separator, IEnumerable<T> values): StringBuilder": (
    self: StringBuilder,
    separator: string,
    values: unknown[],
  ) => self.append(values.map(toText).join(separator)),
  "Insert(int index, object value): StringBuilder": (self: StringBuilder, index: number, value: unknown) => {
    if (index < 0 || index > self.value.length) throw outOfRange("index")
    chargeText(self.value.length)
    self.value = self.value.slice(0, index) + toText(value) + self.value.slice(index)
    return self
  },
  "Remove(int index, int count): StringBuilder": (self: StringBuilder, index: number, count: number) => {
    if (index < 0 || count < 0 || index + count > self.value.length) throw outOfRange("index")
    chargeText(self.value.length)
    self.value = self.value.slice(0, index) + self.value.slice(index + count)
    return self
  },
  "Replace(string from, string to): StringBuilder": (
    self: StringBuilder,
    from: string,
    to: string | null,
  ) => {
    const parts = piecesOf(self.value, from)
    chargeText(self.value.length + parts.length * (to ?? "").length)
    self.value = parts.join(to ?? "")
    return self
  },
  "Clear(): StringBuilder": (self: StringBuilder) => {
    self.value = ""
    return self
  },
  "ToString(int start, int length): string": (self: StringBuilder, start: number, length: number) =>
    self.value.slice(start, start + length),
}

export function declareText(): void {
  declareEncoding()
  declareType("StringBuilder", { holds: (value) => value instanceof StringBuilder }, builderRows)
  declareType("Environment", {}, { "static NewLine: string": () => "\n" })
}
