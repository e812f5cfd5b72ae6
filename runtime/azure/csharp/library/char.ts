import { badFormat } from "../errors.ts"
import { declareType } from "../table.ts"
import { Boxed } from "../values.ts"

type Test = (c: string) => boolean

const is =
  (pattern: RegExp): Test =>
  (c) =>
    pattern.test(c)

/** The tests of `char` by Unicode category, as in .NET. */
const tests: Readonly<Record<string, Test>> = {
  IsDigit: is(/\p{Nd}/u),
  IsNumber: is(/\p{N}/u),
  IsLetter: is(/\p{L}/u),
  IsLetterOrDigit: is(/[\p{L}\p{Nd}]/u),
  IsWhiteSpace: is(/\s/u),
  IsUpper: is(/\p{Lu}/u),
  IsLower: is(/\p{Ll}/u),
  IsPunctuation: is(/\p{P}/u),
  IsSymbol: is(/\p{S}/u),
  IsSeparator: is(/\p{Z}/u),
  IsControl: is(/\p{Cc}/u),
}

/** A char is a JavaScript string of one UTF-16 unit, as in .NET. */
export function declareChar(): void {
  const rows: Record<string, (...values: never[]) => unknown> = {
    "static default(): char": () => "\0",
    "static MinValue: char": () => "\0",
    "static MaxValue: char": () => "\uffff",
    "static ToUpper(char c): char": (c: string) => c.toUpperCase().charAt(0),
    "static ToLower(char c): char": (c: string) => c.toLowerCase().charAt(0),
    "static ToUpperInvariant(char c): char": (c: string) => c.toUpperCase().charAt(0),
    "static ToLowerInvariant(char c): char": (c: string) => c.toLowerCase().charAt(0),
    "static ToString(char c): string": (c: string) => c,
    "static GetNumericValue(char c): double": (c: string) => (/[0-9]/.test(c) ? Number(c) : -1),
    "static Parse(string text): char": (text: string) => {
      if (text.length !== 1) throw badFormat("String must be exactly one character long.")
      return text
    },
    "CompareTo(char other): int": (self: string, other: string) => self.charCodeAt(0) - other.charCodeAt(0),
    "Equals(char other): bool": (self: string, other: string) => self === other,
    "ToString(): string": (self: string) => self,
  }
  for (const [name, test] of Object.entries(tests)) {
    rows[`static ${name}(char c): bool`] = test
    rows[`static ${name}(string text, int index): bool`] = (text: string, index: number) =>
      test(text.charAt(index))
  }
  declareType(
    "char",
    { value: true, holds: (value) => value instanceof Boxed && value.typeName === "char" },
    rows,
  )
}
