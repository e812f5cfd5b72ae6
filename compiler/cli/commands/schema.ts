import { planJsonSchema } from "../../../runtime/plan/json-schema.ts"
import { exitCode, type Work } from "../command.ts"

export const schema: Work<Record<string, never>> = async (_, io) => {
  io.out(`${JSON.stringify(planJsonSchema(), null, 2)}\n`)
  return exitCode.ok
}
