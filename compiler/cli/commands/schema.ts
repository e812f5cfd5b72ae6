import { explanationJsonSchema, planJsonSchema } from "../../../runtime/plan/json-schema.ts"
import type { SchemaArgs } from "../args/schema.ts"
import { type CommandAction, exitCode } from "../command.ts"

export const schema: CommandAction<SchemaArgs> = async ({ of }, io) => {
  const document = of === "plan" ? planJsonSchema() : explanationJsonSchema()
  io.out(`${JSON.stringify(document, null, 2)}\n`)
  return exitCode.ok
}
