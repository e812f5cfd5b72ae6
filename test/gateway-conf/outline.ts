import type { Plan } from "../../runtime/plan/plan.ts"
import type { StepId } from "../../runtime/plan/steps.ts"

/** A plan as a person would check it: steps written out where they are used, defaults of the gateway left out. */
export function outlineOfPlan(plan: Plan | undefined): string {
  if (plan === undefined) return "no plan"
  const { routes, steps, models, gateway, authz, control, portal, ...tables } = plan.plan
  const lines: string[] = []
  if (gateway !== null) lines.push(`gateway ${JSON.stringify(gateway)}`)
  if (authz !== null) lines.push(`authz ${JSON.stringify(authz)}`)
  if (control !== undefined) lines.push(`control ${JSON.stringify(control)}`)
  if (portal !== undefined) lines.push(`portal ${JSON.stringify(portal)}`)
  for (const [table, rows] of Object.entries(tables)) {
    for (const [name, row] of Object.entries(rows ?? {}))
      lines.push(`${table}.${name} ${JSON.stringify(row)}`)
  }
  const write = (ids: readonly StepId[], indent: string, path: string): void => {
    ids.forEach((id, index) => {
      const { kind, ...rest } = steps[id] as {
        kind: string
        matched?: StepId[]
        otherwise?: StepId[]
        steps?: StepId[]
      }
      const { matched, otherwise, steps: inner, ...own } = rest
      const origin = plan.origins[`${path}.${index}`]
      lines.push(`${indent}${kind} ${JSON.stringify(own)}  <- ${origin}`)
      for (const [name, list] of Object.entries({ matched, otherwise, steps: inner })) {
        if (list === undefined || list.length === 0) continue
        lines.push(`${indent}  ${name}`)
        write(list, `${indent}    `, `${path}.${index}.${name}`)
      }
    })
  }
  for (const [key, { sections, ...route }] of Object.entries(routes).sort(([a], [b]) => (a < b ? -1 : 1))) {
    lines.push(`${key} ${JSON.stringify(route)}`)
    for (const [section, ids] of Object.entries(sections)) {
      if (ids.length === 0) continue
      lines.push(`  ${section}`)
      write(ids, "    ", `routes.${key}.${section}`)
    }
  }
  return lines.join("\n")
}
