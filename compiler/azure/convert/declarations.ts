import { signatureAlgorithm } from "../../../runtime/plan/resources.ts"
import { textWords } from "../../analysis/words.ts"
import type { IssuerSource, SigningKey } from "../site.ts"
import type { Declared } from "./conversion-host.ts"
import { commentLines } from "./write-text.ts"

/** Declaration blocks for all names that a document uses, to be completed by the user. `secrets`: the values that must not be shown. */
export function declarationLines(declared: Declared, secrets: ReadonlySet<string>): string[] {
  const values = [...declared.values].sort(([, a], [, b]) => (a < b ? -1 : 1))
  const lines = values.map(([id, name]) => {
    const kind = secrets.has(name) ? "secret" : "value"
    return `${kind} ${name} = env(${environmentName(name)})${id === name ? "" : `  # {{${id}}}`}`
  })
  return [
    ...lines,
    ...blocks(declared.issuers, ([name, source]) => issuerLines(name, source)),
    ...blocks(declared.clients, ([resource, name]) => [
      ...commentLines(`Who gets the tokens for ${resource}.`),
      `token ${name} {`,
      'url "https://id.example/oauth2/token"  # to be filled in',
      `client "gateway" secret ${name}_secret`,
      `scope ${textWords(scopeOf(resource))}`,
      "}",
      `secret ${name}_secret = env(${environmentName(name)}_SECRET)`,
    ]),
    ...blocks(declared.certificates, ([id, name]) => [
      ...commentLines(`The certificate ${id}.`),
      `certificate ${name} { cert file("certs/${name}.pem"); key file("certs/${name}.key") }  # to be filled in`,
    ]),
    ...blocks(declared.backends, ([id, name]) => [
      ...(id === name ? [] : commentLines(`The backend ${id}.`)),
      `backend ${name} { url "https://${name.replaceAll("_", "-").toLowerCase()}.example" }  # to be filled in`,
    ]),
  ]
}

/** Adds an empty line before each block. */
function blocks<Item>(items: Iterable<Item>, print: (item: Item) => readonly string[]): string[] {
  return [...items].flatMap((item) => ["", ...print(item)])
}

function environmentName(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()
}

function scopeOf(resource: string): string {
  return /^https?:/.test(resource) ? `${resource.replace(/\/$/, "")}/.default` : resource
}

const allAlgorithms = `algorithms ${[...signatureAlgorithm.options].sort().join(" ")}`

/** Any audience and no clock skew: each `auth` declares its own. */
function issuerLines(name: string, source: IssuerSource): string[] {
  if ("discovery" in source)
    return [
      `issuer ${name} {`,
      `discovery ${textWords(source.discovery)} exact`,
      "audience *",
      "clock-skew 0s",
      allAlgorithms,
      "}",
    ]
  const isSecret = source.keys.some((key) => "secret" in key)
  return [
    `issuer ${name} {`,
    ...source.keys.map(keyLine),
    "issuer *",
    "audience *",
    "clock-skew 0s",
    ...(isSecret ? [] : [allAlgorithms]),
    "}",
  ]
}

function keyLine(key: SigningKey): string {
  const id = key.id === null ? "" : ` ${textWords(key.id)}`
  if ("jwk" in key) return `key rsa ${textWords(key.jwk["n"] ?? "")} ${textWords(key.jwk["e"] ?? "")}${id}`
  if ("secret" in key && !("constant" in key.secret))
    return `key secret ${"secret" in key.secret ? key.secret.secret : key.secret.value} base64${id}`
  throw new Error("a key that no text can have was taken for one")
}
