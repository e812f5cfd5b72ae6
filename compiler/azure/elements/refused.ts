/** A known but unsupported policy: the reason, and the alternative. */
interface Refusal {
  readonly why: string
  readonly instead: string
}

/** Policies that exist and cannot be compiled: why, and what to write instead. */
export const refused: Readonly<Record<string, Refusal>> = {
  proxy: {
    why: "an outgoing proxy is not supported: requests use the network of the machine",
    instead: "Remove it.",
  },
  "publish-event": { why: "GraphQL subscriptions are not supported", instead: "Remove it." },
  "publish-to-dapr": {
    why: "Dapr is not supported",
    instead: "Write `send-one-way-request` to Dapr's HTTP address.",
  },
  "invoke-dapr-binding": {
    why: "Dapr is not supported",
    instead: "Write `send-request` to Dapr's HTTP address.",
  },
  "xsl-transform": {
    why: "XSLT is not supported",
    instead:
      "Write `set-body` with an expression over `context.Request.Body.As<XElement>()`, or `xml-to-json` and a Liquid template.",
  },
  "validate-graphql-request": {
    why: "documents cannot judge GraphQL queries",
    instead: "Remove it, and write `validate graphql { depth 8 }` into `inbound` of the API in gateway.conf.",
  },
  "validate-odata-request": { why: "OData is not inspected", instead: "Remove it." },
  "sql-data-source": {
    why: "queries to databases are not supported",
    instead: "Forward the request to a backend that queries the database.",
  },
  "cosmosdb-data-source": {
    why: "queries to databases are not supported",
    instead: "Write `send-request` to the database's HTTP address.",
  },
  "http-data-source": { why: "GraphQL queries are not inspected", instead: "Write `send-request`." },
  "set-graphql-request": { why: "GraphQL queries are not inspected", instead: "Remove it." },
}

/** Why a policy is unsupported. Undefined for an unknown policy. */
export function refusalOf(name: string): Refusal | undefined {
  return refused[name]
}

/** Known but unsupported attributes, by element and prefix of the name. */
const refusedAttributes: readonly (Refusal & { readonly of: string; readonly begins: string })[] = [
  {
    of: "set-backend-service",
    begins: "dapr-",
    why: "Dapr is not supported",
    instead: "Write `base-url` with Dapr's HTTP address, `http://HOST:3500/v1.0/invoke/APP/method`.",
  },
  {
    of: "set-backend-service",
    begins: "sf-",
    why: "Service Fabric is not supported",
    instead: "Write `backend-id`, and the service's addresses as targets of that `backend` in gateway.conf.",
  },
]

/** Why an attribute is unsupported. Undefined for an unknown attribute. */
export function refusalOfAttribute(element: string, name: string): Refusal | undefined {
  return refusedAttributes.find(({ of, begins }) => of === element && name.startsWith(begins))
}

/** Wrong policy names in published documents that are too different from the right name for a spelling suggestion. */
const misnamed: Readonly<Record<string, string>> = {
  "validate-header": "check-header",
  "cross-origin-resource-sharing": "cors",
}

/** The right name of a policy for a wrong one. Undefined when no correction is known. */
export function rightName(name: string): string | undefined {
  return Object.hasOwn(misnamed, name) ? misnamed[name] : undefined
}

/** Attributes that belong to a similar policy. Key: element and attribute; value: the policy that has the attribute. */
const attributesOfOthers: Readonly<Record<string, string>> = {
  "rate-limit counter-key": "rate-limit-by-key",
  "rate-limit increment-condition": "rate-limit-by-key",
  "quota counter-key": "quota-by-key",
  "quota increment-condition": "quota-by-key",
}

/** The easily confused policy that has this attribute. */
export function elementWith(element: string, attribute: string): string | undefined {
  const key = `${element} ${attribute}`
  return Object.hasOwn(attributesOfOthers, key) ? attributesOfOthers[key] : undefined
}
