import { getModelAssertions, putModelAssertions } from "./assertions.ts"
import { getModel, getModels, postModel } from "./authorization-models.ts"
import { getChanges } from "./changes.ts"
import { postCheck } from "./check.ts"
import { getHealth } from "./healthz.ts"
import { postRead } from "./read.ts"
import type { Route } from "./route.ts"
import { getStore, getStores, patchStore, postStore, removeStore } from "./stores.ts"
import { postWrite } from "./write.ts"

const store = "/stores/{store}"

/** Every route there is. */
export const routes: readonly Route[] = [
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
  { method: "GET", path: `${store}/changes`, right: "read", handler: getChanges },
  { method: "POST", path: `${store}/check`, right: "read", handler: postCheck },
]
