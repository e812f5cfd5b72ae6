import { CsEnum, type KeyComparison } from "../collections.ts"
import { declareType } from "../table.ts"
import { CsObject, compareText, upperText } from "../values.ts"
import { declareEnum, hashText } from "./object.ts"

class Comparer extends CsObject {
  readonly typeName = "System.StringComparer"
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
}

/** Whether a StringComparison or StringComparer ignores case; false without one. */
export function ignoresCase(comparison: unknown): boolean {
  if (comparison instanceof CsEnum) return comparison.names[0]?.endsWith("IgnoreCase") === true
  return comparison instanceof Comparer && comparison.name.endsWith("IgnoreCase")
}

export function comparisonOf(comparer: unknown): KeyComparison {
  return ignoresCase(comparer) ? "ignore-case" : "default"
}

/** Folds case for comparisons: by character, like the ordinal and the invariant comparison. */
export function fold(text: string, comparison: unknown): string {
  return ignoresCase(comparison) ? upperText(text) : text
}

/** The order of two texts: by code unit for ordinal comparisons, otherwise by letters. */
export function orderOf(a: string | null, b: string | null, comparison: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  const name =
    comparison instanceof CsEnum
      ? (comparison.names[0] ?? "")
      : comparison instanceof Comparer
        ? comparison.name
        : ""
  const [x, y] = [fold(a, comparison), fold(b, comparison)]
  if (name.startsWith("Ordinal")) return x < y ? -1 : x > y ? 1 : 0
  return compareText(x, y)
}

const names = [
  "CurrentCulture",
  "CurrentCultureIgnoreCase",
  "InvariantCulture",
  "InvariantCultureIgnoreCase",
  "Ordinal",
  "OrdinalIgnoreCase",
]

/** `StringComparer` and `StringComparison`. All cultures are the invariant one. */
export function declareStringComparison(): void {
  declareEnum("StringComparison", "System", Object.fromEntries(names.map((name, index) => [name, index])))
  const rows: Record<string, (...values: never[]) => unknown> = {
    "Equals(string a, string b): bool": (self: Comparer, a: string | null, b: string | null) =>
      a === null || b === null ? a === b : fold(a, self) === fold(b, self),
    "Compare(string a, string b): int": (self: Comparer, a: string | null, b: string | null) =>
      orderOf(a, b, self),
    "GetHashCode(string text): int": (self: Comparer, text: string) => hashText(fold(text, self)),
  }
  for (const name of names) {
    const comparer = new Comparer(name)
    rows[`static ${name}: StringComparer`] = () => comparer
  }
  declareType("StringComparer", { holds: (value) => value instanceof Comparer }, rows)
}
