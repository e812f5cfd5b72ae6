import { readNetworkText } from "./network.ts"
import { type Plan, type PlanBody, planBody } from "./plan.ts"
import { countOf, durationOf, durationText, percentageOf, sizeOf, sizeText } from "./quantities.ts"
import { problemsOf } from "./read.ts"
import { holderOfSetting, type SettingPlan } from "./resources.ts"

/** A plan with the values that the environment gives, or everything that is wrong with them, each with the place of the plan. */
export type WithSettings =
  | { readonly plan: Plan }
  | { readonly problems: readonly { readonly place: string; readonly message: string }[] }

/**
 * Puts the values of environment variables at the places of a plan that `settings` names. A variable that is not set leaves the default, which the plan
 * contains. Digest and origins stay those of the plan: processes with other values run the same plan.
 */
export function withSettings(
  plan: Plan,
  environment: Readonly<Record<string, string | undefined>>,
): WithSettings {
  const given = Object.entries(plan.plan.settings ?? {}).flatMap(([place, setting]) => {
    const text = environment[setting.env]
    return text === undefined ? [] : [{ place, setting, text: text.trim() }]
  })
  if (given.length === 0) return { plan }
  const parts = structuredClone({
    gateway: plan.plan.gateway,
    authz: plan.plan.authz,
    backends: plan.plan.backends,
  })
  const problems = given.flatMap(({ place, setting, text }) => {
    const value = readSetting(text, setting)
    const isRead = typeof value !== "object" || value === null || Array.isArray(value)
    if (isRead && put(parts, place, value)) return []
    const why = isRead ? "the plan has no such place" : value.problem
    return [
      { place, message: `the environment variable ${setting.env} is \`${text.slice(0, 100)}\`: ${why}` },
    ]
  })
  if (problems.length > 0) return { problems }
  // Bounds that two values have together, and those of a plan that another compiler made.
  const read = planBody.pick({ gateway: true, authz: true, backends: true }).safeParse(parts)
  if (!read.success)
    return { problems: problemsOf(read.error).map(({ path, message }) => ({ place: path, message })) }
  return { plan: { ...plan, plan: { ...plan.plan, ...read.data } } }
}

function put(parts: Partial<PlanBody>, place: string, value: unknown): boolean {
  const holder = holderOfSetting(parts, place)
  if (holder === undefined) return false
  holder[place.slice(place.lastIndexOf(".") + 1)] = value
  return true
}

/** Milliseconds, bytes, a count, percent or networks; null for `none` where it is allowed. `problem` says what to write instead. */
function readSetting(
  text: string,
  setting: SettingPlan,
): number | string[] | null | { readonly problem: string } {
  if (setting.is === "networks") return readNetworks(text)
  if (setting.none === true && text === "none") return null
  const [read, print, form] = quantities[setting.is]
  const value = read(text)
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = setting
  if (value !== undefined && value >= min && value <= max) return value
  const bounds =
    max === Number.MAX_SAFE_INTEGER
      ? `at least \`${print(min)}\``
      : `between \`${print(min)}\` and \`${print(max)}\``
  return { problem: `write ${form} ${bounds}` }
}

/** How each kind is read, printed and called. */
const quantities: {
  readonly [Kind in Exclude<SettingPlan["is"], "networks">]: readonly [
    (text: string) => number | undefined,
    (value: number) => string,
    string,
  ]
} = {
  duration: [durationOf, durationText, "a duration"],
  size: [sizeOf, sizeText, "a size"],
  count: [countOf, String, "a whole number"],
  percentage: [percentageOf, (value) => `${value}%`, "a share"],
}

/** Networks between blanks or commas; `none` is no network. */
function readNetworks(text: string): string[] | { readonly problem: string } {
  if (text === "none") return []
  const help = "write networks such as `10.0.0.0/8`, separated by blanks, or `none`"
  const networks: string[] = []
  for (const part of text.split(/[\s,]+/).filter((each) => each !== "")) {
    const network = readNetworkText(part)
    if (typeof network !== "string")
      return { problem: `\`${part.slice(0, 100)}\` ${network.problem}; ${help}` }
    networks.push(network)
  }
  return networks.length > 0 ? [...new Set(networks)].sort() : { problem: help }
}
