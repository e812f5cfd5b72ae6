import type { DocumentObject, DocumentValue } from "../../api.ts"
import { objectOf, wordOf } from "../parts/document.ts"

/**
 * The document with tokens that people paste, in place of logins by OAuth 2.0 and OpenID Connect. Swagger UI would ask the identity provider, which
 * the policy of the portal forbids, and which knows no address of this page to come back to.
 */
export function withPastedTokens(document: DocumentObject): DocumentObject {
  const components = objectOf(document["components"])
  const schemes = Object.entries(objectOf(components["securitySchemes"])).map(([name, scheme]) => [
    name,
    pasted(objectOf(scheme)),
  ])
  return { ...document, components: { ...components, securitySchemes: Object.fromEntries(schemes) } }
}

function pasted(scheme: DocumentObject): DocumentObject {
  const source = sourceOf(scheme)
  if (source === undefined) return scheme
  const description = [wordOf(scheme["description"]), source]
    .filter((each) => each !== undefined)
    .join("\n\n")
  return { type: "http", scheme: "bearer", description }
}

/** Where the token comes from, in Markdown; undefined: it is no scheme with a login. */
function sourceOf(scheme: DocumentObject): string | undefined {
  if (scheme["type"] === "openIdConnect")
    return `A token of OpenID Connect, as \`${wordOf(scheme["openIdConnectUrl"])}\` describes.`
  if (scheme["type"] !== "oauth2") return undefined
  const flows = Object.entries(objectOf(scheme["flows"])).map(([name, flow]) => describedFlow(name, flow))
  return ["A token of OAuth 2.0:\n", ...flows].join("\n")
}

function describedFlow(name: string, flow: DocumentValue): string {
  const { authorizationUrl, tokenUrl, scopes } = objectOf(flow)
  const addresses = [authorizationUrl, tokenUrl].flatMap((each) => wordOf(each) ?? [])
  const words = Object.entries(objectOf(scopes)).map(([scope, about]) => {
    const text = wordOf(about) ?? ""
    return text === "" ? `  - \`${scope}\`` : `  - \`${scope}\`: ${text}`
  })
  return [`- ${name}: ${addresses.map((each) => `\`${each}\``).join(", ")}`, ...words].join("\n")
}
