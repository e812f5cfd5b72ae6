import { type CelTypeTree, parseCelType } from "./types.ts"

/** One overload. A method's receiver is its first parameter. A parameter of one capital letter accepts any type. */
export interface Signature {
  readonly parameters: readonly CelTypeTree[]
  readonly returns: CelTypeTree
  /** Whether it has type letters. */
  readonly isGeneric: boolean
}

// The standard library of the language (cel-spec, langdef.md, "List of Standard Definitions"), the string functions of the common extension, and
// OpenFGA's addresses. The functions check their arguments themselves: only the type check uses these rows.
const operators = `
+: int int int; uint uint uint; double double double; string string string; bytes bytes bytes; list<A> list<A> list<A>; timestamp duration timestamp; duration timestamp timestamp; duration duration duration
-: int int int; uint uint uint; double double double; timestamp timestamp duration; timestamp duration timestamp; duration duration duration; int int; double double
*: int int int; uint uint uint; double double double
/: int int int; uint uint uint; double double double
%: int int int; uint uint uint
!: bool bool
==: A A bool
!=: A A bool
in: A list<A> bool; A map<A,B> bool
[]: list<A> int A; map<A,B> A B`

const ordered = [
  "bool bool",
  "int int",
  "uint uint",
  "double double",
  "string string",
  "bytes bytes",
  "timestamp timestamp",
  "duration duration",
  "int uint",
  "uint int",
  "int double",
  "double int",
  "uint double",
  "double uint",
]

const functions = `
size: string int; bytes int; list<A> int; map<A,B> int
matches: string string bool
bool: bool bool; string bool
int: int int; uint int; double int; string int; timestamp int
uint: uint uint; int uint; double uint; string uint
double: double double; int double; uint double; string double
string: string string; bool string; int string; uint string; double string; bytes string; timestamp string; duration string
bytes: bytes bytes; string bytes
timestamp: timestamp timestamp; string timestamp; int timestamp
duration: duration duration; string duration
dyn: A dyn
type: A type
ipaddress: string ipaddress
strings.quote: string string`

const methods = `
size: string int; bytes int; list<A> int; map<A,B> int
matches: string string bool
contains: string string bool
startsWith: string string bool
endsWith: string string bool
getFullYear: timestamp int; timestamp string int
getMonth: timestamp int; timestamp string int
getDate: timestamp int; timestamp string int
getDayOfMonth: timestamp int; timestamp string int
getDayOfWeek: timestamp int; timestamp string int
getDayOfYear: timestamp int; timestamp string int
getHours: timestamp int; timestamp string int; duration int
getMinutes: timestamp int; timestamp string int; duration int
getSeconds: timestamp int; timestamp string int; duration int
getMilliseconds: timestamp int; timestamp string int; duration int
charAt: string int string
indexOf: string string int; string string int int
lastIndexOf: string string int; string string int int
lowerAscii: string string
upperAscii: string string
trim: string string
replace: string string string string; string string string int string
split: string string list<string>; string string int list<string>
reverse: string string
format: string list<A> string
substring: string int string; string int int string
join: list<string> string; list<string> string string
in_cidr: ipaddress string bool`

function readType(text: string): CelTypeTree {
  const type = parseCelType(text)
  if (type === undefined) throw new Error(`signature with a wrong type: ${text}`)
  return type
}

function readRow(overload: string): Signature {
  const types = overload.trim().split(/ +/).map(readType)
  const returns = types.pop()
  if (returns === undefined) throw new Error("signature without a result")
  return { parameters: types, returns, isGeneric: /\b[A-Z]\b/.test(overload) }
}

/** Reads the table: `name: parameters result; …`. */
function readTable(text: string): Map<string, readonly Signature[]> {
  const rows = text.trim().split("\n")
  return new Map(
    rows.map((row) => {
      const colon = row.indexOf(": ")
      return [
        row.slice(0, colon),
        row
          .slice(colon + 2)
          .split(";")
          .map(readRow),
      ]
    }),
  )
}

const orderings = ["<", "<=", ">", ">="].map((sign) => {
  return `${sign}: ${ordered.map((pair) => `${pair} bool`).join("; ")}`
})

/** Overloads by form and name. */
export type Library = Readonly<
  Record<"operator" | "function" | "method", ReadonlyMap<string, readonly Signature[]>>
>

/** The library of conditions: OpenFGA's language. */
export const standardLibrary: Library = {
  operator: readTable(`${operators}\n${orderings.join("\n")}`),
  function: readTable(functions),
  method: readTable(methods),
}

/** The functions of cel-go's extension libraries and additional ones for a gateway: random ids, digests, and escaping for URLs and XML. */
const extensions = `
base64.encode: bytes string
base64.decode: string bytes
regex.extractAll: string string list<string>
regex.replace: string string string string; string string string int string
math.ceil: double double
math.floor: double double
math.round: double double
math.trunc: double double
math.abs: int int; uint uint; double double
math.sign: int int; uint uint; double double
math.sqrt: int double; uint double; double double
math.isNaN: double bool
math.isInf: double bool
math.isFinite: double bool
math.bitAnd: int int int; uint uint uint
math.bitOr: int int int; uint uint uint
math.bitXor: int int int; uint uint uint
math.bitNot: int int; uint uint
math.bitShiftLeft: int int int; uint int uint
math.bitShiftRight: int int int; uint int uint
lists.range: int list<int>
sets.contains: list<A> list<A> bool
sets.equivalent: list<A> list<A> bool
sets.intersects: list<A> list<A> bool
uuid: string
xmlEscape: string string
urlEncode: string string
sha256: string bytes; bytes bytes
hmac: string secret string bytes; string secret bytes bytes; string string string bytes; string string bytes bytes; string bytes string bytes; string bytes bytes bytes
cel.bind: A B C C`

const extensionMethods = `
percentEncode: string string
percentDecode: string string
xmlEscape: string string
urlEncode: string string
hex: bytes string
slice: list<A> int int list<A>
flatten: list<A> list<dyn>; list<A> int list<dyn>
sort: list<A> list<A>
distinct: list<A> list<A>
reverse: string string; list<A> list<A>`

const numbers = ["int", "uint", "double"]

/** Of numbers of one type the result has that type, of mixed types `dyn`. From four arguments on, only the evaluation knows the type. */
function outermost(name: string): string {
  const pairs = numbers.flatMap((one) => numbers.map((other) => [one, other]))
  const triples = pairs.flatMap((pair) => numbers.map((other) => [...pair, other]))
  const mixed = [...pairs, ...triples].map((types) => {
    const [first = ""] = types
    return `${types.join(" ")} ${types.every((type) => type === first) ? first : "dyn"}`
  })
  const alone = [...numbers, "dyn"].map((type) => `list<${type}> ${type}`)
  const more = [4, 5, 6].map((count) => "dyn ".repeat(count + 1).trim())
  return `${name}: ${[...numbers.map((type) => `${type} ${type}`), ...alone, ...mixed, ...more].join("; ")}`
}

/** The library of expressions in gateway.conf. */
export const extendedLibrary: Library = {
  operator: standardLibrary.operator,
  function: new Map([
    ...standardLibrary.function,
    ...readTable([extensions, outermost("math.greatest"), outermost("math.least")].join("\n")),
  ]),
  method: new Map([...standardLibrary.method, ...readTable(extensionMethods)]),
}
