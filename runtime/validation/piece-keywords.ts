import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js"
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js"
import { deferredKeyword } from "./deferred.ts"
import { type Branches, branchesKeyword, type PieceParts, partsKeyword } from "./pieces.ts"

/** Adds the keywords for separately compiled schemas. `compiledOf` resolves them during validation. */
export function addPieceKeywords(ajv: Ajv2020, compiledOf: (name: string) => ValidateFunction): void {
  const late = (name: string): (() => ValidateFunction) => {
    let target: ValidateFunction | undefined
    return () => {
      target ??= compiledOf(name)
      return target
    }
  }
  ajv.addKeyword({
    keyword: deferredKeyword,
    schemaType: "string",
    errors: "full",
    compile: (name: string) => {
      const target = late(name)
      return following((value, context) => errorsBy(target(), value, context))
    },
  })
  ajv.addKeyword({
    keyword: partsKeyword,
    type: "object",
    schemaType: "array",
    errors: "full",
    compile: (parts: PieceParts) => {
      const targets = new Map(parts.map(([property = "", name = ""]) => [property, late(name)]))
      return following((value: Readonly<Record<string, unknown>>, context) =>
        Object.keys(value).flatMap((property) => {
          const target = targets.get(property)?.()
          if (target === undefined) return []
          const instancePath = `${context?.instancePath ?? ""}/${escaped(property)}`
          const inside = { ...context, instancePath, parentData: value, parentDataProperty: property }
          return errorsBy(target, value[property], inside as DataValidationCxt)
        }),
      )
    },
  })
  ajv.addKeyword({
    keyword: branchesKeyword,
    schemaType: "object",
    errors: "full",
    compile: ({ rule, names }: Branches) => {
      const targets = names.map(late)
      return following((value, context) => {
        const branches = targets.map((target) => () => errorsBy(target(), value, context))
        return judgedBy(rule, branches, context)
      })
    },
  })
}

/** Wraps a function that returns errors as a validation function of ajv. */
function following<Value>(
  find: (value: Value, context: DataValidationCxt | undefined) => readonly Partial<ErrorObject>[],
): DataValidateFunction {
  const follow: DataValidateFunction = (value, context) => {
    const errors = find(value, context)
    if (errors.length === 0) return true
    follow.errors = [...errors]
    return false
  }
  return follow
}

function errorsBy(
  target: ValidateFunction,
  value: unknown,
  context: DataValidationCxt | undefined,
): readonly ErrorObject[] {
  return target(value, context) === true ? [] : [...(target.errors ?? [])]
}

/** The combined result of branches (JSON Schema 2020-12 §10.2.1), in ajv's terms. Stops as soon as the result is certain. */
function judgedBy(
  rule: Branches["rule"],
  branches: readonly (() => readonly ErrorObject[])[],
  context: DataValidationCxt | undefined,
): readonly ErrorObject[] {
  const errors: ErrorObject[] = []
  let passing = 0
  for (const branch of branches) {
    const found = branch()
    for (const error of found) errors.push(error)
    if (found.length === 0) passing += 1
    if (passing === (rule === "anyOf" ? 1 : 2) && rule !== "allOf") break
  }
  if (rule === "allOf") return errors
  if (passing === 1) return []
  const own = {
    keyword: rule,
    instancePath: context?.instancePath ?? "",
    schemaPath: `#/${rule}`,
    params: {},
  }
  const what = rule === "anyOf" ? "a schema in anyOf" : "exactly one schema in oneOf"
  return [...errors, { ...own, message: `must match ${what}` }]
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1")
}
