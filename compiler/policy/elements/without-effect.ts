import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf } from "../values.ts"
import {
  complete,
  dynamic,
  flag,
  inboundOnly,
  optional,
  type PolicyRow,
  type PolicyTable,
  requiredDynamic,
  values,
} from "./row.ts"

/** A cache may always miss: what is like an earlier prompt nobody here can tell. */
function semanticCache(use: Use): Used[] | undefined {
  const vary = use.texts("vary-by")
  const embeddings = use.has("embeddings-backend-id") ? use.value("embeddings-backend-id") : undefined
  const backendId = embeddings === undefined ? undefined : constantOf(embeddings)
  if (backendId !== undefined) use.context.surroundings.mention(backendId)
  const parts = { vary, duration: use.has("duration") ? use.seconds("duration") : 0 }
  if (!complete(parts)) return undefined
  use.context.surroundings.report.add(
    "SP7019",
    use.at,
    "nothing is found: there is no index of prompts that are alike",
    {
      help: "Remove it, or cache equal requests with `cache-lookup-value` and `cache-store-value` under a key made of the prompt.",
    },
  )
  return []
}

const semanticLookup: PolicyRow = {
  sections: inboundOnly,
  attributes: {
    "score-threshold": dynamic,
    "embeddings-backend-id": dynamic,
    "embeddings-backend-auth": optional,
    "ignore-system-messages": flag,
    "max-message-count": dynamic,
    "cache-id": optional,
  },
  children: { "vary-by": values },
  lower: semanticCache,
}
const semanticStore: PolicyRow = {
  sections: ["outbound"],
  attributes: { duration: requiredDynamic },
  lower: semanticCache,
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
  use.context.surroundings.report.add(
    "SP7019",
    use.at,
    "no browser has the plug-ins any more that ask for it",
    {},
  )
  return []
}

/** Policies whose exchange is the same without them: they are checked, and become no step. */
export const withoutEffect: PolicyTable = {
  "llm-semantic-cache-lookup": semanticLookup,
  "azure-openai-semantic-cache-lookup": semanticLookup,
  "llm-semantic-cache-store": semanticStore,
  "azure-openai-semantic-cache-store": semanticStore,
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
