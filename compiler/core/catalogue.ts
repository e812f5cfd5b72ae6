import type { CatalogueEntry } from "./catalogue/entry.ts"
import { files } from "./catalogue/files.ts"
import { links } from "./catalogue/links.ts"
import { models } from "./catalogue/models.ts"
import { openapi } from "./catalogue/openapi.ts"
import { policies } from "./catalogue/policies.ts"
import { routes } from "./catalogue/routes.ts"
import { statements } from "./catalogue/statements.ts"
import { syntax } from "./catalogue/syntax.ts"
import { tests } from "./catalogue/tests.ts"

/** All findings. A code never changes its meaning, and the code of a removed finding is not reused. */
export const catalogue = {
  ...files,
  ...syntax,
  ...statements,
  ...routes,
  ...links,
  ...models,
  ...tests,
  ...policies,
  ...openapi,
}

/**
 * The code of a finding, e.g. `SP1001`. The first digit is the area: 0 files, 1 syntax, 2 and 3 gateway.conf, 4 models, 5 links and
 * expressions, 6 tests, 7 XML policy documents, 8 OpenAPI documents.
 */
export type DiagnosticCode = keyof typeof catalogue

/** The catalogue's row of a code. */
export function entryOf(code: DiagnosticCode): CatalogueEntry {
  return catalogue[code]
}
