import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { getModelAssertions, postAssertionRun, putModelAssertions } from "./assertions.ts"
import { getModel, getModels, postModel } from "./authorization-models.ts"
import { postEvaluation } from "./authzen/evaluation.ts"
import { postEvaluations } from "./authzen/evaluations.ts"
import { getMetadata, getStoreMetadata } from "./authzen/metadata.ts"
import { postSearchAction, postSearchResource, postSearchSubject } from "./authzen/search.ts"
import { postBatchCheck } from "./batch-check.ts"
import { postBulkWrite } from "./bulk-write.ts"
import { getChanges } from "./changes.ts"
import { postCheck } from "./check.ts"
import { postExpand } from "./expand.ts"
import { postExplain } from "./explain.ts"
import { postListObjects, postStreamedListObjects } from "./list-objects.ts"
import { postListRelations } from "./list-relations.ts"
import { postListUsers } from "./list-users.ts"
import { postMatrix } from "./matrix.ts"
import { postRead } from "./read.ts"
import type { ApiRoute } from "./route.ts"
import { getStore, getStores, patchStore, postStore, removeStore } from "./stores.ts"
import { getWatch } from "./watch/watch.ts"
import { postWrite } from "./write.ts"

const store = "/stores/{store}"

const authzenMetadata = "/.well-known/authzen-configuration"

const authzenResources = [
  { path: "/access/v1/evaluation", handler: postEvaluation },
  { path: "/access/v1/evaluations", handler: postEvaluations },
  { path: "/access/v1/search/subject", handler: postSearchSubject, patient: true },
  { path: "/access/v1/search/resource", handler: postSearchResource, patient: true },
  { path: "/access/v1/search/action", handler: postSearchAction },
] as const

/** AuthZEN 1.0: below a store, and on the standard's own paths for the default store. */
const authzenRoutes: readonly ApiRoute[] = [
  ...authzenResources.flatMap(({ path, ...more }): ApiRoute[] => [
    { method: "POST", path: `/stores/{store}${path}`, right: "read", ...more },
    { method: "POST", path, right: "read", ofDefaultStore: true, ...more },
  ]),
  { method: "GET", path: authzenMetadata, right: "open", ofDefaultStore: true, handler: getMetadata },
  { method: "GET", path: `${authzenMetadata}/{store}`, right: "open", handler: getStoreMetadata },
]

/** All routes. */
export const routes: readonly ApiRoute[] = [
  { method: "GET", path: "/healthz", right: "open", handler: getHealth },

  { method: "GET", path: "/stores", right: "caller", handler: getStores },
  { method: "POST", path: "/stores", right: "manage", handler: postStore },
  { method: "GET", path: store, right: "read", handler: getStore },
  { method: "PATCH", path: store, right: "manage", handler: patchStore },
  { method: "DELETE", path: store, right: "manage", handler: removeStore },

  { method: "GET", path: `${store}/authorization-models`, right: "read", handler: getModels },
  { method: "POST", path: `${store}/authorization-models`, right: "write", handler: postModel },
  { method: "GET", path: `${store}/authorization-models/{id}`, right: "read", handler: getModel },

  { method: "POST", path: `${store}/write`, right: "write", handler: postWrite },
  { method: "POST", path: `${store}/bulk-write`, right: "write", handler: postBulkWrite },
  { method: "POST", path: `${store}/read`, right: "read", handler: postRead },
  { method: "GET", path: `${store}/assertions/{id}`, right: "read", handler: getModelAssertions },
  { method: "PUT", path: `${store}/assertions/{id}`, right: "write", handler: putModelAssertions },
  { method: "POST", path: `${store}/assertions/{id}/run`, right: "read", handler: postAssertionRun },

  { method: "GET", path: `${store}/changes`, right: "read", handler: getChanges },
  { method: "GET", path: `${store}/watch`, right: "read", patient: true, handler: getWatch },

  { method: "POST", path: `${store}/check`, right: "read", handler: postCheck },
  { method: "POST", path: `${store}/explain`, right: "read", handler: postExplain },
  { method: "POST", path: `${store}/batch-check`, right: "read", handler: postBatchCheck },
  { method: "POST", path: `${store}/expand`, right: "read", handler: postExpand },
  { method: "POST", path: `${store}/list-objects`, right: "read", patient: true, handler: postListObjects },
  {
    method: "POST",
    path: `${store}/streamed-list-objects`,
    right: "read",
    patient: true,
    streams: true,
    handler: postStreamedListObjects,
  },
  { method: "POST", path: `${store}/list-users`, right: "read", patient: true, handler: postListUsers },
  { method: "POST", path: `${store}/list-relations`, right: "read", handler: postListRelations },
  { method: "POST", path: `${store}/matrix`, right: "read", handler: postMatrix },

  ...authzenRoutes,
]

/** `GET /healthz` → `{"status":"SERVING"}`, or 503 `NOT_SERVING` while no request could be answered. */
async function getHealth(api: AuthzApi): Promise<ApiResponse> {
  return (await api.healthy())
    ? { status: 200, body: { status: "SERVING" } }
    : { status: 503, body: { status: "NOT_SERVING" } }
}
