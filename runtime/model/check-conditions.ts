import { utf8Length } from "#platform"
import { compileCondition } from "../expression/condition.ts"
import type { AuthorizationModel, Condition } from "../plan/authorization-model.ts"
import type { BrokenParts } from "./broken-parts.ts"
import type { ModelFindings } from "./finding.ts"
import type { ModelLimits } from "./limits.ts"

/** Checks that names match, parameters have known types, and expressions have type bool. */
export function checkConditions(
  model: AuthorizationModel,
  broken: BrokenParts,
  limits: ModelLimits,
  findings: ModelFindings,
): void {
  for (const [key, condition] of Object.entries(model.conditions ?? {})) {
    if (condition.name !== key) {
      const message = `condition key is \`${key}\` but nested name property is ${condition.name}`
      findings.add("different-nested-condition-name", ["conditions", key, "name"], condition.name, message)
    }
    if (!broken.conditions.has(key)) checkCondition(key, condition, limits, findings)
  }
}

/** Checks one condition: limits first, because a long expression is not parsed. */
function checkCondition(
  key: string,
  condition: Condition,
  limits: ModelLimits,
  findings: ModelFindings,
): void {
  const path = ["conditions", key]
  const parameters = Object.keys(condition.parameters ?? {}).length
  if (parameters > limits.parametersMax) {
    const message = `the condition \`${key}\` has ${parameters} parameters, more than the ${limits.parametersMax} allowed`
    findings.add("limit-exceeded", path, key, message)
  }
  const bytes = utf8Length(condition.expression)
  if (bytes > limits.expressionBytesMax) {
    const message = `the expression of condition \`${key}\` has ${bytes} bytes, more than the ${limits.expressionBytesMax} allowed`
    findings.add("limit-exceeded", [...path, "expression"], key, message)
    return
  }
  const compiled = compileCondition(condition)
  if (compiled.ok) return
  for (const { message, start, end, name, candidates } of compiled.findings) {
    const unknown = name === undefined ? {} : { unknown: { name, known: () => candidates ?? [] } }
    const place = [...path, "expression"]
    findings.add("invalid-condition", place, key, message, { range: { start, end }, ...unknown })
  }
}

/** Conditions without a type restriction that uses them: an error in OpenFGA's language, but accepted by its server. */
export function checkUnusedConditions(
  model: AuthorizationModel,
  broken: BrokenParts,
  findings: ModelFindings,
): void {
  // A broken definition may use any condition.
  if (broken.relations.size > 0 || broken.types) return
  const used = new Set<string>()
  for (const { metadata } of model.type_definitions) {
    for (const { directly_related_user_types: references = [] } of Object.values(metadata?.relations ?? {})) {
      for (const { condition } of references) if (condition !== undefined) used.add(condition)
    }
  }
  for (const name of Object.keys(model.conditions ?? {})) {
    if (used.has(name)) continue
    findings.add(
      "condition-not-used",
      ["conditions", name],
      name,
      `\`${name}\` condition is not used in the model.`,
    )
  }
}
