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
  { name: "Evaluation", path: "/access/v1/evaluation", handler: postEvaluation },
  { name: "Evaluations", path: "/access/v1/evaluations", handler: postEvaluations },
  { name: "SubjectSearch", path: "/access/v1/search/subject", handler: postSearchSubject, patient: true },
  { name: "ResourceSearch", path: "/access/v1/search/resource", handler: postSearchResource, patient: true },
  { name: "ActionSearch", path: "/access/v1/search/action", handler: postSearchAction },
] as const

/** AuthZEN 1.0: below a store, and on the standard's own paths for the default store. */
const authzenRoutes: readonly ApiRoute[] = [
  ...authzenResources.flatMap(({ path, ...more }): ApiRoute[] => [
    { method: "POST", path: `/stores/{store}${path}`, right: "read", ...more },
    { method: "POST", path, right: "read", ofDefaultStore: true, ...more },
  ]),
  {
    name: "GetConfiguration",
    method: "GET",
    path: authzenMetadata,
    right: "open",
    ofDefaultStore: true,
    handler: getMetadata,
  },
  {
    name: "GetConfiguration",
    method: "GET",
    path: `${authzenMetadata}/{store}`,
    right: "open",
    handler: getStoreMetadata,
  },
]

/** All routes. */
export const routes: readonly ApiRoute[] = [
  { name: "Health", method: "GET", path: "/healthz", right: "open", handler: getHealth },

  { name: "ListStores", method: "GET", path: "/stores", right: "caller", handler: getStores },
  { name: "CreateStore", method: "POST", path: "/stores", right: "manage", handler: postStore },
  { name: "GetStore", method: "GET", path: store, right: "read", handler: getStore },
  { name: "UpdateStore", method: "PATCH", path: store, right: "manage", handler: patchStore },
  { name: "DeleteStore", method: "DELETE", path: store, right: "manage", handler: removeStore },

  {
    name: "ReadAuthorizationModels",
    method: "GET",
    path: `${store}/authorization-models`,
    right: "read",
    handler: getModels,
  },
  {
    name: "WriteAuthorizationModel",
    method: "POST",
    path: `${store}/authorization-models`,
    right: "write",
    handler: postModel,
  },
  {
    name: "ReadAuthorizationModel",
    method: "GET",
    path: `${store}/authorization-models/{id}`,
    right: "read",
    handler: getModel,
  },

  { name: "Write", method: "POST", path: `${store}/write`, right: "write", handler: postWrite },
  { name: "BulkWrite", method: "POST", path: `${store}/bulk-write`, right: "write", handler: postBulkWrite },
  { name: "Read", method: "POST", path: `${store}/read`, right: "read", handler: postRead },
  {
    name: "ReadAssertions",
    method: "GET",
    path: `${store}/assertions/{id}`,
    right: "read",
    handler: getModelAssertions,
  },
  {
    name: "WriteAssertions",
    method: "PUT",
    path: `${store}/assertions/{id}`,
    right: "write",
    handler: putModelAssertions,
  },
  {
    name: "RunAssertions",
    method: "POST",
    path: `${store}/assertions/{id}/run`,
    right: "read",
    handler: postAssertionRun,
  },

  { name: "ReadChanges", method: "GET", path: `${store}/changes`, right: "read", handler: getChanges },
  {
    name: "Watch",
    method: "GET",
    path: `${store}/watch`,
    right: "read",
    patient: true,
    waits: true,
    handler: getWatch,
  },

  { name: "Check", method: "POST", path: `${store}/check`, right: "read", handler: postCheck },
  { name: "Explain", method: "POST", path: `${store}/explain`, right: "read", handler: postExplain },
  {
    name: "BatchCheck",
    method: "POST",
    path: `${store}/batch-check`,
    right: "read",
    handler: postBatchCheck,
  },
  { name: "Expand", method: "POST", path: `${store}/expand`, right: "read", handler: postExpand },
  {
    name: "ListObjects",
    method: "POST",
    path: `${store}/list-objects`,
    right: "read",
    patient: true,
    handler: postListObjects,
  },
  {
    name: "StreamedListObjects",
    method: "POST",
    path: `${store}/streamed-list-objects`,
    right: "read",
    patient: true,
    streams: true,
    handler: postStreamedListObjects,
  },
  {
    name: "ListUsers",
    method: "POST",
    path: `${store}/list-users`,
    right: "read",
    patient: true,
    handler: postListUsers,
  },
  {
    name: "ListRelations",
    method: "POST",
    path: `${store}/list-relations`,
    right: "read",
    handler: postListRelations,
  },
  { name: "Matrix", method: "POST", path: `${store}/matrix`, right: "read", handler: postMatrix },

  ...authzenRoutes,
]

/** `GET /healthz` → `{"status":"SERVING"}`, or 503 `NOT_SERVING` while no request could be answered. */
async function getHealth(api: AuthzApi): Promise<ApiResponse> {
  return (await api.healthy())
    ? { status: 200, body: { status: "SERVING" } }
    : { status: 503, body: { status: "NOT_SERVING" } }
}
