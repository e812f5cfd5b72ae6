import type { PlanBody } from "../../runtime/plan/plan.ts"
import { neutral, risks } from "../analysis/finding.ts"
import { byText, same } from "../analysis/same.ts"
import type { Change, ChangeScope } from "./change.ts"
import { changedBranches } from "./changed-branch.ts"
import { compareChangeRules } from "./compare-change-rules.ts"
import { compareControls } from "./compare-control.ts"
import { compareAuthzs, compareGateways } from "./compare-listeners.ts"
import { comparePortals } from "./compare-portal.ts"
import { compareProducts } from "./compare-products.ts"
import { compareProviders } from "./compare-providers.ts"
import { compareRoutes } from "./compare-routes.ts"
import { compareSettings } from "./compare-settings.ts"
import { compareSizes } from "./compare-sizes.ts"
import { compareStores } from "./compare-stores.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/**
 * The differences between two plans, in this order: dangers, then by heading (gateway, APIs, products, subscriptions, issuers, backends,
 * values, secrets, engine, stores), and within a heading by descending risk. `before` is undefined if no plan is running. Equal plans have
 * no differences, and plans with different digests have at least one. `origins` are those of the new plan.
 */
export function comparePlans(
  before: PlanBody | undefined,
  after: PlanBody,
  origins: Readonly<Record<string, string>> = {},
): Change[] {
  const old = before ?? nothing
  const changes = [
    ...compareSizes(old, after),
    ...compareGateways({ before: old, after }),
    ...compareRoutes(old, after, origins),
    ...compareProducts(old, after),
    ...compareProviders(old, after),
    ...compareSettings(old, after),
    ...compareAuthzs(old.authz, after.authz),
    ...compareStores(old, after),
    ...compareControls(old.control, after.control),
    ...comparePortals(old.portal, after.portal),
    ...compareChangeRules(old.change, after.change),
  ]
  if (changes.length === 0 && !same(old, after)) changes.push(unnamed(old, after))
  return changes.map((change) => ({ ...change, origin: originOf(change, old, after, origins) })).sort(inOrder)
}

/** What the first plan is compared with. */
const nothing: PlanBody = {
  gateway: null,
  authz: null,
  values: {},
  secrets: {},
  issuers: {},
  backends: {},
  products: {},
  subscriptions: {},
  routes: {},
  steps: {},
  models: {},
  schemas: {},
}

/** Parts without any reference to them can also differ. Such a change affects no route and no store. */
function unnamed(before: PlanBody, after: PlanBody): UnplacedChange {
  const keys = (Object.keys(after) as (keyof PlanBody)[]).filter((key) => !same(before[key], after[key]))
  return changeOf(
    {
      action: "changed",
      subject: { kind: "plan", name: keys.join(", ") },
      scope: { kind: "plan", name: "" },
      path: keys[0] ?? "",
    },
    neutral("parts that nothing uses are different"),
  )
}

/** Steps have a place of their own. For listeners and limits only the place of their block is known. */
function originOf(
  { action, path, subject }: UnplacedChange,
  before: PlanBody,
  after: PlanBody,
  origins: Readonly<Record<string, string>>,
): string | undefined {
  if (action === "removed") return undefined
  if (subject.kind === "relation" && path.startsWith("authz.stores.")) {
    const branch = branchOrigin(subject.name, path, [before, after], origins)
    if (branch !== undefined) return branch
  }
  // What a model declares is in the file of the model, which the store names.
  const declared = `${path}.${subject.kind === "condition" ? "condition " : ""}${subject.name}`
  if (path.startsWith("authz.stores.") && Object.hasOwn(origins, declared)) return origins[declared]
  if (Object.hasOwn(origins, path)) return origins[path]
  const [, route = "", statement] = /^routes\.(.+)\.(path|host)$/.exec(path) ?? []
  if (statement !== undefined) {
    // A host may come from an outer block.
    const own = `apis.${after.routes[route]?.api}.${statement}`
    return origins[Object.hasOwn(origins, own) ? own : `routes.${route}`]
  }
  // A field of a block has the place of its block.
  const block =
    /^(gateway|authz|control|portal|change|(?:issuers|backends|users|pdps|oidcClients)\.[^.]+)\./.exec(
      path,
    )?.[1] ?? ""
  return Object.hasOwn(origins, block) ? origins[block] : undefined
}

/** Where the branch of a relation's definition is that differs; undefined: the definition is equal, or its branches have no known places. `path`: of the store. */
function branchOrigin(
  relation: string,
  path: string,
  plans: readonly [before: PlanBody, after: PlanBody],
  origins: Readonly<Record<string, string>>,
): string | undefined {
  const store = path.slice("authz.stores.".length)
  const [was, is] = plans.map(({ authz, models }) => models[authz?.stores[store]?.model ?? ""]?.model)
  if (was === undefined || is === undefined) return undefined
  return changedBranches(was, is, relation)
    .map((branch) => origins[`${path}.${relation} ${branch}`])
    .find((each) => each !== undefined)
}

/** The order of changes in the output. */
const heads: readonly ChangeScope["kind"][] = [
  "plan",
  "gateway",
  "api",
  "product",
  "subscription",
  "issuer",
  "backend",
  "introspection",
  "oidc",
  "users",
  "pdp",
  "certificate",
  "token",
  "value",
  "secret",
  "authz",
  "store",
  "control",
  "portal",
  "change",
]

/** Dangers first, then by scope, name and risk; the last rules only make the order complete. */
function inOrder(a: Change, b: Change): number {
  return (
    Number(b.danger) - Number(a.danger) ||
    heads.indexOf(a.scope.kind) - heads.indexOf(b.scope.kind) ||
    byText(a.scope.name, b.scope.name) ||
    risks.indexOf(a.risk) - risks.indexOf(b.risk) ||
    byText(a.path, b.path) ||
    byText(JSON.stringify(a), JSON.stringify(b))
  )
}
