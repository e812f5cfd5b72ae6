import type { Step } from "../../../runtime/plan/steps.ts"
import { shown } from "../../core/shown.ts"
import type { AttributeRow, ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { headerName, messageOf } from "./message.ts"
import { complete, given, inboundOnly, optional, type PolicyTable, required } from "./row.ts"

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>
type Action = "ignore" | "detect" | "prevent"

const actions: readonly Action[] = ["ignore", "detect", "prevent"]
const action: AttributeRow = { values: actions }
const requiredAction: AttributeRow = { required: true, values: actions }
const errors: Readonly<Record<string, AttributeRow>> = {
  "errors-variable-name": optional,
  "error-variable-name": optional,
}

const actionOf = (use: Use, name: string): Action | undefined => use.choice(name, actions, "prevent")

/** Both spellings of the attribute are in use. */
function errorsOf(use: Use): { errors?: string } {
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

type Content = StepOf<"validate-content">["types"][number]

/** A schema that is named counts, else those of the operation's OpenAPI document. */
function contentsOf(use: Use): readonly Content[] | undefined {
  const content = contentOf(use)
  if (content === undefined || content.as !== "json" || content.schema !== undefined)
    return content === undefined ? undefined : [content]
  const { media, action } = content
  const known = use.context.place.described?.contents(messageOf(use.context.section)) ?? []
  const described = known.filter(
    ({ as, schema, media: own }) =>
      as === "json" && schema !== undefined && (media === "*" || essenceOf(own) === essenceOf(media)),
  )
  if (described.length === 0 && action !== "ignore")
    use.context.surroundings.report.add(
      "SP7019",
      use.at,
      "without `schema-id`, and without an OpenAPI document of the operation, only the form is judged here",
      { help: 'Name the document in the API: `openapi "FILE"`.' },
    )
  return [...described.map((each) => ({ ...each, action })), content]
}

function essenceOf(media: string): string {
  return (media.split(";", 1)[0] ?? "").trim()
}

function contentOf(use: Use): Content | undefined {
  const as = use.choice("validate-as", ["json", "xml", "soap"], "json")
  const id = use.has("schema-id") ? use.constant("schema-id") : null
  const schema = typeof id === "string" ? use.context.surroundings.schema(id, use.spanOf("schema-id")) : null
  const parts = { media: use.has("type") ? use.constant("type") : "*", action: actionOf(use, "action") }
  if (!complete(parts) || as === undefined || id === undefined || schema === undefined) return undefined
  if (as === "soap" || use.has("schema-ref"))
    return use.report(
      "SP7011",
      use.at,
      "schemas of SOAP and of WSDL are not known",
      'Write `validate-as="xml"`, or remove the element.',
    )
  // What a schema says of its properties counts; `false` is what holds anyway.
  const other = ["allow-additional-properties", "case-insensitive-property-names"].find(
    (name) => use.has(name) && (name.startsWith("allow") || use.fixedFlag(name, false) !== false),
  )
  if (other !== undefined)
    return use.report(
      "SP7011",
      use.spanOf(other),
      `\`${other}\` can't change what a schema says`,
      "Write it into the schema, `additionalProperties` and the names of properties as they are sent; and remove the attribute.",
    )
  return {
    ...parts,
    media: parts.media.toLowerCase(),
    as,
    ...given("schema", schema ?? undefined),
  }
}

function validateContent(use: Use): Used[] | undefined {
  const map = use.child("content-type-map")
  if (map !== undefined)
    return use.report(
      "SP7011",
      map.at,
      "media types are not mapped to others",
      'Name each with `<content type="…" … />`.',
    )
  const types = use.children("content").map(contentsOf)
  const parts = {
    bytesMax: use.number("max-size", { min: 1, max: 1_073_741_824 }),
    onSize: actionOf(use, "size-exceeded-action"),
    onUnspecified: actionOf(use, "unspecified-content-type-action"),
  }
  if (!complete(parts) || types.includes(undefined)) return undefined
  return use.step({
    kind: "validate-content",
    message: messageOf(use.context.section),
    ...parts,
    types: (types as (readonly Content[])[]).flat(),
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
  "validate-content": {
    sections: ["inbound", "outbound", "on-error"],
    attributes: {
      "unspecified-content-type-action": requiredAction,
      "max-size": required,
      "size-exceeded-action": requiredAction,
      ...errors,
    },
    children: {
      "content-type-map": {
        attributes: { "any-content-type-value": optional, "missing-content-type-value": optional },
        children: {
          type: { many: true, attributes: { from: optional, to: required, when: { dynamic: true } } },
        },
      },
      content: {
        many: true,
        attributes: {
          type: optional,
          "validate-as": { required: true, values: ["json", "xml", "soap"] },
          action: requiredAction,
          "schema-id": optional,
          "schema-ref": optional,
          "allow-additional-properties": optional,
          "case-insensitive-property-names": optional,
        },
      },
    },
    lower: validateContent,
  },
}
