import type { Step } from "../../../runtime/plan/steps.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { AttributeRow, ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { headerName } from "./message.ts"
import { complete, type ElementTable, given, inboundOnly, optional, required } from "./row.ts"

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>
type Action = "ignore" | "detect" | "prevent"

/** Possible actions for a violation. */
export const actions: readonly Action[] = ["ignore", "detect", "prevent"]
const action: AttributeRow = { values: actions, byDefault: "prevent" }
/** A required attribute with an action. */
export const requiredAction: AttributeRow = { ...action, required: true }
/** Attributes that name the variable for the errors found. */
export const errors: Readonly<Record<string, AttributeRow>> = {
  "errors-variable-name": optional,
  "error-variable-name": optional,
}

/** The action of an attribute. */
export const actionOf = (use: Use, name: string): Action | undefined => use.choice(name, actions)

/** Both spellings of the attribute are in use. */
export function errorsOf(use: Use): { errors?: string } {
  const name = ["errors-variable-name", "error-variable-name"].find((each) => use.has(each))
  return given("errors", name === undefined ? undefined : use.constant(name))
}

/** Warns when no document describes the operation. `consequence` says what that means. */
function tellUndescribed(use: Use, consequence: string): void {
  const { place, host } = use.context
  if (place.described !== undefined) return
  host.report.add("SP7019", use.at, `no OpenAPI document describes this operation: ${consequence}`, {
    help: 'Add the document to the API: `openapi "FILE"`.',
  })
}

/** The action for one name. */
interface Override {
  readonly name: string
  readonly action: Action
}

/** Parts in the order of the document. Undefined when one is wrong (reported). */
function allOf<Part>(parts: readonly (Part | undefined)[]): Part[] | undefined {
  return parts.includes(undefined) ? undefined : (parts as Part[])
}

function validateStatus(use: Use): Used[] | undefined {
  const { described } = use.context.place
  const written = use.children("status-code").map((each) => {
    const parts = { code: each.constant("code"), action: actionOf(each, "action") }
    if (!complete(parts)) return undefined
    // A range (`4xx`) is not a code in this policy.
    if (/^[1-5][0-9]{2}$/.test(parts.code)) return parts
    return each.report(
      "SP7009",
      each.spanOf("code"),
      `\`${shown(parts.code)}\` is not a status`,
      "Write e.g. `404`.",
    )
  })
  const codes = allOf(written)
  const unspecified = actionOf(use, "unspecified-status-code-action")
  if (codes === undefined || unspecified === undefined) return undefined
  if (unspecified !== "ignore") tellUndescribed(use, "every status counts as unspecified")
  const statuses = described?.statuses ?? []
  // With `default`, no status is unspecified.
  if (statuses.includes("default")) return []
  const known = new Set(statuses)
  return use.step({
    kind: "validate-status",
    codes: [
      ...[...known].sort().map((code) => ({ code, action: "ignore" as const })),
      // An override of a status that the document describes has no effect, as in Azure API Management.
      ...codes.filter(({ code }) => !known.has(code) && !known.has(`${code[0]}xx`)),
    ],
    unspecified,
    ...errorsOf(use),
  })
}

/** `validate-headers`. An override applies to the header in every status. */
function validateHeaders(use: Use): Used[] | undefined {
  const written = use.children("header").map((each) => {
    const parts = { name: headerName(each, "name"), action: actionOf(each, "action") }
    return complete(parts) ? parts : undefined
  })
  const overrides = allOf(written)
  const unspecified = actionOf(use, "unspecified-header-action")
  const specified = actionOf(use, "specified-header-action")
  if (overrides === undefined || unspecified === undefined || specified === undefined) return undefined
  // Without a description, every header would be refused or logged, which surprises.
  if (unspecified !== "ignore") tellUndescribed(use, "every header counts as unspecified")
  const actions = new Map(overrides.map(({ name, action }) => [name, action]))
  const described = use.context.place.described?.headers().map(({ status, headers }) => ({
    status,
    headers: headers.map((rule) => ({ ...rule, action: actions.get(rule.name) ?? specified })),
  }))
  // Overrides that say what happens anyway are left out.
  const named = overrides.filter(({ action }) => action !== "ignore" && action !== unspecified)
  return use.step({
    kind: "validate-headers",
    headers: overrides.flatMap(({ name, action }) =>
      action === "ignore" ? [{ name, required: false, action }] : [],
    ),
    ...given("described", described),
    ...given("named", named.length === 0 ? undefined : named),
    unspecified,
    ...errorsOf(use),
  })
}

type Rule = StepOf<"validate-parameters">["parameters"][number]
type Place = "header" | "query" | "path"
const holders: readonly (readonly [string, Place])[] = [
  ["headers", "header"],
  ["query", "query"],
  ["path", "path"],
]

/** The actions for parameters in one place: specified ones, unspecified ones, and overrides by name. */
interface Judged {
  readonly specified: Action
  readonly unspecified: Action
  readonly overrides: readonly (Override & { readonly use: Use })[]
}

/** The actions of `headers`, `query` or `path`, with those of the policy itself as default. Undefined when one is wrong (reported). */
function judgedIn(use: Use, holder: string): Judged | undefined {
  const child = use.child(holder)
  // The child's attribute replaces that of the policy.
  const inside = (name: string): Action | undefined => actionOf(child?.has(name) ? child : use, name)
  const written = (child?.children("parameter") ?? []).map((each) => {
    const parts = { name: each.constant("name"), action: actionOf(each, "action") }
    return complete(parts) ? { ...parts, use: each } : undefined
  })
  const parts = {
    specified: inside("specified-parameter-action"),
    unspecified: inside("unspecified-parameter-action"),
    overrides: allOf(written),
  }
  return complete(parts) ? parts : undefined
}

/** Names are compared in any letter case, as in Azure API Management. */
function overrideOf({ overrides }: Judged, ...names: readonly string[]): Action | undefined {
  const wanted = names.map((name) => name.toLowerCase())
  return overrides.find(({ name }) => wanted.includes(name.toLowerCase()))?.action
}

/** Each parameter that the document describes, with its action. */
function specifiedRules(use: Use, judged: Readonly<Record<Place, Judged>>): Rule[] {
  const { described } = use.context.place
  return (described?.parameters() ?? []).map((rule) => {
    const of = judged[rule.in as Place]
    // A document may write the name of the OpenAPI document instead of the route's.
    const written = [...(described?.names ?? [])].flatMap(([name, route]) =>
      rule.in === "path" && route === rule.name ? [name] : [],
    )
    return { ...rule, action: overrideOf(of, rule.name, ...written) ?? of.specified }
  })
}

/** Overrides for parameters that the document does not describe. In the path they have no effect (reported); elsewhere they replace `unspecified`. */
function namedOthers(
  use: Use,
  judged: Readonly<Record<Place, Judged>>,
  rules: readonly Rule[],
): NonNullable<StepOf<"validate-parameters">["unspecified"]["named"]> {
  const { pathParameters, described } = use.context.place
  const inPath = [...pathParameters, ...(described?.names.keys() ?? [])]
  const has = (names: readonly string[], name: string): boolean =>
    names.some((each) => each.toLowerCase() === name.toLowerCase())
  for (const { name, use: each } of judged.path.overrides)
    if (!has(inPath, name))
      use.context.host.report.add(
        "SP7019",
        each.spanOf("name"),
        `the path has no parameter \`${shown(name)}\`${didYouMean(name, inPath)}`,
      )
  return (["query", "header"] as const).flatMap((place) => {
    const known = rules.flatMap((rule) => (rule.in === place ? [rule.name] : []))
    const { overrides, unspecified } = judged[place]
    return overrides.flatMap(({ name, action }) =>
      // Headers and query parameters are compared in lower case.
      has(known, name) || action === unspecified ? [] : [{ in: place, name: name.toLowerCase(), action }],
    )
  })
}

function validateParameters(use: Use): Used[] | undefined {
  const [header, query, path] = holders.map(([holder]) => judgedIn(use, holder))
  const judged = { header, query, path }
  if (!complete(judged)) return undefined
  const rules = specifiedRules(use, judged)
  const named = namedOthers(use, judged, rules)
  const unspecified = { query: judged.query.unspecified, header: judged.header.unspecified }
  const matters = [...Object.values(unspecified), ...Object.values(judged).map((each) => each.specified)]
  // Only if something is checked at all.
  if (matters.some((each) => each !== "ignore")) tellUnchecked(use)
  return use.step({
    kind: "validate-parameters",
    parameters: rules,
    unspecified: { ...unspecified, ...given("named", named.length === 0 ? undefined : named) },
    ...errorsOf(use),
  })
}

/** Says what is not checked, so that nobody relies on it. */
function tellUnchecked(use: Use): void {
  const { place, host } = use.context
  tellUndescribed(
    use,
    "parameters of the path are not checked, and every query parameter and header counts as unspecified",
  )
  for (const name of place.described?.cookies ?? [])
    host.report.add(
      "SP7019",
      use.at,
      `the cookie \`${shown(name)}\` is described, but \`validate-parameters\` does not check cookies`,
      { help: "Check it in gateway.conf: `validate request`." },
    )
}

const parameterList: ChildRow = {
  attributes: { "specified-parameter-action": action, "unspecified-parameter-action": action },
  children: { parameter: { many: true, attributes: { name: required, action: requiredAction } } },
}

export const validation: ElementTable = {
  "validate-status-code": {
    about: "Checks the status of the response by the OpenAPI document.",
    sections: ["outbound", "on-error"],
    attributes: { "unspecified-status-code-action": requiredAction, ...errors },
    children: { "status-code": { many: true, attributes: { code: required, action: requiredAction } } },
    lower: validateStatus,
  },
  "validate-headers": {
    about: "Checks the headers of the response by the OpenAPI document.",
    sections: ["outbound", "on-error"],
    attributes: {
      "specified-header-action": requiredAction,
      "unspecified-header-action": requiredAction,
      ...errors,
    },
    children: { header: { many: true, attributes: { name: required, action: requiredAction } } },
    lower: validateHeaders,
  },
  "validate-parameters": {
    about: "Checks the parameters of the request by the OpenAPI document.",
    sections: inboundOnly,
    attributes: {
      "specified-parameter-action": requiredAction,
      "unspecified-parameter-action": requiredAction,
      ...errors,
    },
    children: { headers: parameterList, query: parameterList, path: parameterList },
    lower: validateParameters,
  },
}
