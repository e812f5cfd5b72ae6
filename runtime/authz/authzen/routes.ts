import type { ApiRoute } from "../route.ts"
import { postEvaluation } from "./evaluation.ts"
import { postEvaluations } from "./evaluations.ts"
import { getMetadata, getStoreMetadata } from "./metadata.ts"
import { postSearchAction, postSearchResource, postSearchSubject } from "./search.ts"

const wellKnown = "/.well-known/authzen-configuration"

const resources = [
  { path: "/access/v1/evaluation", handler: postEvaluation },
  { path: "/access/v1/evaluations", handler: postEvaluations },
  { path: "/access/v1/search/subject", handler: postSearchSubject, patient: true },
  { path: "/access/v1/search/resource", handler: postSearchResource, patient: true },
  { path: "/access/v1/search/action", handler: postSearchAction },
] as const

/** AuthZEN 1.0: of a store, and on the standard's own paths of the default store. */
export const authzenRoutes: readonly ApiRoute[] = [
  ...resources.flatMap(({ path, ...more }): ApiRoute[] => [
    { method: "POST", path: `/stores/{store}${path}`, right: "read", ...more },
    { method: "POST", path, right: "read", ofDefaultStore: true, ...more },
  ]),
  { method: "GET", path: wellKnown, right: "open", ofDefaultStore: true, handler: getMetadata },
  { method: "GET", path: `${wellKnown}/{store}`, right: "open", handler: getStoreMetadata },
]
