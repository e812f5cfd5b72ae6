import { eachLeaf, referenceText } from "../../runtime/model/model-index.ts"
import type {
  AuthorizationModel,
  Condition,
  ConditionParameter,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"
import { BodyScanner } from "./condition-body.ts"
import { isConditionName, isName, isUsableCondition } from "./names.ts"
import { directIn, rewriteText } from "./rewrite-text.ts"

/** `sourceInfo`: add comments with the module and file of each part of a modular model. */
export interface PrintOptions {
  readonly sourceInfo?: boolean
}

/**
 * Prints a model's JSON as text, like OpenFGA's tools: types and relations in their order, conditions and parameters by name; parts of a
 * modular model by module, file and name, in one text. Compiling the text gives the model again, without modules, and with lists of types in
 * the first place. `problem` names what the language cannot express: JSON allows names and definitions that the language does not.
 */
export function printModel(
  model: AuthorizationModel,
  { sourceInfo = false }: PrintOptions = {},
): { readonly text: string } | { readonly problem: string } {
  try {
    return { text: new Printer(model, sourceInfo).print() }
  } catch (error) {
    if (error instanceof Unsayable) return { problem: error.message }
    throw error
  }
}

/** Stops the printing, because no part of a model may be left out. */
class Unsayable extends Error {}

interface Place {
  readonly module?: string | undefined
  readonly source_info?: { readonly file: string } | undefined
}

interface Named {
  readonly name: string
  readonly place: Place
  readonly text: string
}

/** Prints types in the order of the JSON, and with module comments by module and file, as OpenFGA's tools do. */
class Printer {
  readonly #model: AuthorizationModel
  readonly #sourceInfo: boolean
  readonly #modular: boolean

  constructor(model: AuthorizationModel, sourceInfo: boolean) {
    this.#model = model
    this.#sourceInfo = sourceInfo
    this.#modular = model.type_definitions.some(({ metadata }) => metadata?.module !== undefined)
  }

  print(): string {
    const { schema_version: version, type_definitions, conditions = {} } = this.#model
    if (!/^[0-9]+\.[0-9]+$/.test(version)) throw new Unsayable(`\`${version}\` is not a schema version`)
    const types = type_definitions.map((each) => this.#type(each))
    const bodies = Object.entries(conditions).map(([key, each]) => this.#condition(key, each))
    const parts = [...this.#inOrder(types), ...(this.#modular ? this.#inOrder(bodies) : bodies.sort(byName))]
    return `model\n  schema ${version}\n${parts.map(({ text }) => `\n${text}\n`).join("")}`
  }

  /** Sorts the parts of a modular model by module and file; keeps the order of other models. */
  #inOrder(parts: readonly Named[]): readonly Named[] {
    return this.#modular ? parts.toSorted(byModule) : parts
  }

  /** A type and its relations. Names that the language cannot express throw. */
  #type({ type, relations = {}, metadata = {} }: TypeDefinition): Named {
    checkName("type", type, isName(type))
    const described = new Map(Object.entries(metadata.relations ?? {}))
    const lines = Object.entries(relations).map(([name, rewrite]): Named => {
      checkName(`relation of type \`${type}\``, name, isName(name))
      const { directly_related_user_types: references = [], ...place } = described.get(name) ?? {}
      const text = definitionText(rewrite, references, `\`${type}#${name}\``)
      if (text !== undefined)
        return { name, place, text: `    define ${name}: ${text}${this.#comment("extended by: ", place)}` }
      throw new Unsayable(
        `the '${name}' relation definition under the '${type}' type is not supported by the OpenFGA DSL syntax yet`,
      )
    })
    const head = `type ${type}${this.#comment("", metadata)}`
    const body = this.#inOrder(lines).map(({ text }) => text)
    return {
      name: type,
      place: metadata,
      text: [head, ...(body.length === 0 ? [] : ["  relations", ...body])].join("\n"),
    }
  }

  /** A condition. Its parameters are sorted, because JSON has no order for them. */
  #condition(key: string, { name, expression, parameters = {}, metadata = {} }: Condition): Named {
    if (name !== key) throw new Unsayable(`condition key is \`${key}\` but nested name property is ${name}`)
    checkName("condition", name, isConditionName(name))
    const header = Object.entries(parameters)
      .sort(([a], [b]) => compare(a, b))
      .map(([parameter, type]) => {
        checkName(`parameter of condition \`${name}\``, parameter, isConditionName(parameter))
        return `${parameter}: ${typeText(type, `parameter \`${parameter}\` of condition \`${name}\``)}`
      })
    if (header.length === 0)
      throw new Unsayable(
        `the condition \`${name}\` has no parameters, and the text format needs at least one`,
      )
    const body = bodyText(expression)
    if (body === undefined)
      throw new Unsayable(`the expression of condition \`${name}\` has unbalanced braces`)
    const text = `condition ${name}(${header.join(", ")}) {\n  ${body}\n}${this.#comment("", metadata)}`
    return { name, place: metadata, text }
  }

  #comment(before: string, { module, source_info }: Place): string {
    if (!this.#sourceInfo || module === undefined) return ""
    const text = `${before}module: ${module}, file: ${source_info?.file ?? ""}`
    return ` # ${text.replace(/[\r\n]+/g, " ").trimEnd()}`
  }
}

function checkName(what: string, name: string, good: boolean): void {
  if (good) return
  throw new Unsayable(`the ${what} \`${name}\` has a name that the text format cannot express`)
}

/** A definition as text; undefined if the language cannot express it. */
function definitionText(
  rewrite: Userset,
  references: readonly RelationReference[],
  where: string,
): string | undefined {
  const direct = directIn(rewrite)
  if (direct > 0 !== references.length > 0) return undefined
  for (const each of references) {
    const { type, relation, condition, wildcard } = each
    if (wildcard !== undefined && relation !== undefined) return undefined
    checkName(`type in ${where}`, type, isName(type))
    if (relation !== undefined) checkName(`relation in ${where}`, relation, isName(relation))
    if (condition !== undefined) checkName(`condition in ${where}`, condition, isUsableCondition(condition))
  }
  const check = (name: string) => checkName(`relation in ${where}`, name, isName(name))
  eachLeaf(rewrite, (leaf) => {
    if ("computedUserset" in leaf) check(leaf.computedUserset.relation)
    else if ("tupleToUserset" in leaf) {
      check(leaf.tupleToUserset.computedUserset.relation)
      check(leaf.tupleToUserset.tupleset.relation)
    }
  })
  return rewriteText(rewrite, `[${references.map(referenceText).join(", ")}]`)
}

/** The type of a parameter; the language has `list` and `map` of simple types only. */
function typeText({ type_name, generic_types: [generic] = [] }: ConditionParameter, where: string): string {
  const own = type_name.replace("TYPE_NAME_", "").toLowerCase()
  const holds = own === "list" || own === "map"
  if (own === "any" || holds !== (generic !== undefined))
    throw new Unsayable(`the ${where} has a type that the text format cannot express: ${own}`)
  if (generic === undefined) return own
  const inner = typeText(generic, where)
  if (inner.includes("<"))
    throw new Unsayable(`the ${where} has nested types, which the text format cannot express`)
  return `${own}<${inner}>`
}

/** The expression in a form that is valid between braces, checked with the scanner that reads it in a file. */
function bodyText(expression: string): string | undefined {
  const text = `{\n${expression.trim()}\n}`
  const { end, closed, cuts } = new BodyScanner(text).scan(0)
  if (!closed || end !== text.length || expression.trim() === "") return undefined
  let kept = ""
  let from = 1
  for (const cut of cuts) {
    kept += text.slice(from, cut.start)
    from = cut.end
  }
  return `${kept}${text.slice(from, -1)}`.trim()
}

function byName(a: Named, b: Named): number {
  return compare(a.name, b.name)
}

function byModule(a: Named, b: Named): number {
  return (
    compare(a.place.module ?? "", b.place.module ?? "") ||
    compare(a.place.source_info?.file ?? "", b.place.source_info?.file ?? "") ||
    byName(a, b)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
