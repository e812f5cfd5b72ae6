import type { Step } from "../../../runtime/plan/steps.ts"
import { shown } from "../../core/shown.ts"
import type { AttributeRow, ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { headerName } from "./message.ts"
import { complete, given, inboundOnly, optional, type PolicyTable, required } from "./row.ts"

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>
type Action = "ignore" | "detect" | "prevent"

/** What may be done about a violation. */
export const actions: readonly Action[] = ["ignore", "detect", "prevent"]
const action: AttributeRow = { values: actions }
/** An attribute that says what is done. */
export const requiredAction: AttributeRow = { required: true, values: actions }
/** Attributes that name the variable for what was found. */
export const errors: Readonly<Record<string, AttributeRow>> = {
  "errors-variable-name": optional,
  "error-variable-name": optional,
}

/** What an attribute says is done. */
export const actionOf = (use: Use, name: string): Action | undefined => use.choice(name, actions, "prevent")

/** Both spellings of the attribute are in use. */
export function errorsOf(use: Use): { errors?: string } {
  const name = ["errors-variable-name", "error-variable-name"].find((each) => use.has(each))
  return given("errors", name === undefined ? undefined : use.constant(name))
}

function validateStatus(use: Use): Used[] | undefined {
  const codes = use.children("status-code").map((each) => {
    const parts = { code: each.constant("code"), action: actionOf(each, "action") }
    if (!complete(parts)) return undefined
    if (/^[1-5][0-9]{2}$/.test(parts.code)) return parts
    return each.report(
      "SP7009",
      each.spanOf("code"),
      `\`${shown(parts.code)}\` is no status`,
      "Write e.g. `404`.",
    )
  })
  const unspecified = actionOf(use, "unspecified-status-code-action")
  if (codes.includes(undefined) || unspecified === undefined) return undefined
  return use.step({
    kind: "validate-status",
    codes: codes as StepOf<"validate-status">["codes"],
    unspecified,
    ...errorsOf(use),
  })
}

function validateHeaders(use: Use): Used[] | undefined {
  const headers = use.children("header").map((each) => {
    const parts = { name: headerName(each, "name"), action: actionOf(each, "action") }
    return complete(parts) ? { ...parts, required: false } : undefined
  })
  const unspecified = actionOf(use, "unspecified-header-action")
  const specified = actionOf(use, "specified-header-action")
  if (headers.includes(undefined) || unspecified === undefined || specified === undefined) return undefined
  return use.step({
    kind: "validate-headers",
    headers: headers as StepOf<"validate-headers">["headers"],
    unspecified,
    ...errorsOf(use),
  })
}

type Rule = StepOf<"validate-parameters">["parameters"][number]

/** Parameters that the document or the route names; what they must be is known only where an OpenAPI description says it. */
function validateParameters(use: Use): Used[] | undefined {
  const specified = actionOf(use, "specified-parameter-action")
  const unspecified = actionOf(use, "unspecified-parameter-action")
  const rules: (Rule | undefined)[] = []
  const add = (each: Use, place: Rule["in"]): void => {
    const parts = { name: each.constant("name"), action: actionOf(each, "action") }
    const style = place === "query" ? ("form" as const) : ("simple" as const)
    rules.push(
      complete(parts)
        ? { in: place, ...parts, required: false, style, explode: place === "query" }
        : undefined,
    )
  }
  for (const [holder, place] of [
    ["headers", "header"],
    ["query", "query"],
    ["path", "path"],
  ] as const)
    for (const each of use.child(holder)?.children("parameter") ?? []) add(each, place)
  const inside = (holder: string): Action | undefined => {
    const child = use.child(holder)
    return child?.has("unspecified-parameter-action")
      ? actionOf(child, "unspecified-parameter-action")
      : unspecified
  }
  const parts = { query: inside("query"), header: inside("headers") }
  if (specified === undefined || rules.includes(undefined) || !complete(parts)) return undefined
  return use.step({
    kind: "validate-parameters",
    parameters: rules as Rule[],
    unspecified: parts,
    ...errorsOf(use),
  })
}

const parameterList: ChildRow = {
  attributes: { "specified-parameter-action": action, "unspecified-parameter-action": action },
  children: { parameter: { many: true, attributes: { name: required, action: requiredAction } } },
}

export const validation: PolicyTable = {
  "validate-status-code": {
    sections: ["outbound", "on-error"],
    attributes: { "unspecified-status-code-action": requiredAction, ...errors },
    children: { "status-code": { many: true, attributes: { code: required, action: requiredAction } } },
    lower: validateStatus,
  },
  "validate-headers": {
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
