/**
 * The notation of a type: `dyn`, `bool`, `int`, `uint`, `double`, `string`, `bytes`, `timestamp`, `duration`, `null`, `type`, `ipaddress`, `list<T>`,
 * `map<K, V>`, or the name of a declared object type. `list` and `map` alone mean `list<dyn>` and `map<dyn, dyn>`; spaces after the comma are optional.
 */
export type CelType = string

/** A parsed type. `text` is its canonical notation: two types are equal if their texts are. */
export interface CelTypeTree {
  readonly name: string
  readonly args: readonly CelTypeTree[]
  readonly text: CelType
}

const noArgs: readonly CelTypeTree[] = []
const namePattern = /[A-Za-z_][A-Za-z0-9_.-]*/y
const nestingMax = 32

function tree(name: string, args: readonly CelTypeTree[]): CelTypeTree {
  const text = args.length === 0 ? name : `${name}<${args.map((arg) => arg.text).join(", ")}>`
  return { name, args, text }
}

const simpleNames = [
  "dyn",
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "timestamp",
  "duration",
  "null",
  "type",
  "ipaddress",
] as const

type SimpleName = (typeof simpleNames)[number]

/** The types without parameters, by name. */
export const simpleTypes = Object.fromEntries(
  simpleNames.map((name) => [name, tree(name, noArgs)]),
) as Readonly<Record<SimpleName, CelTypeTree>>

/** The type of secrets: no function but `hmac` takes it, and expressions cannot name it. */
export const secretType = tree("secret", noArgs)

/** Whether the language defines this name. Object types must not use it. */
export function isBuiltInTypeName(name: string): boolean {
  return name === "list" || name === "map" || name === secretType.name || Object.hasOwn(simpleTypes, name)
}

/** `list<element>`. */
export function listOf(element: CelTypeTree): CelTypeTree {
  return tree("list", [element])
}

/** `map<key, value>`. */
export function mapOf(key: CelTypeTree, value: CelTypeTree): CelTypeTree {
  return tree("map", [key, value])
}

/** Reads the notation of types: `list<string>`, `map<string, int>`. */
class TypeReader {
  private readonly text: string
  private offset = 0

  constructor(text: string) {
    this.text = text
  }

  read(): CelTypeTree | undefined {
    const type = this.readType(0)
    this.skipBlanks()
    return this.offset === this.text.length ? type : undefined
  }

  /** A type with its arguments; undefined for text that is not a type. */
  private readType(depth: number): CelTypeTree | undefined {
    this.skipBlanks()
    namePattern.lastIndex = this.offset
    const name = namePattern.exec(this.text)?.[0]
    if (name === undefined || depth > nestingMax) return undefined
    this.offset += name.length
    const args: CelTypeTree[] = []
    if (this.accept("<")) {
      do {
        const arg = this.readType(depth + 1)
        if (arg === undefined) return undefined
        args.push(arg)
      } while (this.accept(","))
      if (!this.accept(">")) return undefined
    }
    return named(name, args)
  }

  private accept(sign: string): boolean {
    this.skipBlanks()
    if (this.text[this.offset] !== sign) return false
    this.offset++
    return true
  }

  private skipBlanks(): void {
    while (this.text[this.offset] === " ") this.offset++
  }
}

/** A list or map without arguments holds `dyn`. */
function named(name: string, args: CelTypeTree[]): CelTypeTree | undefined {
  const [first, second] = args
  if (name === "list") return args.length > 1 ? undefined : listOf(first ?? simpleTypes.dyn)
  if (name === "map") {
    if (first === undefined) return mapOf(simpleTypes.dyn, simpleTypes.dyn)
    return second === undefined || args.length > 2 ? undefined : mapOf(first, second)
  }
  if (first !== undefined) return undefined
  if (name === secretType.name) return secretType
  return Object.hasOwn(simpleTypes, name) ? simpleTypes[name as SimpleName] : tree(name, noArgs)
}

// A cache: a compiler parses the same few types for every route.
const readTypes = new Map<string, CelTypeTree>()
const readTypesMax = 1000

/** Parses the notation of `CelType`; undefined if it is invalid. Any other name counts as an object type. */
export function parseCelType(text: string): CelTypeTree | undefined {
  const known = readTypes.get(text)
  if (known !== undefined) return known
  const type = new TypeReader(text).read()
  if (type !== undefined && readTypes.size < readTypesMax) readTypes.set(text, type)
  return type
}

/** The canonical notation of a type. */
export function printCelType(type: CelTypeTree): CelType {
  return type.text
}
