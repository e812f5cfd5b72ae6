import { access } from "./access.ts"
import { backend } from "./backend.ts"
import { body } from "./body.ts"
import { cache, variables } from "./cache.ts"
import { flow } from "./flow.ts"
import { message } from "./message.ts"
import { models } from "./models.ts"
import { requests } from "./requests.ts"
import type { ElementTable } from "./row.ts"
import { semanticCache } from "./semantic-cache.ts"
import { telemetry } from "./telemetry.ts"
import { tokens } from "./tokens.ts"
import { contentValidation } from "./validate-content.ts"
import { validation } from "./validation.ts"

/** Every policy of a document, by name. To add one, add a row to the table of its family. */
export const policies: ElementTable = {
  ...access,
  ...backend,
  ...body,
  ...cache,
  ...contentValidation,
  ...flow,
  ...message,
  ...models,
  ...requests,
  ...telemetry,
  ...tokens,
  ...validation,
  ...variables,
  ...semanticCache,
}
