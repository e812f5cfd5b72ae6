import { postAssertionRun } from "./assertion-run.ts"
import { getModelAssertions, putModelAssertions } from "./assertions.ts"
import { getModel, getModels, postModel } from "./authorization-models.ts"
import { authzenRoutes } from "./authzen/routes.ts"
import { postBatchCheck } from "./batch-check.ts"
import { getChanges } from "./changes.ts"
import { postCheck } from "./check.ts"
import { postExpand } from "./expand.ts"
import { postExplain } from "./explain.ts"
import { getHealth } from "./healthz.ts"
import { postListObjects, postStreamedListObjects } from "./list-objects.ts"
import { postListRelations } from "./list-relations.ts"
import { postListUsers } from "./list-users.ts"
import { postMatrix } from "./matrix.ts"
import { postRead } from "./read.ts"
import type { ApiRoute } from "./route.ts"
import { getStore, getStores, patchStore, postStore, removeStore } from "./stores.ts"
import { postWrite } from "./write.ts"

const store = "/stores/{store}"

/** Every route there is. */
export const routes: readonly ApiRoute[] = [
  { method: "GET", path: "/healthz", right: "open", handler: getHealth },

  { method: "GET", path: "/stores", right: "manage", handler: getStores },
  { method: "POST", path: "/stores", right: "manage", handler: postStore },
  { method: "GET", path: store, right: "read", handler: getStore },
  { method: "PATCH", path: store, right: "manage", handler: patchStore },
  { method: "DELETE", path: store, right: "manage", handler: removeStore },

  { method: "GET", path: `${store}/authorization-models`, right: "read", handler: getModels },
  { method: "POST", path: `${store}/authorization-models`, right: "write", handler: postModel },
  { method: "GET", path: `${store}/authorization-models/{id}`, right: "read", handler: getModel },

  { method: "POST", path: `${store}/write`, right: "write", handler: postWrite },
  { method: "POST", path: `${store}/read`, right: "read", handler: postRead },
  { method: "GET", path: `${store}/assertions/{id}`, right: "read", handler: getModelAssertions },
  { method: "PUT", path: `${store}/assertions/{id}`, right: "write", handler: putModelAssertions },
  { method: "POST", path: `${store}/assertions/{id}/run`, right: "read", handler: postAssertionRun },

  { method: "GET", path: `${store}/changes`, right: "read", handler: getChanges },

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
