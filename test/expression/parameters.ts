import type { ConditionParameterType } from "../../runtime/expression/condition.ts"

/** Parameters in the notation of the model language: `int`, `list<string>`. */
export type Parameters = Readonly<Record<string, string>>

function parameterOf(text: string): ConditionParameterType {
  const [, name = "", generic] = /^(\w+)(?:<(\w+)>)?$/.exec(text.replaceAll(" ", "")) ?? []
  const type_name = `TYPE_NAME_${name.toUpperCase()}`
  return generic === undefined ? { type_name } : { type_name, generic_types: [parameterOf(generic)] }
}

/** The same in the JSON of a model. */
export function parametersOf(parameters: Parameters): Record<string, ConditionParameterType> {
  return Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, parameterOf(text)]))
}
