import type { Kind } from "./corpus.ts"
import { confExpressions } from "./kinds/conf-expressions.ts"
import { confStatements } from "./kinds/conf-statements.ts"
import { confSyntax } from "./kinds/conf-syntax.ts"
import { models } from "./kinds/models.ts"
import { openapi } from "./kinds/openapi.ts"
import { policies } from "./kinds/policies.ts"
import { storeTests } from "./kinds/store-tests.ts"

/** All kinds of mistakes. */
export const kinds: readonly Kind[] = [
  ...confSyntax,
  ...confStatements,
  ...confExpressions,
  ...models,
  ...storeTests,
  ...openapi,
  ...policies,
]
