import { explanationJsonSchema, planJsonSchema } from "../../../runtime/plan/json-schema.ts"
import type { SchemaArgs } from "../args/schema.ts"
import { exitCode, type Work } from "../command.ts"

export const schema: Work<SchemaArgs> = async ({ of }, io) => {
  const document = of === "plan" ? planJsonSchema() : explanationJsonSchema()
  io.out(`${JSON.stringify(document, null, 2)}\n`)
  return exitCode.ok
}
