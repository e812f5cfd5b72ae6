import { mediaRange } from "../../../runtime/plan/http-syntax.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { shown } from "../../core/shown.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import { describedContents } from "../../openapi/schema-overrides.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { messageOf } from "./message.ts"
import { complete, type ElementTable, fixedFlags, given, optional, required, requiredDynamic } from "./row.ts"
import { actionOf, actions, errors, errorsOf, requiredAction } from "./validation.ts"

type Plan = StepOf<"validate-content">
type Content = Plan["types"][number]
type MediaMap = NonNullable<Plan["mediaMap"]>

/** A media type or range, in lower case. Undefined when the attribute has none (reported). */
function mediaOf(use: Use, name: string): string | undefined {
  const media = use.constant(name)?.trim().toLowerCase()
  // The reader of plans has the same rule. Checked here, because here it has a place.
  if (media === undefined || mediaRange.safeParse(media).success) return media
  return use.report(
    "SP7009",
    use.spanOf(name),
    `\`${shown(media)}\` is not a media type`,
    "Write e.g. `application/json`.",
  )
}

/** The attributes of the element that override the schema. */
function overridesOf(use: Use): SchemaOverrides | undefined {
  const name = "allow-additional-properties"
  const additional = use.has(name) ? use.fixedFlag(name) : null
  const anyCase = use.fixedFlag("case-insensitive-property-names")
  // Absent means "as the schema says", which is neither true nor false.
  if (additional === undefined || anyCase === undefined) return undefined
  return { ...given("additional", additional ?? undefined), ...(anyCase ? { anyCase } : {}) }
}

/** Uses the named schema, otherwise the schemas of the operation's OpenAPI document. */
function contentsOf(use: Use): readonly Content[] | undefined {
  const as = use.choice("validate-as", ["json", "xml", "soap"])
  const overrides = overridesOf(use)
  // An empty `type` means every type, as if it were absent.
  const media = use.has("type") && use.constant("type") !== "" ? mediaOf(use, "type") : "*"
  const parts = { as, media, overrides, action: actionOf(use, "action") }
  if (!complete(parts) || !schemaFits(use, parts.as)) return undefined
  const { action } = parts
  if (parts.as !== "json") return formOf(use, { ...parts, as: parts.as })
  const message = messageOf(use.context.section)
  if (use.has("schema-id")) {
    const [id, ref] = [use.constant("schema-id"), use.has("schema-ref") ? use.constant("schema-ref") : null]
    if (id === undefined || ref === undefined) return undefined
    const named = { id, ref: ref ?? undefined, refAt: ref === null ? undefined : use.spanOf("schema-ref") }
    const at = use.spanOf("schema-id")
    const schema = use.context.host.schema(named, message, parts.overrides, at)
    if (schema === undefined) return undefined
    return [{ media: parts.media, as: "json", schema, ...anyCaseOf(parts.overrides), action }]
  }
  return contentsOfType(use, parts)
}

function anyCaseOf({ anyCase }: SchemaOverrides): { anyCase?: true } {
  return anyCase === true ? { anyCase } : {}
}

/** Whether the element uses no unsupported schema feature: XML schemas are not supported. */
function schemaFits(use: Use, as: string): boolean {
  const name = [
    "schema-id",
    "schema-ref",
    "allow-additional-properties",
    "case-insensitive-property-names",
  ].find((each) => use.has(each))
  if (as !== "json" && name !== undefined) {
    use.report(
      "SP7011",
      use.spanOf(name),
      "XML schemas are not supported: XML and SOAP are only checked to be well-formed",
      `Remove \`${name}\`.`,
    )
    return false
  }
  if (!use.has("schema-ref") || use.has("schema-id")) return true
  use.report("SP7008", use.spanOf("schema-ref"), "`schema-ref` needs `schema-id`", "Add `schema-id`.")
  return false
}

/** XML and SOAP. Without a media type the rule applies to the types that the document describes as XML. */
function formOf(use: Use, { as, media, action }: Pick<Content, "as" | "media" | "action">): Content[] {
  const known = use.context.place.described?.contents(messageOf(use.context.section)) ?? []
  if (action !== "ignore")
    // A finding, because the document promises more than happens.
    use.context.host.report.add("SP7019", use.at, "XML and SOAP are only checked to be well-formed", {
      help: "Check the content in the backend.",
    })
  const described = known.filter((each) => each.as === "xml")
  if (media !== "*" || described.length === 0) return [{ media, as, action }]
  return described.map((each) => ({ ...each, as, action }))
}

/** Without `type`: every media type that the document describes. When it describes none: any media type. */
function contentsOfType(
  use: Use,
  { media, action, overrides }: { media: string; action: Content["action"]; overrides: SchemaOverrides },
): readonly Content[] {
  const { place, section, host } = use.context
  const known = (place.described?.contents(messageOf(section), overrides) ?? []).filter(
    ({ as }) => as !== "xml",
  )
  const own = { media, as: "json" as const, action }
  if (known.length === 0 && (overrides.additional !== undefined || overrides.anyCase === true))
    host.unjudged(use.at)
  if (media === "*" && known.length > 0) return known.map((each) => ({ ...each, action }))
  const { contents, isDescribed } = describedContents(known, own, messageOf(section))
  if (!isDescribed && action !== "ignore")
    host.report.add(
      "SP7019",
      use.at,
      "without `schema-id` and without an OpenAPI document, the body is only checked to be well-formed",
      { help: 'Add the document to the API: `openapi "FILE"`.' },
    )
  return contents
}

/** A rule of the content type map: a type, or a condition. */
function mapRule(use: Use): MediaMap["rules"][number] | undefined {
  const to = mediaOf(use, "to")
  // Both or neither: which of the two counts would be a guess.
  if (use.has("from") === use.has("when"))
    return use.report(
      "SP7008",
      use.at,
      "`type` has either `from` or `when`",
      'Write `from="TYPE"`, or `when="@(…)"`.',
    )
  if (use.has("when")) {
    const parts = { when: use.condition("when"), to }
    return complete(parts) ? parts : undefined
  }
  const parts = { from: mediaOf(use, "from"), to }
  return complete(parts) ? parts : undefined
}

/** The content type map. Null when the policy has none. */
function mapOf(map: Use | undefined): MediaMap | null | undefined {
  if (map === undefined) return null
  const rules = map.children("type").map(mapRule)
  const said = (name: string): string | null | undefined =>
    map.has(name) && map.constant(name) !== "" ? mediaOf(map, name) : null
  const parts = { missing: said("missing-content-type-value"), any: said("any-content-type-value") }
  if (!complete(parts) || rules.includes(undefined)) return undefined
  // An empty map replaces nothing, so the step has none.
  if (rules.length === 0 && parts.missing === null && parts.any === null) return null
  return {
    rules: rules as MediaMap["rules"],
    ...given("missing", parts.missing ?? undefined),
    ...given("any", parts.any ?? undefined),
  }
}

function validateContent(use: Use): Used[] | undefined {
  const types = use.children("content").map(contentsOf)
  const parts = {
    bytesMax: use.count("max-size"),
    onSize: use.anyChoice("size-exceeded-action", actions),
    onUnspecified: use.anyChoice("unspecified-content-type-action", actions),
    map: mapOf(use.child("content-type-map")),
  }
  // One rule with a mistake leaves the step out: without it, other bodies would pass.
  if (!complete(parts) || types.includes(undefined)) return undefined
  const { map, ...rest } = parts
  return use.step({
    kind: "validate-content",
    message: messageOf(use.context.section),
    ...rest,
    ...given("mediaMap", map ?? undefined),
    types: (types as (readonly Content[])[]).flat(),
    ...errorsOf(use),
  })
}

const foundAction = { ...requiredAction, dynamic: true as const }

export const contentValidation: ElementTable = {
  "validate-content": {
    about: "Checks the body by its size, media type and schema.",
    sections: ["inbound", "outbound", "on-error"],
    attributes: {
      "unspecified-content-type-action": foundAction,
      "max-size": { ...requiredDynamic, whole: { min: 1, max: 1_073_741_824 } },
      "size-exceeded-action": foundAction,
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
          "allow-additional-properties": { flag: true },
          "case-insensitive-property-names": fixedFlags.off,
        },
      },
    },
    lower: validateContent,
  },
}
