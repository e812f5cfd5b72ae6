import {
  type AuthorizationModel,
  authorizationModel,
  type ConditionParameter,
  type RelationReference,
  type TypeDefinition,
  type Userset,
} from "../plan/authorization-model.ts"
import { type ModelFinding, ModelFindings, type ModelPath, pointerOf } from "./finding.ts"
import { modelLimits } from "./limits.ts"

/**
 * Converts a model in the JSON of OpenFGA's HTTP API to canonical form. Accepts camelCase keys (unless `snake_case` is requested), null and empty values
 * for absent ones, and type names of parameters as words or as protobuf's numbers. Ignores unknown keys and `id`. Returns all problems of its shape at
 * once (`invalid-shape`, `invalid-name`, `limit-exceeded`); `validateModel` checks the content. Never throws for any value, and never recurses deeper
 * than the nesting limit.
 */
export function readModel(
  json: unknown,
  spelling: "either" | "snake_case" = "either",
): { readonly model: AuthorizationModel } | { readonly findings: readonly ModelFinding[] } {
  const reader = new Reader(spelling)
  const model = reader.model(json)
  if (reader.findings.list.length > 0) return { findings: reader.findings.list }
  const parsed = authorizationModel.safeParse(model)
  if (parsed.success) return { model: parsed.data }
  for (const { code, path, message } of parsed.error.issues) {
    const place = path.map((step) => (typeof step === "number" ? step : String(step)))
    const reason = code === "invalid_key" ? nameRule : message
    reader.findings.add("invalid-name", place, String(place.at(-1) ?? ""), `${pointerOf(place)}: ${reason}`)
  }
  return { findings: reader.findings.list }
}

const nameRule = "a name has 1 to 50 characters, none of them a colon, '#', '@' or white space"

type Fields = Readonly<Record<string, unknown>>

/** The types of parameters by their numbers in OpenFGA's protobuf definition. */
const parameterTypes = [
  "UNSPECIFIED",
  "ANY",
  "BOOL",
  "STRING",
  "INT",
  "UINT",
  "DOUBLE",
  "DURATION",
  "TIMESTAMP",
  "MAP",
  "LIST",
  "IPADDRESS",
].map((name) => `TYPE_NAME_${name}`)

const rewriteKeys = [
  ["this", "this"],
  ["computedUserset", "computed_userset"],
  ["tupleToUserset", "tuple_to_userset"],
  ["union", "union"],
  ["intersection", "intersection"],
  ["difference", "difference"],
] as const

/** Reads JSON in either spelling of protobuf. Wrong parts are reported and replaced, so that all are found. */
class Reader {
  readonly findings = new ModelFindings()
  readonly #spelling: "either" | "snake_case"

  constructor(spelling: "either" | "snake_case") {
    this.#spelling = spelling
  }

  /** A whole model. */
  model(json: unknown): unknown {
    const fields = this.#fields(json, [])
    const definitions = this.#list(this.#pick(fields, "type_definitions", "typeDefinitions", []), [
      "type_definitions",
    ])
    const conditions = this.#entries(fields["conditions"], ["conditions"], (value, path) =>
      this.#condition(value, path),
    )
    return {
      schema_version:
        this.#text(this.#pick(fields, "schema_version", "schemaVersion", []), ["schema_version"]) ?? "",
      type_definitions: definitions.map((each, at) => this.#type(each, ["type_definitions", at])),
      ...(conditions === undefined ? {} : { conditions }),
    }
  }

  /** A key of several words. OpenFGA accepts only snake_case and ignores other spellings. */
  #pick(fields: Fields, snake: string, camel: string, path: ModelPath): unknown {
    if (this.#spelling === "snake_case" && Object.hasOwn(fields, camel))
      this.#wrong([...path, camel], `unknown field: write \`${snake}\``, undefined)
    return pick(fields, snake, camel)
  }

  /** A type with its relations. */
  #type(json: unknown, path: ModelPath): TypeDefinition {
    const fields = this.#fields(json, path)
    const relations = this.#entries(fields["relations"], [...path, "relations"], (value, place) =>
      this.#rewrite(value, place, 0),
    )
    const metadata = this.#metadata(fields["metadata"], [...path, "metadata"])
    return {
      type: this.#text(fields["type"], [...path, "type"]) ?? "",
      ...(relations === undefined ? {} : { relations }),
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  /** Types that relations list, and where they were defined. */
  #metadata(json: unknown, path: ModelPath): TypeDefinition["metadata"] {
    const fields = this.#fields(json ?? {}, path)
    const relations = this.#entries(fields["relations"], [...path, "relations"], (value, place) => {
      const relation = this.#fields(value ?? {}, place)
      const listPath = [...place, "directly_related_user_types"]
      const listed = this.#pick(relation, "directly_related_user_types", "directlyRelatedUserTypes", place)
      const references = this.#list(listed, listPath).map((each, at) =>
        this.#reference(each, [...listPath, at]),
      )
      return emptyToAbsent({
        ...(references.length === 0 ? {} : { directly_related_user_types: references }),
        ...this.#place(relation, place),
      })
    })
    return emptyToAbsent({ ...(relations === undefined ? {} : { relations }), ...this.#place(fields, path) })
  }

  /** Module and file of a definition. */
  #place(fields: Fields, path: ModelPath): { module?: string; source_info?: { file: string } } {
    const module = this.#text(fields["module"], [...path, "module"])
    const source = this.#fields(this.#pick(fields, "source_info", "sourceInfo", path) ?? {}, [
      ...path,
      "source_info",
    ])
    const file = this.#text(source["file"], [...path, "source_info", "file"])
    return { ...(module ? { module } : {}), ...(file ? { source_info: { file } } : {}) }
  }

  /** One listed type. */
  #reference(json: unknown, path: ModelPath): RelationReference {
    const fields = this.#fields(json, path)
    const relation = this.#text(fields["relation"], [...path, "relation"])
    const condition = this.#text(fields["condition"], [...path, "condition"])
    const wildcard = fields["wildcard"] ?? undefined
    if (wildcard !== undefined) this.#fields(wildcard, [...path, "wildcard"])
    return {
      type: this.#text(fields["type"], [...path, "type"]) ?? "",
      ...(relation ? { relation } : {}),
      ...(wildcard === undefined ? {} : { wildcard: {} }),
      ...(condition ? { condition } : {}),
    }
  }

  /** A definition: exactly one operator. The depth is limited, because models come over HTTP. */
  #rewrite(json: unknown, path: ModelPath, depth: number): Userset {
    if (depth > modelLimits.depthMax) {
      const message = `operators are nested more than ${modelLimits.depthMax} levels deep`
      this.findings.add("limit-exceeded", path, "", `${pointerOf(path)}: ${message}`)
      return { this: {} }
    }
    const fields = this.#fields(json, path)
    const present = rewriteKeys.filter(
      ([camel, snake]) => (pick(fields, camel, snake) ?? undefined) !== undefined,
    )
    const [key] = present[0] ?? [undefined]
    if (key === undefined || present.length > 1) {
      const found = present.length === 0 ? "none" : present.map(([name]) => name).join(", ")
      return this.#wrong(
        path,
        `exactly one of ${rewriteKeys.map(([name]) => name).join(", ")} is needed, found ${found}`,
        {
          this: {},
        },
      )
    }
    const place = [...path, key]
    const value = this.#fields(pick(fields, ...(present[0] as readonly [string, string])), place)
    if (key === "this") return { this: {} }
    if (key === "computedUserset") return { computedUserset: this.#objectRelation(value, place) }
    if (key === "tupleToUserset") return { tupleToUserset: this.#tupleToUserset(value, place) }
    if (key === "difference") return { difference: this.#difference(value, place, depth) }
    const child = this.#list(value["child"], [...place, "child"]).map((each, at) =>
      this.#rewrite(each, [...place, "child", at], depth + 1),
    )
    return key === "union" ? { union: { child } } : { intersection: { child } }
  }

  /** `R from T`. */
  #tupleToUserset(fields: Fields, path: ModelPath) {
    const tupleset = this.#fields(fields["tupleset"], [...path, "tupleset"])
    const computed = this.#fields(pick(fields, "computedUserset", "computed_userset"), [
      ...path,
      "computedUserset",
    ])
    return {
      tupleset: this.#objectRelation(tupleset, [...path, "tupleset"]),
      computedUserset: this.#objectRelation(computed, [...path, "computedUserset"]),
    }
  }

  #difference(fields: Fields, path: ModelPath, depth: number) {
    return {
      base: this.#operand(fields, "base", path, depth),
      subtract: this.#operand(fields, "subtract", path, depth),
    }
  }

  /** A missing operand has its name as symbol, so that it has its own error code. */
  #operand(fields: Fields, name: "base" | "subtract", path: ModelPath, depth: number): Userset {
    const place = [...path, name]
    if ((fields[name] ?? undefined) !== undefined) return this.#rewrite(fields[name], place, depth + 1)
    this.findings.add("invalid-shape", place, name, `${pointerOf(place)}: is required`)
    return { this: {} }
  }

  #objectRelation(fields: Fields, path: ModelPath): { object?: string; relation: string } {
    const object = this.#text(fields["object"], [...path, "object"])
    const relation = this.#text(fields["relation"], [...path, "relation"]) ?? ""
    return object ? { object, relation } : { relation }
  }

  /** A condition. */
  #condition(json: unknown, path: ModelPath) {
    const fields = this.#fields(json, path)
    const parameters = this.#entries(fields["parameters"], [...path, "parameters"], (value, place) =>
      this.#parameter(value, place, 0),
    )
    const metadata = emptyToAbsent(
      this.#place(this.#fields(fields["metadata"] ?? {}, [...path, "metadata"]), [...path, "metadata"]),
    )
    return {
      name: this.#text(fields["name"], [...path, "name"]) ?? "",
      expression: this.#text(fields["expression"], [...path, "expression"]) ?? "",
      ...(parameters === undefined ? {} : { parameters }),
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  /** The type of a parameter; lists and maps have an inner one. */
  #parameter(json: unknown, path: ModelPath, depth: number): ConditionParameter {
    const fields = this.#fields(json, path)
    const given = this.#pick(fields, "type_name", "typeName", path)
    const name = typeof given === "number" ? parameterTypes[given] : given
    const generics = this.#list(this.#pick(fields, "generic_types", "genericTypes", path), [
      ...path,
      "generic_types",
    ])
    if (typeof name !== "string" || !parameterTypes.includes(name) || name === parameterTypes[0]) {
      return this.#wrong([...path, "type_name"], "is not a parameter type", { type_name: "TYPE_NAME_ANY" })
    }
    if (depth > modelLimits.depthMax) {
      return this.#wrong(path, "types nested too deeply", { type_name: name })
    }
    if (generics.length === 0) return { type_name: name }
    return {
      type_name: name,
      generic_types: generics.map((each, at) =>
        this.#parameter(each, [...path, "generic_types", at], depth + 1),
      ),
    }
  }

  #wrong<Value>(path: ModelPath, message: string, value: Value): Value {
    this.findings.add("invalid-shape", path, "", `${pointerOf(path) || "the model"}: ${message}`)
    return value
  }

  #fields(json: unknown, path: ModelPath): Fields {
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json as Fields
    return this.#wrong(path, `an object is needed, found ${nameOf(json)}`, {})
  }

  #list(json: unknown, path: ModelPath): readonly unknown[] {
    if (json === undefined || json === null) return []
    return Array.isArray(json) ? json : this.#wrong(path, `a list is needed, found ${nameOf(json)}`, [])
  }

  #text(json: unknown, path: ModelPath): string | undefined {
    if (json === undefined || json === null) return undefined
    return typeof json === "string"
      ? json
      : this.#wrong(path, `a string is needed, found ${nameOf(json)}`, "")
  }

  /** A map by name; undefined if it is empty or all its values are absent. */
  #entries<Value>(
    json: unknown,
    path: ModelPath,
    read: (value: unknown, path: ModelPath) => Value | undefined,
  ): Record<string, Value> | undefined {
    const found: [string, Value][] = []
    for (const [name, value] of Object.entries(this.#fields(json ?? {}, path))) {
      const place = [...path, name]
      // zod and other libraries copy objects by assignment, which would set the prototype and lose this key.
      if (name === "__proto__") this.#wrong(place, "this name is not allowed", undefined)
      const one = read(value, place)
      if (one !== undefined) found.push([name, one])
    }
    return found.length === 0 ? undefined : Object.fromEntries(found)
  }
}

/** The value of the first of two spellings that is present. */
function pick(fields: Fields, name: string, other: string): unknown {
  return (
    (Object.hasOwn(fields, name) ? fields[name] : undefined) ??
    (Object.hasOwn(fields, other) ? fields[other] : undefined)
  )
}

function emptyToAbsent<Value extends object>(value: Value): Value | undefined {
  return Object.keys(value).length === 0 ? undefined : value
}

function nameOf(json: unknown): string {
  if (json === null || json === undefined) return "nothing"
  if (Array.isArray(json)) return "a list"
  return typeof json === "object" ? "an object" : `a ${typeof json}`
}
