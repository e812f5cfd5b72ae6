import type { AuthorizationModel, Userset } from "../plan/authorization-model.ts"
import type { ModelFindings, ModelPath } from "./finding.ts"
import { type IndexedRelation, type ModelIndex, referenceText } from "./model-index.ts"

// The server accepts `*` in names, the language's tools do not.
const typeRules = { language: /^[^:#@*\s]{1,254}$/, server: /^[^:#@\s]{1,254}$/ }
const typeRuleText = "^[^:#@\\*\\s]{1,254}$"
const nameRules = { language: /^[^:#@*\s]{1,50}$/, server: /^[^:#@\s]{1,50}$/ }
const relationRuleText = "^[^:#@\\*\\s]{1,50}$"

/** JSON tools lose or misinterpret a key of this name, so it is rejected although OpenFGA accepts it. */
const poisoned = "__proto__"

/** Why a name is refused. Where OpenFGA refuses it too, in its words. */
function unlike(name: string, rule: string): string {
  return name === poisoned
    ? "has a name that JSON tools lose; choose another name."
    : `does not match naming rule: '${rule}'.`
}

/** Checks the names of types, relations, conditions and parameters: valid, not reserved, and each type defined once. */
export function checkNames(
  model: AuthorizationModel,
  index: ModelIndex,
  rules: "language" | "server",
  findings: ModelFindings,
): void {
  const first = new Map<string, number>()
  const again = new Map<string, number[]>()
  model.type_definitions.forEach(({ type }, at) => {
    const path = ["type_definitions", at, "type"]
    if (type === "self" || type === "this") {
      findings.add("reserved-type-keywords", path, type, "a type cannot be named 'self' or 'this'.")
    } else if (!typeRules[rules].test(type) || type === poisoned) {
      findings.add("invalid-name", path, type, `type '${type}' ${unlike(type, typeRuleText)}`)
    }
    if (!first.has(type)) first.set(type, at)
    else again.set(type, [...(again.get(type) ?? []), at])
  })
  for (const [type, places] of again) reportDuplicateType(type, first.get(type) ?? 0, places, findings)
  for (const relation of index.relations) checkRelationName(relation, nameRules[rules], findings)
  for (const [name, { parameters }] of Object.entries(model.conditions ?? {})) {
    for (const parameter of Object.keys(parameters ?? {}))
      checkParameterName(name, parameter, nameRules[rules], findings)
    if (nameRules[rules].test(name) && name !== poisoned) continue
    const message = `condition '${name}' ${unlike(name, relationRuleText)}`
    findings.add("invalid-name", ["conditions", name], name, message)
  }
}

function checkParameterName(condition: string, name: string, rule: RegExp, findings: ModelFindings): void {
  if (rule.test(name)) return
  const message = `parameter '${name}' of condition '${condition}' ${unlike(name, relationRuleText)}`
  findings.add("invalid-name", ["conditions", condition, "parameters", name], name, message)
}

function reportDuplicateType(type: string, first: number, places: number[], findings: ModelFindings): void {
  const related = places.map((at) => ({
    path: ["type_definitions", at, "type"],
    message: `\`${type}\` is defined again here`,
  }))
  const path = ["type_definitions", first, "type"]
  findings.add("duplicated-error", path, type, `the type \`${type}\` is a duplicate.`, { related })
}

/** Checks the name of a relation by OpenFGA's rules, with its messages. */
function checkRelationName(
  { name, type, path }: IndexedRelation,
  rule: RegExp,
  findings: ModelFindings,
): void {
  if (name === "self" || name === "this") {
    findings.add("reserved-relation-keywords", path, name, "a relation cannot be named 'self' or 'this'.")
  } else if (!rule.test(name) || name === poisoned) {
    const message = `relation '${name}' of type '${type}' ${unlike(name, relationRuleText)}`
    findings.add("invalid-name", path, name, message)
  }
}

/** Duplicate restrictions or operands in a definition: an error in OpenFGA's language, but accepted by its server. */
export function checkRepetitions(relation: IndexedRelation, findings: ModelFindings): void {
  if (relation.broken) return
  const restrictions = relation.references.map((each, at) => ({
    text: referenceText(each),
    path: [...relation.referencesPath, at] as ModelPath,
  }))
  reportRepeated(restrictions, "type restriction", relation, findings)
  // Operands of nested operators are not checked, as in OpenFGA: this check must accept every file that OpenFGA accepts.
  const operands = operandsOf(relation.rewrite, relation.path).flatMap(({ rewrite, path }) => {
    const text = leafText(rewrite)
    return text === undefined ? [] : [{ text, path }]
  })
  reportRepeated(operands, "partial relation definition", relation, findings)
}

/** The operands of a definition with their paths. */
function operandsOf(rewrite: Userset, path: ModelPath): { rewrite: Userset; path: ModelPath }[] {
  if ("union" in rewrite)
    return rewrite.union.child.map((each, at) => ({ rewrite: each, path: [...path, "union", "child", at] }))
  if ("intersection" in rewrite) {
    return rewrite.intersection.child.map((each, at) => ({
      rewrite: each,
      path: [...path, "intersection", "child", at],
    }))
  }
  if (!("difference" in rewrite)) return []
  return [
    { rewrite: rewrite.difference.base, path: [...path, "difference", "base"] },
    { rewrite: rewrite.difference.subtract, path: [...path, "difference", "subtract"] },
  ]
}

function leafText(rewrite: Userset): string | undefined {
  if ("computedUserset" in rewrite) return rewrite.computedUserset.relation
  if (!("tupleToUserset" in rewrite)) return undefined
  return `${rewrite.tupleToUserset.computedUserset.relation} from ${rewrite.tupleToUserset.tupleset.relation}`
}

/** Reports items that are listed twice. */
function reportRepeated(
  items: readonly { text: string; path: ModelPath }[],
  what: string,
  relation: IndexedRelation,
  findings: ModelFindings,
): void {
  const places = new Map<string, ModelPath[]>()
  for (const { text, path } of items) {
    const known = places.get(text)
    if (known === undefined) places.set(text, [path])
    else known.push(path)
  }
  for (const [text, [first, ...again]] of places) {
    if (first === undefined || again.length === 0) continue
    const related = again.map((path) => ({ path, message: "and again here" }))
    const message = `the ${what} \`${text}\` is a duplicate in the relation \`${relation.name}\`.`
    findings.add("duplicated-error", first, text, message, { related })
  }
}

/** Checks `module` and `source_info`: a file holds one module, otherwise the model could not be written as text again. */
export function checkModules(model: AuthorizationModel, findings: ModelFindings): void {
  const modules = new Map<string, Set<string>>()
  const note = (
    part: { module?: string | undefined; source_info?: { file: string } | undefined } | undefined,
  ) => {
    if (part?.module === undefined || part.source_info === undefined) return
    const known = modules.get(part.source_info.file)
    if (known === undefined) modules.set(part.source_info.file, new Set([part.module]))
    else known.add(part.module)
  }
  for (const { metadata } of model.type_definitions) {
    note(metadata)
    for (const relation of Object.values(metadata?.relations ?? {})) note(relation)
  }
  for (const condition of Object.values(model.conditions ?? {})) note(condition.metadata)
  for (const [file, names] of modules) {
    if (names.size < 2) continue
    const message = `file ${file} would contain multiple module definitions (${[...names].join(", ")}) when transforming to DSL. Only one module can be defined per file.`
    findings.add("multiple-modules-in-file", [], file, message)
  }
}
