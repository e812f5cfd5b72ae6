import type { RequestPlace } from "../../runtime/expression/request-context.ts"
import type { WrittenExpression } from "./ast.ts"
import type { Documents } from "./described.ts"
import type { LoweredRoute } from "./lower/route.ts"
import type { RouteSource } from "./routes.ts"

/** What a compilation for an editor knows besides findings. It must only be read until the next compilation moves the spans. */
export interface Insight {
  /** What each expression can name in the places where it runs. Expressions of statements with mistakes may be missing. */
  readonly contexts: ReadonlyMap<WrittenExpression, ReadonlySet<RequestPlace>>
  /** OpenAPI documents by the block that names them. */
  readonly documents: Documents
  readonly routes: ReadonlyMap<RouteSource, LoweredRoute>
}
