import type { Flag } from "../../../runtime/plan/step-values.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import type { AttributeRow, ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { headerName } from "./message.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  flag,
  inboundOnly,
  optional,
  type PolicyRow,
  required,
  requiredDynamic,
  values,
} from "./row.ts"

type RateLimit = Extract<Step, { kind: "rate-limit" }>
type Quota = Extract<Step, { kind: "quota" }>
type ContentSafety = Extract<Step, { kind: "content-safety" }>

const tokens = { min: 1, max: 1_000_000_000_000 }

/** Attributes that name a header or a variable, and the field of the step. */
const limitNames = [
  ["retry-after-header-name", "retryAfterHeader"],
  ["retry-after-variable-name", "retryAfterVariable"],
  ["remaining-tokens-header-name", "remainingHeader"],
  ["remaining-tokens-variable-name", "remainingVariable"],
] as const
/** Both steps could tell these: the limit per minute does where there is one. */
const consumedNames = [
  ["tokens-consumed-header-name", "consumedHeader"],
  ["tokens-consumed-variable-name", "consumedVariable"],
] as const
const quotaNames = [
  ["remaining-quota-tokens-header-name", "remainingHeader"],
  ["remaining-quota-tokens-variable-name", "remainingVariable"],
] as const

function namesOf(
  use: Use,
  names: readonly (readonly [attribute: string, field: string])[],
): Record<string, string | undefined> {
  return Object.fromEntries(
    names
      .filter(([attribute]) => use.has(attribute))
      .map(([attribute, field]) => [
        field,
        attribute.endsWith("-header-name") ? headerName(use, attribute) : use.constant(attribute),
      ]),
  )
}

/** Seconds of the periods of a quota. Those of the calendar differ in length: here all are of one. */
const quotaPeriods = { Hourly: 3_600, Daily: 86_400, Weekly: 604_800, Monthly: 2_592_000, Yearly: 31_536_000 }

/** A limit per minute, a quota, or both: each counts what language models used, by the answer. */
function tokenLimit(use: Use): Used[] | undefined {
  const key = use.text("counter-key")
  // Documents that tools have made have it in the singular.
  const estimate = ["estimate-prompt-tokens", "estimate-prompt-token"].find((name) => use.has(name))
  const estimatePrompt = estimate === undefined ? false : use.flag(estimate, false)
  if (key === undefined || estimatePrompt === undefined) return undefined
  if (!use.has("tokens-per-minute") && !use.has("token-quota"))
    return use.report(
      "SP7008",
      use.at,
      `\`${use.element.name}\` has neither \`tokens-per-minute\` nor \`token-quota\``,
      "Add one.",
    )
  const shared = {
    keys: [{ by: "text" as const, text: key }],
    increment: { tokens: { estimatePrompt } },
  }
  const steps = [
    use.has("token-quota") ? tokenQuota(use, shared) : [],
    use.has("tokens-per-minute") ? tokensPerMinute(use, shared) : [],
  ]
  return steps.includes(undefined) ? undefined : (steps as Used[][]).flat()
}

type Shared = Pick<RateLimit, "keys"> & { increment: { tokens: { estimatePrompt: Flag } } }

function tokensPerMinute(use: Use, shared: Shared): Used[] | undefined {
  const parts = {
    callsMax: use.count("tokens-per-minute", tokens),
    ...namesOf(use, [...limitNames, ...consumedNames]),
  }
  if (!complete(parts)) return undefined
  return use.step({ kind: "rate-limit", counter: "token-limit, 60s", periodSeconds: 60, ...shared, ...parts })
}

function tokenQuota(use: Use, shared: Shared): Used[] | undefined {
  if (!use.has("token-quota-period"))
    return use.report(
      "SP7008",
      use.at,
      "`token-quota` has no `token-quota-period`",
      'Add e.g. `token-quota-period="Daily"`.',
    )
  const period = use.choice(
    "token-quota-period",
    Object.keys(quotaPeriods) as (keyof typeof quotaPeriods)[],
    "Daily",
  )
  const names = use.has("tokens-per-minute") ? quotaNames : [...quotaNames, ...consumedNames]
  const parts = { callsMax: use.count("token-quota", tokens), ...namesOf(use, names) }
  if (!complete(parts) || period === undefined) return undefined
  if (period === "Monthly" || period === "Yearly")
    use.context.host.report.add(
      "SP7019",
      use.spanOf("token-quota-period"),
      `periods have one length: this one is ${quotaPeriods[period] / 86_400} days`,
      {},
    )
  const step: Quota = {
    kind: "quota",
    counter: `token-limit, quota, ${quotaPeriods[period]}s`,
    periodSeconds: quotaPeriods[period],
    ...shared,
    ...parts,
  }
  return use.step(step)
}

const limitAttributes: Readonly<Record<string, AttributeRow>> = {
  "counter-key": requiredDynamic,
  "tokens-per-minute": dynamic,
  "token-quota": dynamic,
  "token-quota-period": dynamic,
  "estimate-prompt-tokens": flag,
  "estimate-prompt-token": flag,
  ...Object.fromEntries([...limitNames, ...consumedNames, ...quotaNames].map(([name]) => [name, optional])),
}

const tokenLimitRow: PolicyRow = { sections: inboundOnly, attributes: limitAttributes, lower: tokenLimit }

const categoryNames = ["Hate", "SelfHarm", "Sexual", "Violence"] as const
/** The highest severity there is. */
const severities = { FourSeverityLevels: 6, EightSeverityLevels: 7 } as const

function contentSafety(use: Use): Used[] | undefined {
  const id = use.constant("backend-id")
  const backend = id === undefined ? undefined : use.context.host.backend(id, use.spanOf("backend-id"))
  const categoriesUse = use.child("categories")
  const output = categoriesUse?.choice(
    "output-type",
    ["FourSeverityLevels", "EightSeverityLevels"],
    "FourSeverityLevels",
  )
  const parts = {
    backend,
    shieldPrompt: use.flag("shield-prompt", false),
    completions: use.flag("enforce-on-completions", false),
    levels:
      output === undefined ? (categoriesUse === undefined ? ("four" as const) : undefined) : levelsOf(output),
    categories: categoriesOf(categoriesUse, output ?? "FourSeverityLevels"),
    blocklists: use.child("blocklists")?.texts("id") ?? [],
  }
  if (!complete(parts)) return undefined
  // An element that says nothing is not meant to do nothing.
  if (parts.categories.length + parts.blocklists.length === 0 && parts.shieldPrompt === false)
    return use.step({
      kind: "content-safety",
      ...parts,
      categories: categoryNames.map((name) => ({ name, threshold: 4 })),
    })
  return use.step({ kind: "content-safety", ...parts })
}

function levelsOf(output: keyof typeof severities): ContentSafety["levels"] {
  return output === "EightSeverityLevels" ? "eight" : "four"
}

function categoriesOf(
  use: Use | undefined,
  output: keyof typeof severities,
): ContentSafety["categories"] | undefined {
  const categories = (use?.children("category") ?? []).map((each) => {
    const name = each.choice("name", categoryNames, "Hate")
    const threshold = each.count("threshold", { min: 0, max: severities[output] })
    return name === undefined || threshold === undefined ? undefined : { name, threshold }
  })
  return categories.includes(undefined) ? undefined : (categories as ContentSafety["categories"])
}

const category: ChildRow = { many: true, attributes: { name: required, threshold: requiredDynamic } }

export const models: ElementTable = {
  "llm-token-limit": tokenLimitRow,
  "azure-openai-token-limit": tokenLimitRow,
  "llm-content-safety": {
    sections: inboundOnly,
    attributes: {
      "backend-id": required,
      "shield-prompt": flag,
      "enforce-on-completions": flag,
      "window-size": optional,
      "window-overlap-size": optional,
    },
    children: {
      categories: { attributes: { "output-type": optional }, children: { category } },
      blocklists: { children: { id: values } },
    },
    lower: contentSafety,
  },
}
