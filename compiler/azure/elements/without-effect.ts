import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { type ElementTable, inboundOnly, optional } from "./row.ts"

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
  use.context.surroundings.report.add(
    "SP7019",
    use.at,
    "no browser has the plug-ins any more that ask for it",
    {},
  )
  return []
}

/** Policies whose exchange is the same without them: they are checked, and become no step. */
export const withoutEffect: ElementTable = {
  "cross-domain": {
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
  },
}
