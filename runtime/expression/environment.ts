import { extendedLibrary, type Library, standardLibrary } from "./signatures.ts"
import type { Meaning } from "./syntax-tree.ts"
import { type CelType, type CelTypeTree, isBuiltInTypeName, parseCelType, secretType } from "./types.ts"

/**
 * A method of an object type: `request.header("X")`. `call` gets the object and the arguments as values of the language (see `compileExpression`);
 * without `call`, the method of the same name on the JavaScript object is called. A result of `undefined` is the error `no-such-key`.
 */
export interface MethodType {
  readonly parameters: readonly CelType[]
  readonly returns: CelType
  readonly call?: (object: unknown, ...args: readonly unknown[]) => unknown
}

/**
 * An object with known fields. Without `open`, an undeclared field is a finding. With it, an undeclared field has that type and may be missing at
 * evaluation (error `no-such-key`; test with `has(object.field)`). `open: "dyn"` fits the claims of a token.
 */
export interface ObjectType {
  readonly fields: Readonly<Record<string, CelType>>
  readonly methods?: Readonly<Record<string, MethodType>>
  readonly open?: CelType
}

/**
 * The names that an expression may use at some place. Names of variables may contain dots (`a.b`: the longest declared one takes precedence over
 * fields), and may be reserved words (`var`, `for`, …), but not `in`, `true`, `false`, `null`. Inside a `container` (`x.y`), the name `z` is looked up
 * as `x.y.z`, then `x.z`, then `z`; `.z` is only `z`. Object types may refer to each other; their names have at least two letters.
 */
export interface Declarations {
  readonly variables: Readonly<Record<string, CelType>>
  readonly objects?: Readonly<Record<string, ObjectType>>
  /** Variables that can only be the key of `hmac`. Their values are `SecretKey`. */
  readonly secrets?: readonly string[]
  readonly container?: string
  /** `has(a.b)` is false if `a` is null. In CEL and in conditions it is an error. */
  readonly nullHasNothing?: true
  /** Includes the functions of CEL's extension libraries. Conditions have OpenFGA's language, without them. */
  readonly extended?: true
}

/** A method with parsed types. */
export interface DeclaredMethod {
  readonly parameters: readonly CelTypeTree[]
  readonly returns: CelTypeTree
  readonly isGeneric: false
  readonly call: ((object: unknown, ...args: readonly unknown[]) => unknown) | undefined
}

/** An object type with parsed types. */
export interface DeclaredObject {
  readonly name: string
  readonly fields: ReadonlyMap<string, CelTypeTree>
  readonly methods: ReadonlyMap<string, DeclaredMethod>
  readonly open: CelTypeTree | undefined
}

/** Declarations prepared for checking and compiling. Immutable; only `declareEnvironment` creates it. */
export interface Environment {
  readonly variables: ReadonlyMap<string, CelTypeTree>
  readonly objects: ReadonlyMap<string, DeclaredObject>
  /** Whether a type is an object type. */
  readonly isObject: (name: string) => boolean
  /** The meanings of the variable names. */
  readonly meanings: ReadonlyMap<string, Meaning>
  /** The prefixes to try when a name is looked up: `["x.y.", "x.", ""]` inside `x.y`. */
  readonly prefixes: readonly string[]
  /** Whether a name may mean something other than the variable of that name: some names have dots, or there is a container. */
  readonly isQualified: boolean
  readonly nullHasNothing: boolean
  readonly extended: boolean
  /** Functions, methods and operators. */
  readonly library: Library
}

/** The prefixes under which a name is searched, from the innermost container outwards (CEL, name resolution). */
function prefixesOf(container: string | undefined): string[] {
  const parts = container === undefined || container === "" ? [] : container.split(".")
  return Array.from({ length: parts.length + 1 }, (_, cut) =>
    parts
      .slice(0, parts.length - cut)
      .map((part) => `${part}.`)
      .join(""),
  )
}

/** Creates an environment from its parts. */
export function environmentOf(
  variables: ReadonlyMap<string, CelTypeTree>,
  objects: ReadonlyMap<string, DeclaredObject>,
  {
    container,
    nullHasNothing = false,
    extended = false,
  }: { container?: string | undefined; nullHasNothing?: boolean; extended?: boolean } = {},
): Environment {
  const prefixes = prefixesOf(container)
  const isQualified = prefixes.length > 1 || Array.from(variables.keys()).some((name) => name.includes("."))
  const meanings = new Map<string, Meaning>()
  for (const name of variables.keys()) meanings.set(name, { kind: "variable", name })
  const isObject = (name: string) => objects.has(name)
  const library = extended ? extendedLibrary : standardLibrary
  return { variables, objects, isObject, meanings, prefixes, isQualified, nullHasNothing, extended, library }
}

function readType(text: CelType, where: string): CelTypeTree {
  const type = parseCelType(text)
  if (type === undefined) throw new TypeError(`${where}: \`${text}\` is not a type`)
  return type
}

function requireKnown(type: CelTypeTree, objects: ReadonlyMap<string, unknown>, where: string): void {
  if (!isBuiltInTypeName(type.name) && !objects.has(type.name)) {
    throw new TypeError(`${where}: unknown object type \`${type.name}\``)
  }
  for (const arg of type.args) requireKnown(arg, objects, where)
}

// Most places share most of their object types (`request`, `response`): an environment then costs only its own types.
const declaredObjects = new WeakMap<ObjectType, DeclaredObject>()

function declareObject(name: string, type: ObjectType): DeclaredObject {
  const known = declaredObjects.get(type)
  if (known?.name === name) return known
  const made = readObject(name, type)
  declaredObjects.set(type, made)
  return made
}

/** Reads the declaration of an object type. */
function readObject(name: string, type: ObjectType): DeclaredObject {
  // A single capital letter means any type in the signatures of the library.
  if (isBuiltInTypeName(name) || /^[A-Z]$/.test(name))
    throw new TypeError(`\`${name}\` is not a valid name for an object type`)
  const fields = new Map(
    Object.entries(type.fields).map(([key, text]) => [key, readType(text, `${name}.${key}`)]),
  )
  const methods = new Map(
    Object.entries(type.methods ?? {}).map(([key, method]) => {
      const where = `${name}.${key}()`
      const parameters = method.parameters.map((text) => readType(text, where))
      const returns = readType(method.returns, where)
      return [key, { parameters, returns, isGeneric: false, call: method.call }] as const
    }),
  )
  return { name, fields, methods, open: type.open === undefined ? undefined : readType(type.open, name) }
}

/**
 * Makes an environment. It takes a few microseconds per ten names, so a compiler can make one per place. @throws TypeError if the notation of a type is
 * wrong or an object type is not declared: this is a bug of the caller, not of a user.
 */
export function declareEnvironment(declarations: Declarations): Environment {
  const objects = new Map<string, DeclaredObject>()
  for (const [name, type] of Object.entries(declarations.objects ?? {})) {
    objects.set(name, declareObject(name, type))
  }
  const variables = new Map<string, CelTypeTree>()
  for (const [name, text] of Object.entries(declarations.variables)) {
    variables.set(name, readType(text, name))
    requireKnown(readType(text, name), objects, name)
  }
  for (const name of declarations.secrets ?? []) variables.set(name, secretType)
  for (const { name, fields, methods, open } of objects.values()) {
    for (const [field, type] of fields) requireKnown(type, objects, `${name}.${field}`)
    for (const [method, { parameters, returns }] of methods) {
      for (const type of [...parameters, returns]) requireKnown(type, objects, `${name}.${method}()`)
    }
    if (open !== undefined) requireKnown(open, objects, name)
  }
  return environmentOf(variables, objects, declarations)
}
