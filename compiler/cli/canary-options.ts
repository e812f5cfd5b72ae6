import type { CanaryRecord } from "../../runtime/control/api.ts"
import { CliError, type OptionValues } from "./command.ts"
import { readCount, readDuration, textOf } from "./options.ts"

/** The terms of a canary, in the format of the control API. */
export interface CanaryTermsArgs {
  readonly percent: number
  readonly seconds: number
  readonly limits: Partial<CanaryRecord["limits"]>
}

/** The options of `apply` for a canary. */
export const canaryOptions = [
  [
    "--canary <share>",
    "first serve only this share of the callers with the plan, e.g. 5%, and all of them after --for",
  ],
  ["--for <duration>", "with --canary: how long, e.g. 30m (default: 10m)"],
  [
    "--return-when <rules>",
    "with --canary: end it when the new plan is worse by more (default: errors +1%, denials +1%, latency x1.5); `off` instead of a number compares nothing",
  ],
  [
    "--min-requests <count>",
    "with --canary: requests of the new plan before it is judged; with fewer it does not become the plan of all (default: 50)",
  ],
] as const

const secondsDefault = 600

/** Reads the options; undefined: no canary. */
export function readCanary(options: OptionValues): CanaryTermsArgs | undefined {
  const share = textOf(options, "canary")
  const [time, rules, count] = ["for", "returnWhen", "minRequests"].map((name) => textOf(options, name))
  if (share === undefined) {
    if (time === undefined && rules === undefined && count === undefined) return undefined
    throw new CliError(
      "--for, --return-when and --min-requests belong to a canary",
      "Add --canary, e.g. --canary 5%.",
    )
  }
  const seconds = time === undefined ? secondsDefault : Math.round(readDuration(time, "--for") / 1_000)
  if (seconds < 1) throw new CliError("--for must be at least one second", "For example: --for 10m")
  const requestsMin = count === undefined ? {} : { requestsMin: count === "0" ? 0 : countOf(count) }
  return { percent: percentOf(share), seconds, limits: { ...readRules(rules ?? ""), ...requestsMin } }
}

function countOf(text: string): number {
  return readCount(text, "--min-requests")
}

function percentOf(text: string): number {
  const percent = Number(/^(\d{1,2}(?:\.\d{1,2})?)%?$/.exec(text)?.[1])
  if (percent >= 0.01 && percent <= 99) return percent
  throw new CliError(`--canary ${text} is not a share of 0.01% to 99%`, "For example: --canary 5%")
}

const rulePattern =
  /^(errors|denials|latency) *(?:(off)|\+(\d{1,2}(?:\.\d{1,3})?)%|x(\d{1,3}(?:\.\d{1,2})?))$/

function readRules(text: string): Partial<CanaryRecord["limits"]> {
  const limits: Partial<CanaryRecord["limits"]> = {}
  for (const rule of text.split(",").map((each) => each.trim())) {
    if (rule === "") continue
    const [, what, off, points, ratio] = rulePattern.exec(rule) ?? []
    const isRatio = what === "latency"
    const value = off === "off" ? null : Number(isRatio ? ratio : points)
    if (what === undefined || Number.isNaN(value) || (isRatio && value !== null && value < 1))
      throw new CliError(
        `--return-when has the rule \`${rule}\`, which cannot be read`,
        "Write rules like `errors +1%, denials +0.5%, latency x2`, or `latency off`.",
      )
    limits[what === "errors" ? "errorPoints" : what === "denials" ? "denialPoints" : "latencyRatio"] = value
  }
  return limits
}
