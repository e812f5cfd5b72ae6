/**
 * A type of an expression: `int`, `List` of `string`, `[]` of `byte`, `?` of `int`, `Func` whose last argument is the result. For `anonymous`, `fields`
 * has the names of its properties; for `ValueTuple` those of its items ("" if unnamed).
 */
export interface CsType {
  readonly name: string
  readonly args: readonly CsType[]
  readonly fields?: readonly string[]
}

const plain = new Map<string, CsType>()

/** A type without arguments; returns the same object for the same name. */
export function named(name: string): CsType {
  let type = plain.get(name)
  if (type === undefined) {
    type = { name, args: [] }
    // Names come from the library and from signatures: names in user code are looked up before they become a type.
    if (plain.size < 2000) plain.set(name, type)
  }
  return type
}

/** A type with arguments. */
export function generic(name: string, ...args: CsType[]): CsType {
  return { name, args }
}

/** An array of elements of a type. */
export function arrayOf(element: CsType): CsType {
  return { name: "[]", args: [element] }
}

/** The C# notation: `Dictionary<string, List<int>>`, `byte[]`, `int?`; anonymous types as `{ name, age }`. */
export function printType(type: CsType): string {
  if (type.name === "[]") return `${printType(type.args[0] as CsType)}[]`
  if (type.name === "?") return `${printType(type.args[0] as CsType)}?`
  if (type.name === "anonymous") return `{ ${(type.fields ?? []).join(", ")} }`
  return type.args.length === 0 ? type.name : `${type.name}<${type.args.map(printType).join(", ")}>`
}

/** Whether two types are equal, including arguments and fields. */
export function sameType(a: CsType, b: CsType): boolean {
  if (a === b) return true
  if (a.name !== b.name || a.args.length !== b.args.length) return false
  // Only the compiler uses the names of a tuple's items.
  if (a.name !== "ValueTuple" && a.fields?.join() !== b.fields?.join()) return false
  return a.args.every((arg, index) => sameType(arg, b.args[index] as CsType))
}

/** Parses the notation of `printType`, used in signatures and plans. @throws Error for anything else. */
export function parseType(text: string): CsType {
  const reader = { text, at: 0 }
  const type = readType(reader, 0)
  if (reader.at !== text.length) throw new Error(`\`${text}\` is not a type`)
  return type
}

interface Reader {
  readonly text: string
  at: number
}

/** Limit on the nesting of types; real types stay far below. */
const depthMax = 16

/** A type with its suffixes `[]` and `?`, which bind from left to right. The depth is limited, because plans come from outside. */
function readType(reader: Reader, depth: number): CsType {
  if (depth > depthMax) throw new Error("the type is nested too deeply")
  let type = readName(reader, depth)
  for (;;) {
    if (reader.text.startsWith("[]", reader.at)) {
      reader.at += 2
      type = arrayOf(type)
    } else if (reader.text[reader.at] === "?") {
      reader.at++
      type = generic("?", type)
    } else return type
  }
}

/** A name with its type arguments. */
function readName(reader: Reader, depth: number): CsType {
  const { text } = reader
  const from = reader.at
  // Arrays and nullable values in declarations of the library: `[]<T>`, `?<T>`.
  if (text.startsWith("[]<", from)) reader.at += 2
  else if (text.startsWith("?<", from)) reader.at++
  while (reader.at < text.length && /[A-Za-z0-9_.]/.test(text[reader.at] as string)) reader.at++
  const name = text.slice(from, reader.at)
  if (name === "") throw new Error(`\`${text}\` is not a type`)
  if (text[reader.at] !== "<") return named(name)
  const args: CsType[] = []
  do {
    reader.at++
    while (text[reader.at] === " ") reader.at++
    args.push(readType(reader, depth + 1))
  } while (text[reader.at] === ",")
  if (text[reader.at] !== ">") throw new Error(`\`${text}\` is not a type`)
  reader.at++
  return { name, args }
}

/** The type with its parameters replaced; unbound parameters stay. */
export function substitute(type: CsType, bound: ReadonlyMap<string, CsType>): CsType {
  if (type.args.length === 0) return bound.get(type.name) ?? type
  const args = type.args.map((arg) => substitute(arg, bound))
  return args.every((arg, index) => arg === type.args[index]) ? type : { ...type, args }
}
