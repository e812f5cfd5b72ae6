import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { descriptionText, documentText, secretPlaces } from "./places.ts"

/** Ports of the process. */
export interface CanaryPorts {
  readonly gateway: number
  readonly https: number
  readonly authz: number
  readonly control: number
}

const model = `model
  schema 1.1
type user
type order
  relations
    define viewer: [user]
`

/** Writes the project with all places into a folder. `more`: statements of the file. */
export function writeProject(folder: string, ports: CanaryPorts, more = "", collector = "collector"): void {
  const text = projectText(ports, more).replaceAll("otlp collector", `otlp ${collector}`)
  writeFileSync(join(folder, "gateway.conf"), text)
  writeFileSync(join(folder, "shop.fga"), model)
  writeFileSync(join(folder, "document.xml"), documentText)
  writeFileSync(join(folder, "described.yaml"), descriptionText)
}

/** Writes the content of secrets. */
export function writeSecrets(folder: string, texts: ReadonlyMap<string, string>): void {
  mkdirSync(join(folder, "secrets"), { recursive: true })
  for (const [name, text] of texts) writeFileSync(join(folder, "secrets", name), text)
}

function projectText(ports: CanaryPorts, more: string): string {
  const all = (part: "gateway" | "limits" | "authz" | "file") =>
    secretPlaces.flatMap((place) => place[part] ?? []).join("\n  ")
  const apis = secretPlaces.flatMap(({ name, api }) => {
    if (api === undefined) return []
    const auth = api.startsWith("auth ") ? "" : "auth none; "
    return `api ${name} { path "/${name}"; ${auth}${api} }`
  })
  return `
gateway canaries {
  listen 127.0.0.1:${ports.gateway}
  listen 127.0.0.1:${ports.https} { tls { certificate edge ordered } }
  trust none
  limits { ${all("limits")} }
  ${all("gateway")}
}
authz {
  listen 127.0.0.1:${ports.authz}
  store shop { model "shop.fga" }
  ${all("authz")}
}
value service = env(SERVICE)
value collector = env(COLLECTOR)
value provider = env(PROVIDER)
value alive_url = "\${service}/alive"
value dead_url = env(DEAD_URL)
backend alive { url alive_url }
backend dead { url dead_url }
${secretPlaces.map(({ name }) => `secret ${name} = file("secrets/${name}")`).join("\n")}
${all("file")}
api allowed {
  path "/allowed"
  auth subscription
  GET "/{id}" { require viewer of "order:\${path.id}" for "user:ann" in shop; backend alive }
}
${apis.join("\n")}
${more}
`
}

/** Declarations whose URLs are the value `url`. */
export const urlPlaces = `
value url = file("url")
backend url_backend { url url }
backend url_targets { target url; target service }
backend url_found { targets dns url }
backend url_services { targets srv url }
backend url_slices { targets kubernetes "shop/stock:http" { server url } }
issuer url_issuer { discovery url; audience "api" }
issuer url_exact { discovery url exact; audience "api" }
oidc url_pages { issuer url_issuer; client "web"; session-keys session_key; external url; callback "/two/callback"; login "/two/login"; logout "/two/logout" }
introspection url_introspection { url url; client "gateway" secret client_secret }
token url_token { url url; client "gateway" secret client_secret }
token url_discovered { issuer url_issuer; client "gateway" secret client_secret }
pdp url_pdp { url url }
pdp url_discovered { url url; discover }
${["backend", "targets", "found", "services", "slices"]
  .map((each) => `api url_${each} { path "/url_${each}"; auth none; backend url_${each}; GET "/" }`)
  .join("\n")}
api url_jwt { path "/url_jwt"; auth jwt url_issuer; backend alive; GET "/" }
api url_jwt_exact { path "/url_jwt_exact"; auth jwt url_exact; backend alive; GET "/" }
api url_login { path "/url_login"; auth oidc url_pages; backend alive; GET "/" }
api url_opaque { path "/url_opaque"; auth introspection url_introspection; backend alive; GET "/" }
api url_token {
  path "/url_token"; auth none; backend alive
  GET "/" { inbound { authenticate token url_token } }
  GET "/discovered" { inbound { authenticate token url_discovered } }
  GET "/point" { require read of "order:1" for "user:ann" by url_pdp }
  GET "/point-discovered" { require read of "order:1" for "user:ann" by url_discovered }
  GET "/sent" { inbound { send asked { url url } } }
  GET "/choice" { backend "\${url}" }
}`
