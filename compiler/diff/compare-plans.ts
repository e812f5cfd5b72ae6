import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Change, SubjectKind } from "./change.ts"

const tables: Readonly<Partial<Record<keyof PlanBody, SubjectKind>>> = {
  values: "value",
  secrets: "secret",
  issuers: "issuer",
  backends: "backend",
  products: "product",
  subscriptions: "subscription",
  routes: "route",
  steps: "step",
  models: "model",
}

/**
 * The differences between two plans; `before` undefined: nothing is running. Equal plans have none, and plans with different digests at
 * least one. `origins` are those of the plan after the change.
 */
export function comparePlans(
  before: PlanBody | undefined,
  after: PlanBody,
  origins: Readonly<Record<string, string>> = {},
): Change[] {
  const changes: Change[] = []
  for (const key of Object.keys(after) as (keyof PlanBody)[]) {
    const kind = tables[key]
    if (kind === undefined) {
      compareOne(changes, key as "gateway" | "authz", "", before?.[key], after[key], origins)
      continue
    }
    const old: Record<string, unknown> = before?.[key] ?? {}
    const next: Record<string, unknown> = after[key] ?? {}
    for (const name of [...new Set([...Object.keys(old), ...Object.keys(next)])].sort())
      compareOne(changes, kind, name, old[name], next[name], origins, `${key}.${name}`)
  }
  return changes
}

function compareOne(
  changes: Change[],
  kind: SubjectKind,
  name: string,
  before: unknown,
  after: unknown,
  origins: Readonly<Record<string, string>>,
  path: string = kind,
): void {
  const old = before ?? undefined
  const next = after ?? undefined
  if (canonicalJson(old ?? null) === canonicalJson(next ?? null)) return
  changes.push({
    risk: "neutral",
    danger: false,
    action: old === undefined ? "added" : next === undefined ? "removed" : "changed",
    subject: { kind, name },
    scope: { kind: "plan", name: "" },
    routes: [],
    path,
    before: old === undefined ? undefined : canonicalJson(old),
    after: next === undefined ? undefined : canonicalJson(next),
    why: "",
    origin: origins[path],
  })
}
