import type { Text } from "../../../runtime/plan/text.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  flags,
  inboundOnly,
  optional,
  type PolicyRow,
  required,
  requiredDynamic,
  seconds,
  values,
} from "./row.ts"

/** Joins texts, each quoted and escaped, so that values of different callers cannot be confused. */
function together(texts: readonly Text[]): Text {
  const parts = texts.flatMap((each) => {
    const own = typeof each === "string" ? [JSON.stringify(each).slice(1, -1)] : each.text
    const escaped = own.map((part) =>
      typeof part === "object" && "expression" in part ? { ...part, as: "json-string" as const } : part,
    )
    return ['"', ...escaped, '"']
  })
  return { text: parts }
}

/** The threshold is a distance from 0 to 1. */
function distanceOf(use: Use): number | undefined {
  const written = use.constant("score-threshold")?.trim()
  if (written === undefined) return undefined
  const distance = /^(?:0?\.\d{1,12}|[01](?:\.\d{1,12})?)$/.test(written) ? Number(written) : Number.NaN
  if (distance >= 0 && distance <= 1) return distance
  return use.report(
    "SP7009",
    use.spanOf("score-threshold"),
    "`score-threshold` is a number from 0 to 1",
    "Write e.g. `0.05`: the smaller, the more similar prompts must be.",
  )
}

function lookup(use: Use): Used[] | undefined {
  if (use.has("embeddings-backend-auth"))
    use.context.host.report.add(
      "SP7019",
      use.spanOf("embeddings-backend-auth"),
      "there is no managed identity: the credentials of the backend block are used",
      {
        help: "Remove the attribute, and add `authenticate` to the `backend` block in gateway.conf.",
      },
    )
  const id = use.constant("embeddings-backend-id")
  const parts = {
    backend: id === undefined ? undefined : use.context.host.backend(id, use.spanOf("embeddings-backend-id")),
    distance: distanceOf(use),
    ignoreSystem: use.fixedFlag("ignore-system-messages"),
    ...(use.has("max-message-count") ? { messagesMax: use.number("max-message-count") } : {}),
  }
  const vary = use.texts("vary-by")
  if (!complete(parts) || vary === undefined) return undefined
  return use.step({
    kind: "cache-lookup",
    varyHeaders: [],
    varyQuery: null,
    ...(vary.length === 0 ? {} : { key: together(vary) }),
    // `vary-by` separates the responses of callers, as in Azure.
    authorized: true,
    downstream: "none",
    mustRevalidate: false,
    like: parts,
  })
}

function store(use: Use): Used[] | undefined {
  const duration = use.count("duration")
  return duration === undefined ? undefined : use.step({ kind: "cache-store", seconds: duration })
}

const lookupRow: PolicyRow = {
  about: "Reads the semantic cache, which always misses here.",
  sections: inboundOnly,
  attributes: {
    "score-threshold": required,
    "embeddings-backend-id": required,
    "embeddings-backend-auth": optional,
    "ignore-system-messages": flags.off,
    "max-message-count": { ...dynamic, whole: { min: 1, max: 10_000 } },
    "cache-id": optional,
  },
  children: { "vary-by": values },
  lower: lookup,
}
const storeRow: PolicyRow = {
  about: "Stores in the semantic cache, which always misses here: it makes no step.",
  sections: ["outbound"],
  attributes: { duration: { ...requiredDynamic, whole: seconds } },
  lower: store,
}

/** Caches responses to similar prompts. */
export const semanticCache: ElementTable = {
  "llm-semantic-cache-lookup": lookupRow,
  "azure-openai-semantic-cache-lookup": lookupRow,
  "llm-semantic-cache-store": storeRow,
  "azure-openai-semantic-cache-store": storeRow,
}
