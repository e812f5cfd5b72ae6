import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { SettingPlan } from "../../runtime/plan/resources.ts"
import { type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** Values that processes read from their environment: a reviewer sees the default, and who can replace it. */
export function compareSettings(before: PlanBody, after: PlanBody): UnplacedChange[] {
  const [old, next] = [before.settings ?? {}, after.settings ?? {}]
  const places = new Set([...Object.keys(old), ...Object.keys(next)])
  return [...places].flatMap((place) => {
    if (same(old[place], next[place])) return []
    const about = {
      subject: { kind: "setting", name: place },
      scope: scopeOf(place),
      path: place,
    } as const
    const [was, is] = [old[place], next[place]]
    if (is === undefined)
      return [
        changeOf(
          { ...about, action: "removed", ...(was === undefined ? {} : { before: words(place, was) }) },
          neutral("all processes use the value of the plan"),
        ),
      ]
    const action = was === undefined ? "added" : "changed"
    const written = { ...(was === undefined ? {} : { before: words(place, was) }), after: words(place, is) }
    return [changeOf({ ...about, action, ...written }, effectOf(is))]
  })
}

function effectOf({ env, is }: SettingPlan): Finding {
  return is === "networks"
    ? opens(`who can set \`${env}\` decides which proxies may say any address of a client`)
    : neutral(`a process with \`${env}\` in its environment uses that value instead of the plan's`)
}

const words = (place: string, { env }: SettingPlan) =>
  `${place.replace(/^(?:gateway|authz|backends\.[^.]+)\./, "")} = env(${env})`

function scopeOf(place: string): UnplacedChange["scope"] {
  const [part, name = ""] = place.split(".")
  if (part === "backends") return { kind: "backend", name }
  return { kind: part === "authz" ? "authz" : "gateway", name: "" }
}
