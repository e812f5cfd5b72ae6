/** A parameter `x`, and a condition that reads it. */
interface ValueCondition {
  readonly expression: string
  readonly type: string
  readonly of?: string
}

/** A condition for each type a parameter may have, by name. */
export const valueConditions: Readonly<Record<string, ValueCondition>> = {
  int: { expression: "x < 10", type: "INT" },
  uint: { expression: "x < 10u", type: "UINT" },
  double: { expression: "x < 10.0", type: "DOUBLE" },
  bool: { expression: "x", type: "BOOL" },
  string: { expression: "x == 'a'", type: "STRING" },
  duration: { expression: "x < duration('1h')", type: "DURATION" },
  timestamp: { expression: "x < timestamp('2024-01-01T00:00:00Z')", type: "TIMESTAMP" },
  ipaddress: { expression: "x.in_cidr('10.0.0.0/8')", type: "IPADDRESS" },
  any: { expression: "x == 1 || x == 'a'", type: "ANY" },
  field: { expression: "x.a.b == 1", type: "ANY" },
  strings: { expression: "'a' in x", type: "LIST", of: "STRING" },
  ints: { expression: "1 in x", type: "LIST", of: "INT" },
  durations: { expression: "x.exists(d, d < duration('1h'))", type: "LIST", of: "DURATION" },
  addresses: { expression: "x.all(a, a.in_cidr('10.0.0.0/8'))", type: "LIST", of: "IPADDRESS" },
  stringMap: { expression: "x['a'] == 'a'", type: "MAP", of: "STRING" },
  intMap: { expression: "'a' in x && x['a'] < 3", type: "MAP", of: "INT" },
  doubleMap: { expression: "x.all(k, x[k] == 1.0)", type: "MAP", of: "DOUBLE" },
  division: { expression: "10 / x > 2", type: "INT" },
  pattern: { expression: "x.matches('^a+$')", type: "STRING" },
  conversion: { expression: "int(x) < 10", type: "STRING" },
  hours: { expression: "x.getHours('Europe/Berlin') < 12", type: "TIMESTAMP" },
}

const numbers = [0, 1, -1, 5, 10, 1.5, 1e3, 9007199254740991, 2 ** 53, 1e18, 1e19, -1e19, 1e30]
const numberTexts = [
  ..."0 1 -1 5 10 1.5 0.1 .5 1e3 0x10 +5 9223372036854775807 9223372036854775808".split(" "),
]
const moreNumberTexts = "18446744073709551615 18446744073709551616 NaN Infinity -inf 1_000".split(" ")
const texts = ["", " 5", "5 ", "a", "aaa", "true", "True", "t", "false", "é", "1h 1m", "2023-01-01 00:00:00Z"]
const durations = "1h 30m 1h30m 90 1d -1h 1.5h 1ns 1µs .5s 100000000h".split(" ")
const times = [
  "2023-01-01T00:00:00Z",
  "2023-01-01T00:00:00.123456789Z",
  "2023-01-01T00:00:00+02:00",
  "2023-01-01T00:00:00-00:00",
  "2025-01-01T00:00:00Z",
  "2023-01-01t00:00:00z",
  "2023-01-01",
  "2023-01-01T00:00:00",
  "2023-02-30T00:00:00Z",
  "2023-01-01T24:00:00Z",
  "2023-01-01T00:00:60Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "10000-01-01T00:00:00Z",
]
const addresses =
  "10.0.0.1 10.0.0.256 10.0.0 010.0.0.1 192.168.0.1 ::1 ::ffff:10.0.0.1 10.0.0.0/8 fe80::1%eth0".split(" ")

/** What a value of a context may be, fitting or not. */
export const contextValues: readonly unknown[] = [
  ...[null, true, false],
  ...numbers,
  ...numberTexts,
  ...moreNumberTexts,
  ...texts,
  ...durations,
  ...times,
  ...addresses,
  ...[[], ["a"], ["b"], [1], ["1"], [1.5], ["a", 1], [null], [["a"]], ["1h"], ["2h"], ["10.0.0.1"], ["x"]],
  ...[{}, { a: "a" }, { a: 1 }, { a: "1" }, { a: 5 }, { a: 1.5 }, { a: null }, { a: [1] }, { b: 1 }],
  { a: { b: 1 } },
]

/** The model with a relation for each condition, which its name has too. */
export const valuesModel = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "doc",
      relations: each(() => ({ this: {} })),
      metadata: {
        relations: each((name) => ({ directly_related_user_types: [{ type: "user", condition: name }] })),
      },
    },
  ],
  conditions: each((name, { expression, type, of }) => ({
    name,
    expression,
    parameters: {
      x: {
        type_name: `TYPE_NAME_${type}`,
        ...(of === undefined ? {} : { generic_types: [{ type_name: `TYPE_NAME_${of}` }] }),
      },
    },
  })),
}

function each<Value>(make: (name: string, condition: ValueCondition) => Value): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(valueConditions).map(([name, condition]) => [name, make(name, condition)]),
  )
}

const refused = "validation_error"

/** Why OpenFGA takes a value otherwise, by a name; undefined when we know of no reason. The names stand in compiler/docs/coming-from/openfga.md. */
export function nameOfValueDifference(
  condition: string,
  value: unknown,
  theirs: string,
  ours: string,
): string | undefined {
  const { type, of } = valueConditions[condition] ?? {}
  const is = (...types: string[]) => types.includes(of ?? type ?? "")
  if (ours === refused && theirs !== refused) {
    if (is("INT", "UINT") && typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      return "a number beyond 2^53 for an int"
    if (is("INT", "UINT") && typeof value === "string" && /^\d{19,20}$/.test(value))
      return "an int or uint beyond its 64 bits"
    if (is("DOUBLE") && value === "-inf") return "a double as text"
    return is("IPADDRESS") && String(value).includes("%")
      ? "an address with a zone (`fe80::1%eth0`)"
      : undefined
  }
  if (theirs === refused && ours !== refused) {
    if (is("DOUBLE") && typeof value === "string" && /^\d*\.?\d+$/.test(value)) return "a double as text"
    if (is("TIMESTAMP") && /[tz]/.test(String(value))) return "a timestamp with a small `t` or `z`"
  }
  return undefined
}
