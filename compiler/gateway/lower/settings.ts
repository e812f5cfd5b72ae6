import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { holderOfSetting, type SettingPlan } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { BoundBlock, Filled } from "../bind/bound.ts"
import type { SlotKind } from "../schema/row.ts"

/** How the runtime reads the kinds of arguments that the environment can set. */
const forms: Partial<Record<SlotKind, Pick<SettingPlan, "is" | "none" | "max">>> = {
  duration: { is: "duration" },
  "duration-or-none": { is: "duration", none: true },
  size: { is: "size" },
  count: { is: "count" },
  percentage: { is: "percentage", max: 100 },
  network: { is: "networks" },
}

/** What the environment sets, by its place in the plan. Places that the plan does not have, such as those of an unused backend, are left out. */
export function lowerSettings(
  root: BoundBlock,
  body: Pick<PlanBody, "gateway" | "authz" | "backends">,
  report: Report,
): Pick<PlanBody, "settings"> {
  const settings: Record<string, SettingPlan> = {}
  for (const { args, block } of root.statements)
    for (const [field, all] of settable(block)) {
      const found = all.find(({ variable }) => variable !== undefined)
      const form = found === undefined ? undefined : forms[found.slot.kind]
      if (found?.variable === undefined || form === undefined) continue
      const other = all.find(({ argument }) => argument !== found.argument)
      if (other !== undefined)
        report.add("SP2004", found.argument.span, `\`${found.variable}\` replaces the whole list`, {
          help: `Write the other items into the default of \`${found.variable}\`, and into the variable where it is set.`,
          related: [{ span: other.argument.span, message: "another item" }],
        })
      const place = field.replace("*", args.word("name")?.text ?? "")
      const { min, max } = found.slot
      const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
      if (holderOfSetting(body, place) !== undefined)
        settings[place] = { env: found.variable, ...form, ...bounds }
    }
  return Object.keys(settings).length === 0 ? {} : { settings }
}

/** The arguments inside of a declaration that the environment could set, by their field of the plan. */
function settable(block: BoundBlock | undefined, found = new Map<string, Filled[]>()): Map<string, Filled[]> {
  for (const each of block?.statements ?? []) {
    for (const filled of each.args.filled) {
      const { setting } = filled.slot
      if (setting !== undefined) found.set(setting, [...(found.get(setting) ?? []), filled])
    }
    settable(each.block, found)
  }
  return found
}
