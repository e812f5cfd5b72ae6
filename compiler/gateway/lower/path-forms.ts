import type { PathForms, Route } from "../../../runtime/plan/resources.ts"
import { statementOf } from "../bind/bound.ts"
import type { RouteScope } from "../routes.ts"
import { type PathFormKeyword, pathFormKeywords } from "../schema/scopes.ts"

const fields: { readonly [Keyword in PathFormKeyword]: keyof PathForms } = {
  "encoded-slash": "encodedSlash",
  "path-parameters": "pathParameters",
  "empty-segments": "emptySegments",
}

/** The forms of paths that a route passes, each by the nearest statement; nothing where it passes none. `chain`: scopes from the inside. */
export function pathFormsOf(chain: readonly (RouteScope | undefined)[]): Pick<Route, "passes"> {
  const passed = pathFormKeywords.filter((keyword) => {
    const nearest = chain
      .map((scope) => statementOf(scope?.block, keyword))
      .find((bound) => bound !== undefined)
    return nearest?.args.value<string>("treatment") === "pass"
  })
  if (passed.length === 0) return {}
  return { passes: Object.fromEntries(passed.map((keyword) => [fields[keyword], true])) }
}
