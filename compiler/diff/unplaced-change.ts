import { type Finding, joined } from "../analysis/finding.ts"
import { countWords, listWords, routeWords } from "../analysis/words.ts"
import type { Change } from "./change.ts"

/** A change without its origin, which is added later. */
export type UnplacedChange = Omit<Change, "origin">

/** A change of something other than a step: a declaration, a listener, a model. */
export function changeOf(
  about: Pick<UnplacedChange, "action" | "subject" | "scope" | "path"> & {
    readonly before?: string | undefined
    readonly after?: string | undefined
    readonly routes?: readonly string[]
  },
  findings: readonly Finding[] | Finding,
): UnplacedChange {
  const { action, subject, scope, path, before, after, routes = [] } = about
  return {
    ...joined([findings].flat()),
    danger: false,
    action,
    subject,
    scope,
    routes,
    where: whereOf(routes),
    path,
    before,
    after,
  }
}

function whereOf(routes: readonly string[]): string {
  if (routes.length <= 1) return routeWords(routes[0] ?? "")
  return `${countWords(routes.length, "route")}: ${listWords(routes.map(routeWords), 3)}`
}
