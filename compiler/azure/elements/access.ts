import { isIP } from "../../../runtime/plan/ip-text.ts"
import type { LimitKey } from "../../../runtime/plan/step-values.ts"
import type { Expression } from "../../../runtime/plan/text.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { AttributeRow, ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { clientCertificateRow } from "./client-certificate.ts"
import { corsRow, crossDomainRow } from "./cors.ts"
import { headerName } from "./message.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  errorStatuses,
  flags,
  given,
  inboundOnly,
  optional,
  required,
  requiredDynamic,
  seconds,
  secondsFromOne,
  values,
} from "./row.ts"

function checkHeader(use: Use): Used[] | undefined {
  const parts = {
    name: headerName(use, "name"),
    values: use.texts("value"),
    ignoreCase: use.flag("ignore-case"),
    status: use.count("failed-check-httpcode"),
    ...(use.has("failed-check-error-message") ? { message: use.text("failed-check-error-message") } : {}),
  }
  return complete(parts) ? use.step({ kind: "check-header", ...parts }) : undefined
}

/** An IP address; ranges have no names of hosts. */
function addressOf(use: Use, text: string | undefined): string | undefined {
  const address = text?.trim()
  if (address === undefined || isIP(address) !== 0) return address
  return use.report(
    "SP7009",
    use.at,
    `\`${shown(address)}\` is not an IP address`,
    "Write e.g. `10.0.0.7`; a network is `<address>10.0.0.0/8</address>`.",
  )
}

/** An address, or a network in CIDR notation. */
function networkOf(use: Use): string | undefined {
  const value = use.content()
  const text = value === undefined ? "" : use.constantOf(value, "an address")?.trim()
  if (text === undefined) return undefined
  const [, host = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(host)
  const most = family === 4 ? 32 : 128
  // An address without prefix is a network of one.
  if (family !== 0 && (bits === undefined || Number(bits) <= most)) return `${host}/${bits ?? most}`
  return addressOf(use, text)
}

/** `ip-filter`. One without addresses would let everybody in or nobody. */
function ipFilter(use: Use): Used[] | undefined {
  const action = use.choice("action", ["allow", "forbid"])
  const networks = use.children("address").map(networkOf)
  const ranges = use.children("address-range").map((each) => {
    const range = { from: addressOf(each, each.constant("from")), to: addressOf(each, each.constant("to")) }
    return complete(range) ? range : undefined
  })
  if (action === undefined || networks.includes(undefined) || ranges.includes(undefined)) return undefined
  if (networks.length + ranges.length === 0)
    return use.report(
      "SP7008",
      use.at,
      "`ip-filter` has no address",
      'Add `<address>…</address>` or `<address-range from="…" to="…" />`.',
    )
  return use.step({
    kind: "ip-filter",
    action: action === "allow" ? "allow" : "deny",
    networks: networks as string[],
    ranges: ranges as { from: string; to: string }[],
  })
}

const signAttributes: Readonly<Record<string, AttributeRow>> = {
  "retry-after-header-name": optional,
  "retry-after-variable-name": optional,
  "remaining-calls-header-name": optional,
  "remaining-calls-variable-name": optional,
  "total-calls-header-name": optional,
  "total-calls-variable-name": optional,
}

/** Headers and variables in which a limit reports its state. */
function signsOf(use: Use): Record<string, string | undefined> {
  const signs: Record<string, string | undefined> = {}
  const add = (attribute: string, field: string, header: boolean): void => {
    if (use.has(attribute)) signs[field] = header ? headerName(use, attribute) : use.constant(attribute)
  }
  add("retry-after-header-name", "retryAfterHeader", true)
  add("retry-after-variable-name", "retryAfterVariable", false)
  add("remaining-calls-header-name", "remainingHeader", true)
  add("remaining-calls-variable-name", "remainingVariable", false)
  add("total-calls-header-name", "totalHeader", true)
  add("total-calls-variable-name", "totalVariable", false)
  return signs
}

/** The same bounds as for `limit` of gateway.conf. */
const calls: AttributeRow = { whole: { min: 1, max: 1_000_000_000 } }
const period: AttributeRow = { whole: secondsFromOne }
const longPeriod: AttributeRow = { whole: seconds }
const bandwidth: AttributeRow = { whole: { min: 1, max: 8_000_000_000 } }

/** A caller without a subscription is identified by IP address. */
const callerKeys: LimitKey[] = [{ by: "subscription" }, { by: "ip" }]

/** The limit itself, and one more for each child that names this API or operation. */
function rateLimit(use: Use): Used[] | undefined {
  const { scope } = use.context.place
  const signs = signsOf(use)
  const limit = (each: Use, what: string): Used[] | undefined => {
    const parts = {
      callsMax: each.number("calls"),
      periodSeconds: each.number("renewal-period"),
      ...signs,
    }
    if (!complete(parts)) return undefined
    return each.step({
      kind: "rate-limit",
      // The scope is in the name: the same policy in two documents counts separately, as in APIM.
      counter: `${scope.slice(0, 400)}: rate-limit${what}, ${parts.periodSeconds}s`,
      keys: callerKeys,
      ...parts,
    })
  }
  const lists = [limit(use, ""), ...scopedLimits(use, limit)]
  // One limit with a mistake leaves all of them out: the others alone would be another rule.
  return lists.includes(undefined) ? undefined : (lists as Used[][]).flat()
}

function condition(use: Use): { countIf: Expression | undefined } | Record<never, never> {
  return use.has("increment-condition") ? { countIf: use.condition("increment-condition") } : {}
}

function increment(use: Use): Record<string, ReturnType<Use["count"]>> {
  return use.has("increment-count") ? { increment: use.count("increment-count") } : {}
}

/**
 * `rate-limit-by-key`. The counter does not contain the key's expression: policies with one key in several documents count together, as
 * published.
 */
function rateLimitByKey(use: Use): Used[] | undefined {
  const text = use.text("counter-key")
  const signs = signsOf(use)
  const parts = {
    callsMax: use.count("calls"),
    periodSeconds: use.count("renewal-period"),
    ...condition(use),
    ...increment(use),
    ...signs,
  }
  if (!complete(parts) || text === undefined) return undefined
  // A computed period cannot be part of the counter's name.
  const length = typeof parts.periodSeconds === "number" ? `${parts.periodSeconds}s` : "dynamic"
  return use.step({
    kind: "rate-limit",
    counter: `rate-limit-by-key, ${length}`,
    keys: [{ by: "text", text }],
    ...parts,
  })
}

/** Converts the kilobytes of the document to bytes. */
function volumeOf(use: Use): { callsMax?: number; bytesMax?: number } | undefined {
  const callsMax = use.has("calls") ? use.number("calls") : null
  const kilobytes = use.has("bandwidth") ? use.number("bandwidth") : null
  if (callsMax === undefined || kilobytes === undefined) return undefined
  if (callsMax === null && kilobytes === null)
    return use.report(
      "SP7008",
      use.at,
      `\`${use.element.name}\` has neither \`calls\` nor \`bandwidth\``,
      "Add one.",
    )
  return {
    ...(callsMax === null ? {} : { callsMax }),
    // Kilobytes of APIM are 1024 bytes.
    ...(kilobytes === null ? {} : { bytesMax: kilobytes * 1024 }),
  }
}

/** `quota` for the product or API of the document, with separate ones for its APIs and operations. */
function quota(use: Use): Used[] | undefined {
  const { scope } = use.context.place
  const one = (each: Use, what: string): Used[] | undefined => {
    const volume = volumeOf(each)
    // A child without its own period has the one of the policy.
    const periodSeconds = (each.has("renewal-period") ? each : use).number("renewal-period")
    if (volume === undefined || periodSeconds === undefined) return undefined
    return each.step({
      kind: "quota",
      counter: `${scope.slice(0, 400)}: quota${what}, ${periodSeconds}s`,
      ...volume,
      periodSeconds,
      keys: callerKeys,
    })
  }
  const lists = [one(use, ""), ...scopedLimits(use, one)]
  return lists.includes(undefined) ? undefined : (lists as Used[][]).flat()
}

/** `quota-by-key`. `first-period-start` fixes the beginning of the periods. */
function quotaByKey(use: Use): Used[] | undefined {
  const volume = volumeOf(use)
  const parts = {
    text: use.text("counter-key"),
    periodSeconds: use.number("renewal-period"),
    ...condition(use),
    ...increment(use),
  }
  const startsAt = use.has("first-period-start") ? startOf(use) : null
  if (!complete(parts) || volume === undefined || startsAt === undefined) return undefined
  const { text, ...rest } = parts
  return use.step({
    kind: "quota",
    counter: `quota-by-key, ${rest.periodSeconds}s`,
    ...volume,
    ...rest,
    keys: [{ by: "text", text }],
    ...given("startsAt", startsAt ?? undefined),
  })
}

/** Null for the default, which documents write as a date in the year 1. */
function startOf(use: Use): string | null | undefined {
  const text = use.constant("first-period-start")
  // APIM writes `0001-01-01T00:00:00Z`, the zero of .NET's `DateTime`, for "not set".
  if (text === undefined || text.startsWith("0001-01-01")) return text === undefined ? undefined : null
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  return use.report(
    "SP7009",
    use.spanOf("first-period-start"),
    `\`${shown(text)}\` is not a time`,
    "Write e.g. `2026-01-01T00:00:00Z`.",
  )
}

const limited: Readonly<Record<string, AttributeRow>> = {
  id: optional,
  name: optional,
  calls: { ...required, ...calls },
  "renewal-period": { ...required, ...period },
}
const metered: Readonly<Record<string, AttributeRow>> = {
  id: optional,
  name: optional,
  calls,
  bandwidth,
  "renewal-period": longPeriod,
}
const apis = (attributes: Readonly<Record<string, AttributeRow>>): Readonly<Record<string, ChildRow>> => ({
  api: { many: true, attributes, children: { operation: { many: true, attributes } } },
})

export const access: ElementTable = {
  "check-header": {
    about: "Answers with the given status if a header is missing or has none of the values.",
    sections: ["inbound", "outbound"],
    attributes: {
      name: required,
      "failed-check-httpcode": { ...requiredDynamic, whole: errorStatuses },
      "failed-check-error-message": dynamic,
      "ignore-case": flags.off,
    },
    children: { value: values },
    lower: checkHeader,
  },
  "ip-filter": {
    about: "Lets requests of the listed addresses and networks through, or refuses them.",
    sections: inboundOnly,
    attributes: { action: { required: true, values: ["allow", "forbid"] } },
    children: {
      address: { many: true, text: "literal" },
      "address-range": { many: true, attributes: { from: required, to: required } },
    },
    lower: ipFilter,
  },
  "validate-client-certificate": clientCertificateRow,
  cors: corsRow,
  "cross-domain": crossDomainRow,
  "rate-limit": {
    about:
      "Limits the calls of each subscription in a period, or of each IP address without one; answers 429.",
    sections: inboundOnly,
    attributes: {
      calls: { ...required, ...calls },
      "renewal-period": { ...required, ...period },
      ...signAttributes,
    },
    children: apis(limited),
    lower: rateLimit,
  },
  "rate-limit-by-key": {
    about: "Limits the calls with the same key in a period; answers 429.",
    sections: inboundOnly,
    attributes: {
      calls: { ...requiredDynamic, ...calls },
      "renewal-period": { ...requiredDynamic, ...period },
      "counter-key": requiredDynamic,
      "increment-condition": dynamic,
      "increment-count": { ...dynamic, ...calls },
      ...signAttributes,
    },
    lower: rateLimitByKey,
  },
  quota: {
    about: "Limits calls or bytes of each subscription over a long period; answers 403.",
    sections: inboundOnly,
    attributes: { calls, bandwidth, "renewal-period": { ...required, ...longPeriod } },
    children: apis(metered),
    lower: quota,
  },
  "quota-by-key": {
    about: "Limits calls or bytes with the same key over a long period; answers 403.",
    sections: inboundOnly,
    attributes: {
      calls,
      bandwidth,
      "renewal-period": { ...required, ...longPeriod },
      "counter-key": requiredDynamic,
      "increment-condition": dynamic,
      "increment-count": { ...dynamic, ...calls },
      "first-period-start": optional,
    },
    lower: quotaByKey,
  },
}

/** Limits of child elements for this API or this operation. ` of orders` names them in counters. Limits for other APIs and operations are skipped. */
function scopedLimits(
  use: Use,
  limit: (use: Use, what: string) => Used[] | undefined,
): (Used[] | undefined)[] {
  const { api, operation } = use.context.place
  return use.children("api").flatMap((each) => {
    const name = nameOf(each)
    if (name === undefined) return [undefined]
    // A document of one product may list limits for several APIs; each API takes its own.
    if (name !== api) {
      warnOfUnknown(each, name)
      return []
    }
    const operations = each.children("operation").flatMap((child) => {
      const called = nameOf(child)
      if (called === undefined) return [undefined]
      // Portals name operations by an id that gateway.conf does not have.
      if (!/^[A-Z]+ \//.test(called))
        return [
          child.report(
            "SP7011",
            child.at,
            `unknown operation \`${shown(called)}\``,
            `Name it by method and path, e.g. \`${operation}\`, or write the limit into the document of the operation.`,
          ),
        ]
      return called === operation ? [limit(child, ` of ${api} ${operation}`)] : []
    })
    return [limit(each, ` of ${api}`), ...operations]
  })
}

/** Warns about a limit for an unknown API. Names are those of gateway.conf, not the display names of portals. */
function warnOfUnknown(use: Use, name: string): void {
  const { report } = use.context.host
  const apis = use.context.host.apis()
  // Undefined: gateway.conf is damaged, and the API may be declared there.
  if (apis === undefined || apis.includes(name)) return
  report.add(
    "SP7019",
    use.spanOf(use.has("id") ? "id" : "name"),
    `this limit has no effect: unknown API \`${shown(name)}\`${didYouMean(name, apis)}`,
    { help: "Use the name of the API in gateway.conf." },
  )
}

/** `id` takes precedence over `name`. */
function nameOf(use: Use): string | undefined {
  if (use.has("id") || use.has("name")) return use.constant(use.has("id") ? "id" : "name")
  return use.report("SP7008", use.at, `\`${use.element.name}\` has neither \`id\` nor \`name\``, "Add one.")
}
