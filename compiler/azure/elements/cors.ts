import type { Text } from "../../../runtime/plan/text.ts"
import { isOriginPattern, registeredMethods } from "../../core/http-words.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { complete, fixedFlags, inboundOnly, optional, type PolicyRow, seconds, values } from "./row.ts"

/** The constant texts of a list. */
function constants(use: Use, holder: string, item: string): string[] | undefined {
  const found = (use.child(holder)?.children(item) ?? []).map((each) => {
    const value = each.content()
    return value === undefined ? "" : each.constantOf(value, `\`${item}\``)
  })
  return found.includes(undefined) ? undefined : (found as string[]).filter((each) => each !== "")
}

/** `cors`. With credentials browsers refuse `*`, so that combination is a finding. */
function cors(use: Use): Used[] | undefined {
  const methodsUse = use.child("allowed-methods")
  const methods = constants(use, "allowed-methods", "method")
  const parts = {
    origins: use.child("allowed-origins")?.texts("origin")?.map(withoutSlash),
    headers: constants(use, "allowed-headers", "header"),
    expose: constants(use, "expose-headers", "header"),
    credentials: use.fixedFlag("allow-credentials"),
    maxAgeSeconds: methodsUse?.has("preflight-result-max-age")
      ? methodsUse.number("preflight-result-max-age")
      : 0,
    terminateUnmatched: use.fixedFlag("terminate-unmatched-request"),
  }
  if (!complete(parts) || methods === undefined) return undefined
  warnOfCors(use, parts.origins, methods)
  if (parts.origins.length === 0)
    return use.report("SP7008", use.at, "`cors` has no origin", "Add `<origin>https://…</origin>`.")
  if (parts.credentials && parts.origins.includes("*"))
    return use.report(
      "SP7009",
      use.at,
      "with credentials the origins must be listed",
      'List the origins, or write `allow-credentials="false"`.',
    )
  return use.step({ kind: "cors", ...parts, methods: methods.length === 0 ? ["GET", "POST"] : methods })
}

/** Browsers send an origin without a final `/`. Azure API Management ignores it, and gateway.conf refuses it. */
function withoutSlash(origin: Text): Text {
  return typeof origin === "string" && isOriginPattern(origin) ? origin.replace(/\/$/, "") : origin
}

/** Warns about values that no browser sends, so that they never match. Azure API Management accepts such documents, so they compile. */
function warnOfCors(use: Use, origins: readonly Text[], methods: readonly string[]): void {
  const { report } = use.context.host
  const warn = (holder: string, index: number, detail: string): void => {
    const at = use.child(holder)?.children(holder.replace(/^allowed-(.*)s$/, "$1"))[index]?.at ?? use.at
    report.add("SP7019", at, detail, { help: "Correct it, or remove it: browsers send something else." })
  }
  for (const [index, origin] of origins.entries())
    if (typeof origin === "string" && !isOriginPattern(origin))
      warn("allowed-origins", index, `\`${shown(origin)}\` is not a valid origin, so it never matches`)
  for (const [index, method] of methods.entries())
    if (method !== "*" && !registeredMethods.includes(method))
      warn(
        "allowed-methods",
        index,
        `browsers never send the method \`${shown(method)}\`${didYouMean(method, registeredMethods)}`,
      )
}

export const corsRow: PolicyRow = {
  about: "Answers preflights of browsers, and allows requests from the listed origins.",
  sections: inboundOnly,
  attributes: { "allow-credentials": fixedFlags.off, "terminate-unmatched-request": fixedFlags.on },
  children: {
    "allowed-origins": { required: true, children: { origin: values } },
    "allowed-methods": {
      attributes: { "preflight-result-max-age": { whole: seconds } },
      children: { method: { many: true, text: "literal" } },
    },
    "allowed-headers": { children: { header: { many: true, text: "literal" } } },
    "expose-headers": { children: { header: { many: true, text: "literal" } } },
  },
  lower: cors,
}

const anything: ChildRow = {
  many: true,
  attributes: {
    domain: optional,
    headers: optional,
    secure: optional,
    "permitted-cross-domain-policies": optional,
  },
}

function crossDomain(use: Use): Used[] {
  use.context.host.report.add("SP7019", use.at, "no current browser supports the plug-ins that use it", {})
  return []
}

/** Browser plug-ins used to request this. It does not affect other requests, so it is checked but makes no step. */
export const crossDomainRow: PolicyRow = {
  about: "Was read by browser plug-ins. It makes no step, because no current browser requests it.",
  sections: inboundOnly,
  children: {
    "cross-domain-policy": {
      children: {
        "allow-access-from": anything,
        "allow-http-request-headers-from": anything,
        "site-control": anything,
      },
    },
  },
  lower: crossDomain,
}
