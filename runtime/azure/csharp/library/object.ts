import { CsEnum } from "../collections.ts"
import { formatValue } from "../composite-format.ts"
import { CsException, invalidOperation } from "../errors.ts"
import { charge, chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import type { CsType } from "../type.ts"
import { defaultOf } from "../type-test.ts"
import { CsObject, lowerText, same, toText, typeNameOf, upperText } from "../values.ts"

/** The result of `GetType()`: only the name. */
class TypeName extends CsObject {
  readonly typeName = "System.RuntimeType"
  readonly full: string
  constructor(full: string) {
    super()
    this.full = full
  }
  override text(): string {
    return this.full
  }
  override same(other: unknown): boolean {
    return other instanceof TypeName && other.full === this.full
  }
}

/** A hash that is equal on every machine. */
export function hashText(text: string): number {
  chargeText(text.length)
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 33) ^ text.charCodeAt(at)) | 0
  return hash
}

/** Members of `bool`. Its text is `True` or `False`, as in .NET. */
const boolRows: Record<string, (...values: never[]) => unknown> = {
  "static default(): bool": () => false,
  "static TrueString: string": () => "True",
  "static FalseString: string": () => "False",
  "static Parse(string value): bool": (text: string) => {
    const found = parseBool(text)
    if (found === undefined)
      throw new CsException("FormatException", `String '${text}' was not recognized as a valid Boolean.`)
    return found
  },
  "static TryParse(string value, out bool result): bool": (
    text: string | null,
    out: { set(value: unknown): void },
  ) => {
    const found = text === null ? undefined : parseBool(text)
    out.set(found ?? false)
    return found !== undefined
  },
  "CompareTo(bool other): int": (self: boolean, other: boolean) => Number(self) - Number(other),
}

/** `object`, `bool`, `Type`, delegates and common interfaces. */
export function declareObject(): void {
  declareType(
    "object",
    {},
    {
      "ToString(): string": (self: unknown) => toText(self),
      "Equals(object other): bool": (self: unknown, other: unknown) => same(self, other),
      "GetHashCode(): int": (self: unknown) => hashText(toText(self)),
      "GetType(): Type": (self: unknown) => new TypeName(typeNameOf(self)),
      "static Equals(object a, object b): bool": (a: unknown, b: unknown) => same(a, b),
      "static ReferenceEquals(object a, object b): bool": (a: unknown, b: unknown) => a === b,
    },
  )
  declareType(
    "Type",
    { holds: (value) => value instanceof TypeName },
    {
      "Name: string": (self: TypeName) => self.full.slice(self.full.lastIndexOf(".") + 1),
      "FullName: string": (self: TypeName) => self.full,
    },
  )
  declareType(
    "bool",
    { value: true, bases: ["IFormattable"], holds: (value) => typeof value === "boolean" },
    boolRows,
  )
  declareType(
    "IFormattable",
    {},
    {
      "ToString(string format, IFormatProvider provider): string": (self: unknown, format: string | null) =>
        formatValue(self, format ?? ""),
    },
  )
  declareType("IFormatProvider", { holds: (value) => value instanceof Culture }, {})
  declareType("IDisposable", {}, { "Dispose(): void": () => null })
  declareCulture()
  declareType(
    "?<T>",
    {},
    {
      // A nullable is a value and not a reference: all members except Value work without a value.
      "extension HasValue: bool": (self: unknown) => self !== null,
      "extension Value: T": (self: unknown) => {
        if (self === null) throw invalidOperation("Nullable object must have a value.")
        return self
      },
      "extension typed GetValueOrDefault(): T": (types: readonly CsType[], self: unknown) =>
        self ?? defaultOf(types[0] as CsType),
      "extension GetValueOrDefault(T fallback): T": (self: unknown, fallback: unknown) => self ?? fallback,
      "extension ToString(): string": (self: unknown) => toText(self),
    },
  )
}

class Culture extends CsObject {
  readonly typeName = "System.Globalization.CultureInfo"
}

/** The only culture is the invariant one, whichever name is requested. */
function declareCulture(): void {
  const invariant = new Culture()
  declareType(
    "CultureInfo",
    { bases: ["IFormatProvider"], holds: (value) => value instanceof Culture },
    {
      "static InvariantCulture: CultureInfo": () => invariant,
      "static CurrentCulture: CultureInfo": () => invariant,
      "static CurrentUICulture: CultureInfo": () => invariant,
      "static GetCultureInfo(string name): CultureInfo": () => invariant,
      "new(string name): CultureInfo": () => invariant,
      "TextInfo: TextInfo": (self: Culture) => self,
    },
  )
  declareType(
    "TextInfo",
    { holds: (value) => value instanceof Culture },
    {
      "ToTitleCase(string text): string": (_self: unknown, text: string) =>
        text.replace(/[\p{L}\p{N}']+/gu, (word) =>
          word === word.toUpperCase() && word.length > 1
            ? word
            : `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`,
        ),
      "ToLower(string text): string": (_self: unknown, text: string) => lowerText(text),
      "ToUpper(string text): string": (_self: unknown, text: string) => upperText(text),
    },
  )
}

export function parseBool(text: string): boolean | undefined {
  const word = text.trim().toLowerCase()
  return word === "true" ? true : word === "false" ? false : undefined
}

/** Declares an enumeration: each name a static property; `isFlags` joins values by `|`. */
export function declareEnum(
  name: string,
  namespace: string,
  values: Readonly<Record<string, number>>,
): ReadonlyMap<string, CsEnum> {
  const members = Object.entries(values).map(
    ([key, value]) => new CsEnum(`${namespace}.${name}`, [key], value),
  )
  const rows: Record<string, (...values: never[]) => unknown> = {
    "static default(): object": () => members[0],
  }
  for (const member of members) rows[`static ${member.names[0]}: ${name}`] = () => member
  rows["HasFlag(object flag): bool"] = (self: CsEnum, flag: CsEnum) =>
    (self.value & flag.value) === flag.value
  rows["ToString(string format): string"] = (self: CsEnum, format: string) =>
    format.toUpperCase() === "D" ? String(self.value) : self.text()
  rows[`static op_Explicit(${name} value): int`] = (value: CsEnum) => value.value
  rows[`static op_Explicit(int value): ${name}`] = (value: number) => {
    charge(members.length)
    return (
      members.find((member) => member.value === value) ??
      new CsEnum(`${namespace}.${name}`, [String(value)], value)
    )
  }
  declareType(
    name,
    {
      value: true,
      bases: ["Enum"],
      holds: (value) => value instanceof CsEnum && value.typeName === `${namespace}.${name}`,
    },
    rows,
  )
  return new Map(members.map((member) => [member.names[0] as string, member]))
}
