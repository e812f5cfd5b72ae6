import { lastPositionOf, piecesOf, positionOf } from "../../../pattern/text-search.ts"
import { CsEnum } from "../collections.ts"
import { compositeFormat } from "../composite-format.ts"
import { argument, argumentNull, CsException, outOfRange } from "../errors.ts"
import { chargeItems, chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import { elementsOf, lowerText, toText, upperText } from "../values.ts"
import { stringExtensions } from "./messages.ts"
import { declareEnum, hashText } from "./object.ts"
import { fold, orderOf } from "./string-comparison.ts"

const upper = (text: string | null): string | null => (text === null ? null : upperText(text))

type Text = string

function checkSpan(text: Text, start: number, length: number): void {
  if (start < 0 || start > text.length) throw outOfRange("startIndex")
  if (length < 0 || start + length > text.length)
    throw new CsException(
      "ArgumentOutOfRangeException",
      "Index and length must refer to a location within the string. (Parameter 'length')",
    )
}

function needed(value: Text | null, parameter: string): Text {
  if (value === null || value === undefined) throw argumentNull(parameter)
  return value
}

function join(separator: unknown, values: unknown): Text {
  const items = elementsOf(values)
  chargeItems(items.length)
  // Eight for each separator: charged before the text is built, when its length is not known yet.
  const texts = items.map(toText)
  chargeText(texts.reduce((total, text) => total + text.length + 8, 0))
  return texts.join(toText(separator))
}

function concat(values: unknown): Text {
  return join("", values)
}

function replaceAll(self: Text, from: Text | null, to: Text | null): Text {
  if (needed(from, "oldValue") === "")
    throw argument("String cannot be of zero length. (Parameter 'oldValue')")
  const parts = piecesOf(self, from as Text)
  // Charged before the result is built: it can be far longer than both.
  chargeText(self.length + parts.length * (to ?? "").length)
  return parts.join(to ?? "")
}

/**
 * Replaces without regard to letter case. Folding may change the length of a text (`ß`): then the offsets do not fit, and the exact text is
 * replaced.
 */
function replaceFolded(self: Text, from: Text, to: Text | null, comparison: unknown): Text {
  const [text, sought] = [fold(self, comparison), fold(needed(from, "oldValue"), comparison)]
  // Folding changed the length, so offsets of the folded text do not fit the original.
  if (text.length !== self.length || sought === "") return replaceAll(self, from, to)
  let made = ""
  let at = 0
  for (let found = positionOf(text, sought); found >= 0; found = positionOf(text, sought, at)) {
    made += self.slice(at, found) + (to ?? "")
    at = found + sought.length
    chargeText(made.length)
  }
  return made + self.slice(at)
}

/** Splits at any of the separators into at most `count` pieces; without separators at white space. */
function split(
  self: Text,
  separators: readonly Text[] | null,
  count: number,
  options: CsEnum | null,
): Text[] {
  const sought = (separators ?? []).filter((separator) => separator !== "" && separator !== null)
  const [dropEmpty, trimmed] = [
    options?.has("RemoveEmptyEntries") === true,
    options?.has("TrimEntries") === true,
  ]
  // Charged for each separator, because each is looked for at each position.
  chargeText(self.length * (1 + sought.length))
  const [only, more] = sought
  // One separator and all pieces, the usual case, needs no look at each position.
  if (only !== undefined && more === undefined && count === all) {
    const found = piecesOf(self, only)
    const cut = trimmed ? found.map((piece) => piece.trim()) : found
    const kept = dropEmpty ? cut.filter((piece) => piece !== "") : cut
    chargeItems(kept.length)
    return kept
  }
  const pieces: Text[] = []
  let from = 0
  let at = 0
  const keep = (piece: Text): void => {
    const kept = trimmed ? piece.trim() : piece
    if (kept !== "" || !dropEmpty) pieces.push(kept)
  }
  while (at < self.length && pieces.length < count - 1) {
    const found =
      // Without separators, .NET splits at white space.
      sought.length === 0
        ? /\s/.test(self[at] as string)
          ? self[at]
          : undefined
        : sought.find((separator) => self.startsWith(separator, at))
    if (found === undefined) {
      at++
      continue
    }
    keep(self.slice(from, at))
    at += found.length
    from = at
  }
  // The last piece is the rest, with all separators in it.
  if (count > 0) keep(self.slice(from))
  chargeItems(pieces.length)
  return pieces
}

/** White space in .NET; JavaScript's definition includes U+FEFF and excludes U+0085. */
const whiteSpace = /\p{White_Space}/u

function trimOf(self: Text, characters: readonly Text[] | null, start: boolean, end: boolean): Text {
  const isTrimmed = (c: Text): boolean =>
    characters === null || characters.length === 0 ? whiteSpace.test(c) : characters.includes(c)
  let [from, to] = [0, self.length]
  while (start && from < to && isTrimmed(self[from] as string)) from++
  while (end && to > from && isTrimmed(self[to - 1] as string)) to--
  return self.slice(from, to)
}

const all = Number.MAX_SAFE_INTEGER

function indexOf(self: Text, sought: Text | null, start: number): number {
  if (start < 0 || start > self.length) throw outOfRange("startIndex")
  chargeText(self.length)
  return positionOf(self, needed(sought, "value"), start)
}

function lastIndexOf(self: Text, sought: Text): number {
  chargeText(self.length)
  return lastPositionOf(self, sought)
}

function holds(self: Text, sought: Text): boolean {
  return indexOf(self, sought, 0) >= 0
}

function isBlank(text: Text | null): boolean {
  return text === null || text === undefined || !/\P{White_Space}/u.test(text)
}

/** Static members of `string`. */
const statics = {
  "static Empty: string": () => "",
  "static IsNullOrEmpty(string value): bool": (text: Text | null) =>
    text === null || text === undefined || text === "",
  "static IsNullOrWhiteSpace(string value): bool": isBlank,
  "static Join(string separator, params string[] values): string": join,
  "static Join(string separator, params object[] values): string": join,
  "static Join<R>(string separator, IEnumerable<R> values): string": join,
  "static Join<R>(char separator, IEnumerable<R> values): string": join,
  "static Concat(params object[] values): string": concat,
  "static Concat<R>(IEnumerable<R> values): string": concat,
  "static Format(string format, params object[] values): string": (
    format: Text,
    values: readonly unknown[],
  ) => compositeFormat(needed(format, "format"), values),
  "static Format(IFormatProvider provider, string format, params object[] values): string": (
    _provider: unknown,
    format: Text,
    values: readonly unknown[],
  ) => compositeFormat(needed(format, "format"), values),
  // `string.Equals(null, null)` is true.
  "static Equals(string a, string b): bool": (a: Text | null, b: Text | null) => a === b,
  "static Equals(string a, string b, StringComparison comparison): bool": (
    a: Text | null,
    b: Text | null,
    comparison: CsEnum,
  ) => (a === null || b === null ? a === b : fold(a, comparison) === fold(b, comparison)),
  "static Compare(string a, string b): int": (a: Text | null, b: Text | null) => orderOf(a, b, null),
  "static Compare(string a, string b, bool ignoreCase): int": (
    a: Text | null,
    b: Text | null,
    ignore: boolean,
  ) => orderOf(ignore ? upper(a) : a, ignore ? upper(b) : b, null),
  "static Compare(string a, string b, StringComparison comparison): int": orderOf,
  "static CompareOrdinal(string a, string b): int": (a: Text | null, b: Text | null) =>
    orderOf(a, b, new CsEnum("System.StringComparison", ["Ordinal"], 4)),
  "static Copy(string value): string": (text: Text) => text,
  "new(char c, int count): string": (c: Text, count: number) => {
    if (count < 0) throw outOfRange("count")
    chargeText(count)
    return c.repeat(count)
  },
  "new(char[] value): string": (value: readonly Text[] | null) => (value === null ? "" : concat(value)),
  "new(char[] value, int start, int length): string": (
    value: readonly Text[],
    start: number,
    length: number,
  ) => concat(value.slice(start, start + length)),
}

/** Members that search and compare. Without a comparison they are ordinal. */
const searching = {
  "Length: int": (self: Text) => self.length,
  "this[int index]: char": (self: Text, index: number) => {
    if (index < 0 || index >= self.length)
      throw new CsException("IndexOutOfRangeException", "Index was outside the bounds of the array.")
    return self[index]
  },
  "Contains(string value): bool": (self: Text, sought: Text | null) => holds(self, needed(sought, "value")),
  "Contains(char value): bool": (self: Text, sought: Text) => self.includes(sought),
  "Contains(string value, StringComparison comparison): bool": (
    self: Text,
    sought: Text,
    comparison: CsEnum,
  ) => holds(fold(self, comparison), fold(needed(sought, "value"), comparison)),
  "StartsWith(string value): bool": (self: Text, sought: Text | null) =>
    self.startsWith(needed(sought, "value")),
  "StartsWith(char value): bool": (self: Text, sought: Text) => self.startsWith(sought),
  "StartsWith(string value, StringComparison comparison): bool": (
    self: Text,
    sought: Text,
    comparison: CsEnum,
  ) => fold(self, comparison).startsWith(fold(needed(sought, "value"), comparison)),
  "StartsWith(string value, bool ignoreCase, IFormatProvider culture): bool": (
    self: Text,
    sought: Text,
    ignore: boolean,
    // Folded to upper case, as .NET's invariant comparison does.
  ) => (ignore ? upperText(self).startsWith(upperText(sought)) : self.startsWith(sought)),
  "EndsWith(string value): bool": (self: Text, sought: Text | null) => self.endsWith(needed(sought, "value")),
  "EndsWith(char value): bool": (self: Text, sought: Text) => self.endsWith(sought),
  "EndsWith(string value, StringComparison comparison): bool": (
    self: Text,
    sought: Text,
    comparison: CsEnum,
  ) => fold(self, comparison).endsWith(fold(needed(sought, "value"), comparison)),
  "Equals(string other): bool": (self: Text, other: Text | null) => self === other,
  "Equals(string other, StringComparison comparison): bool": (
    self: Text,
    other: Text | null,
    comparison: CsEnum,
  ) => other !== null && fold(self, comparison) === fold(other, comparison),
  "CompareTo(string other): int": (self: Text, other: Text | null) => orderOf(self, other, null),
  "IndexOf(string value): int": (self: Text, sought: Text | null) => indexOf(self, sought, 0),
  "IndexOf(char value): int": (self: Text, sought: Text) => indexOf(self, sought, 0),
  "IndexOf(string value, int start): int": indexOf,
  "IndexOf(char value, int start): int": indexOf,
  "IndexOf(string value, StringComparison comparison): int": (self: Text, sought: Text, comparison: CsEnum) =>
    indexOf(fold(self, comparison), fold(needed(sought, "value"), comparison), 0),
  "IndexOf(string value, int start, StringComparison comparison): int": (
    self: Text,
    sought: Text,
    start: number,
    comparison: CsEnum,
  ) => indexOf(fold(self, comparison), fold(needed(sought, "value"), comparison), start),
  "LastIndexOf(string value): int": (self: Text, sought: Text | null) =>
    lastIndexOf(self, needed(sought, "value")),
  "LastIndexOf(char value): int": (self: Text, sought: Text) => self.lastIndexOf(sought),
  "LastIndexOf(string value, StringComparison comparison): int": (
    self: Text,
    sought: Text,
    comparison: CsEnum,
  ) => lastIndexOf(fold(self, comparison), fold(needed(sought, "value"), comparison)),
  "IndexOfAny(char[] values): int": (self: Text, values: readonly Text[]) => {
    chargeText(self.length * values.length)
    // Characters of .NET are UTF-16 units, as those of JavaScript.
    return self.split("").findIndex((c) => values.includes(c))
  },
  "GetHashCode(): int": hashText,
}

/** Members that return a changed text. New texts are charged by their length. */
const changing = {
  "Substring(int start): string": (self: Text, start: number) => {
    if (start < 0 || start > self.length)
      throw new CsException(
        "ArgumentOutOfRangeException",
        "startIndex cannot be larger than length of string. (Parameter 'startIndex')",
      )
    return self.slice(start)
  },
  "Substring(int start, int length): string": (self: Text, start: number, length: number) => {
    checkSpan(self, start, length)
    return self.slice(start, start + length)
  },
  "Replace(string from, string to): string": replaceAll,
  "Replace(char from, char to): string": replaceAll,
  "Replace(string from, string to, StringComparison comparison): string": replaceFolded,
  "Remove(int start): string": (self: Text, start: number) => {
    checkSpan(self, start, 0)
    return self.slice(0, start)
  },
  "Remove(int start, int count): string": (self: Text, start: number, count: number) => {
    checkSpan(self, start, count)
    return self.slice(0, start) + self.slice(start + count)
  },
  "Insert(int start, string value): string": (self: Text, start: number, value: Text) => {
    checkSpan(self, start, 0)
    chargeText(self.length + value.length)
    return self.slice(0, start) + value + self.slice(start)
  },
  "ToLower(): string": lowerText,
  "ToUpper(): string": upperText,
  "ToLowerInvariant(): string": lowerText,
  "ToUpperInvariant(): string": upperText,
  "ToLower(CultureInfo culture): string": lowerText,
  "ToUpper(CultureInfo culture): string": upperText,
  "Trim(params char[] characters): string": (self: Text, characters: readonly Text[] | null) =>
    trimOf(self, characters, true, true),
  "TrimStart(params char[] characters): string": (self: Text, characters: readonly Text[] | null) =>
    trimOf(self, characters, true, false),
  "TrimEnd(params char[] characters): string": (self: Text, characters: readonly Text[] | null) =>
    trimOf(self, characters, false, true),
  "PadLeft(int width): string": (self: Text, width: number) => padded(self, width, " ", true),
  "PadLeft(int width, char c): string": (self: Text, width: number, c: Text) => padded(self, width, c, true),
  "PadRight(int width): string": (self: Text, width: number) => padded(self, width, " ", false),
  "PadRight(int width, char c): string": (self: Text, width: number, c: Text) =>
    padded(self, width, c, false),
  "ToString(IFormatProvider provider): string": (self: Text) => self,
  "Clone(): object": (self: Text) => self,
  "Normalize(): string": (self: Text) => {
    chargeText(self.length * 4)
    // NFC is the default of .NET. Normalizing can make a text longer.
    return self.normalize("NFC")
  },
}

function padded(self: Text, width: number, c: Text, left: boolean): Text {
  if (width < 0) throw outOfRange("totalWidth")
  chargeText(width)
  return left ? self.padStart(width, c) : self.padEnd(width, c)
}

/** The overloads of `Split`; one implementation has the separators as a list. */
const listing = {
  "Split(params char[] separators): string[]": (self: Text, separators: readonly Text[] | null) =>
    split(self, separators, all, null),
  "Split(params string[] separators): string[]": (self: Text, separators: readonly Text[] | null) =>
    split(self, separators, all, null),
  "Split(char separator, StringSplitOptions options): string[]": (
    self: Text,
    separator: Text,
    options: CsEnum,
  ) => split(self, [separator], all, options),
  "Split(string separator, StringSplitOptions options): string[]": (
    self: Text,
    separator: Text,
    options: CsEnum,
  ) => split(self, [separator], all, options),
  "Split(char[] separators, StringSplitOptions options): string[]": (
    self: Text,
    separators: readonly Text[],
    options: CsEnum,
  ) => split(self, separators, all, options),
  "Split(string[] separators, StringSplitOptions options): string[]": (
    self: Text,
    separators: readonly Text[],
    options: CsEnum,
  ) => split(self, separators, all, options),
  "Split(char[] separators, int count): string[]": (self: Text, separators: readonly Text[], count: number) =>
    split(self, separators, count, null),
  "Split(char separator, int count): string[]": (self: Text, separator: Text, count: number) =>
    split(self, [separator], count, null),
  "Split(string separator, int count): string[]": (self: Text, separator: Text, count: number) =>
    split(self, [separator], count, null),
  "Split(char[] separators, int count, StringSplitOptions options): string[]": split,
  "Split(string[] separators, int count, StringSplitOptions options): string[]": split,
  "ToCharArray(): char[]": (self: Text) => {
    chargeItems(self.length)
    return self.split("")
  },
}

/** `string`: all members, in groups. */
export function declareString(): void {
  declareEnum("StringSplitOptions", "System", { None: 0, RemoveEmptyEntries: 1, TrimEntries: 2 })
  declareType(
    "string",
    { bases: ["IEnumerable<char>"], holds: (value) => typeof value === "string" },
    {
      ...statics,
      ...searching,
      ...changing,
      ...listing,
      ...stringExtensions,
    },
  )
}
