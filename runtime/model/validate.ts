import type { AuthorizationModel, Userset } from "../plan/authorization-model.ts"
import type { BrokenParts } from "./broken-parts.ts"
import { checkConditions, checkUnusedConditions } from "./check-conditions.ts"
import { checkEntryPoints } from "./check-entry-points.ts"
import { checkModules, checkNames, checkRepetitions } from "./check-names.ts"
import { checkReferences } from "./check-references.ts"
import { type ModelFinding, ModelFindings, type ModelPath } from "./finding.ts"
import { type ModelLimits, modelLimits } from "./limits.ts"
import { indexModel, nothingBroken } from "./model-index.ts"
import { protobufBytes } from "./size.ts"

/**
 * `rules`: `server` (default) rejects what OpenFGA's server does not store. `language` additionally rejects what only its language tools reject: unused
 * conditions, duplicate operands and restrictions, several modules in one file. `broken` names parts on which no finding may depend; `limits` replaces
 * individual limits.
 */
export interface ValidateOptions {
  readonly rules?: "server" | "language"
  readonly broken?: BrokenParts
  readonly limits?: Partial<ModelLimits>
}

/**
 * Validates a model in canonical form, made by `readModel` or the compiler. Without findings, it can be lowered and stored. Returns all findings at
 * once, in no particular order, without those that only follow from another one. Takes time linear in the model, except for conditions, whose
 * expressions have their own limits.
 */
export function validateModel(model: AuthorizationModel, options: ValidateOptions = {}): ModelFinding[] {
  const findings = new ModelFindings()
  const broken = options.broken ?? nothingBroken
  const limits = { ...modelLimits, ...options.limits }
  const rules = options.rules ?? "server"
  const strict = rules === "language"
  const index = indexModel(model, broken)
  const conditions = new Set([...Object.keys(model.conditions ?? {}), ...broken.conditions])

  checkSchema(model, findings)
  checkLimits(model, limits, findings)
  checkNames(model, index, rules, findings)
  for (const relation of index.relations) {
    checkOperandCounts(relation.rewrite, relation.path, findings)
    checkReferences(relation, index, conditions, findings)
    if (strict) checkRepetitions(relation, findings)
  }
  checkEntryPoints(index, findings)
  checkConditions(model, broken, limits, findings)
  if (strict) {
    checkUnusedConditions(model, broken, findings)
    checkModules(model, findings)
  }
  return findings.list
}

function checkSchema({ schema_version: version }: AuthorizationModel, findings: ModelFindings): void {
  const path = ["schema_version"]
  if (version === "") findings.add("schema-version-required", path, "", "schema version required")
  else if (version !== "1.1" && version !== "1.2") {
    findings.add("invalid-schema", path, version, `invalid schema ${version}`)
  }
}

/** Limits of the whole model, with OpenFGA's messages. */
function checkLimits(model: AuthorizationModel, limits: ModelLimits, findings: ModelFindings): void {
  const exceeds = (path: ModelPath, what: string, count: number, max: number) => {
    if (count <= max) return
    findings.add("limit-exceeded", path, what, `The number of ${what} exceeds the allowed limit of ${max}`)
  }
  const types = model.type_definitions.length
  exceeds(["type_definitions"], "type definitions in an authorization model", types, limits.typesMax)
  const conditions = Object.keys(model.conditions ?? {}).length
  exceeds(["conditions"], "conditions in an authorization model", conditions, limits.conditionsMax)
  const bytes = protobufBytes(model)
  if (bytes > limits.bytesMax) {
    const message = `model exceeds size limit: ${bytes} bytes vs ${limits.bytesMax} bytes`
    findings.add("limit-exceeded", [], "model", message)
  }
}

/** A union or intersection needs two operands; only JSON can contain fewer. */
function checkOperandCounts(rewrite: Userset, path: ModelPath, findings: ModelFindings): void {
  if ("difference" in rewrite) {
    checkOperandCounts(rewrite.difference.base, [...path, "difference", "base"], findings)
    checkOperandCounts(rewrite.difference.subtract, [...path, "difference", "subtract"], findings)
    return
  }
  const operator = "union" in rewrite ? "union" : "intersection" in rewrite ? "intersection" : undefined
  if (operator === undefined) return
  const child =
    "union" in rewrite ? rewrite.union.child : "intersection" in rewrite ? rewrite.intersection.child : []
  const place = [...path, operator, "child"]
  if (child.length < 2) {
    findings.add(
      "too-few-operands",
      place,
      operator,
      `the ${operator} needs at least two children, it has ${child.length}`,
    )
  }
  child.forEach((each, at) => {
    checkOperandCounts(each, [...place, at], findings)
  })
}
