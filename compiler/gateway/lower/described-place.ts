import type { OperationDescription } from "../../azure/site.ts"
import { examplesOf, mockAnswer } from "../../openapi/mock-answer.ts"
import type { DescribedOperation } from "../described.ts"
import type { Program } from "../program.ts"
import { judgesContent } from "../schema-files.ts"
import type { DescribedBodies } from "./place.ts"
import type { Validation } from "./validation.ts"

/** The parts of an operation's OpenAPI description that policy documents use. */
export function describedPlace(
  described: DescribedOperation | undefined,
  validation: Validation,
): OperationDescription | undefined {
  if (described === undefined) return undefined
  const { parameters, responses } = described.operation
  return {
    contents: (message, overrides) => validation.contents(described, message, "prevent", overrides),
    parameters: () =>
      validation.parameters(described, "prevent").filter(({ in: place }) => place !== "cookie"),
    names: described.names,
    cookies: parameters.flatMap(({ in: place, name }) => (place === "cookie" ? [name] : [])),
    statuses: responses.map(({ status }) => status),
    headers: () => validation.headers(described, "prevent"),
    answer: (status, media, index) => {
      const answer = mockAnswer(described.operation, described.document, status, media, index)
      return typeof answer === "string" ? undefined : answer
    },
    examples: (status, media) => examplesOf(described.operation, status, media),
    query: requiredQuery(described),
  }
}

/**
 * The parts of an operation's description that are used by statements that validate bodies in a section. Undefined if there is no such
 * statement.
 */
export function describedBodies(
  program: Program,
  validation: Validation,
): ((described: DescribedOperation) => DescribedBodies) | undefined {
  if (!judgesContent(program.root)) return undefined
  const numbers = new Map<DescribedOperation["operation"], number>()
  return (described) => {
    const number = numbers.get(described.operation) ?? numbers.size
    numbers.set(described.operation, number)
    return {
      key: `operation ${number}`,
      contents: (message, overrides) => validation.contents(described, message, "prevent", overrides),
    }
  }
}

/** Names of the required query parameters of the operation. */
export function requiredQuery({ operation }: DescribedOperation): string[] {
  return operation.parameters.flatMap((each) => (each.in === "query" && each.required ? [each.name] : []))
}
