import type { ClaimRule, Count, CredentialSource } from "../../../runtime/plan/step-values.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import type { LoadText, Text } from "../../../runtime/plan/text.ts"
import { attributeOf } from "../ast.ts"
import type { ChildRow } from "../shape.ts"
import type { NamedValue, SigningKey, Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf } from "../values.ts"
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
  values,
} from "./row.ts"

type ValidateJwt = Extract<Step, { kind: "validate-jwt" }>

const claimChild: ChildRow = {
  many: true,
  attributes: { name: required, match: { values: ["all", "any"], byDefault: "all" }, separator: optional },
  children: { value: values },
}
const list = (item: string): ChildRow => ({ children: { [item]: values } })

/** The source of the token: one of three attributes. A header other than Authorization contains only the token. */
function sourceOf(use: Use): CredentialSource | undefined {
  const [first, ...more] = ["header-name", "query-parameter-name", "token-value"].filter((name) =>
    use.has(name),
  )
  // APIM demands exactly one of them.
  if (more.length > 0)
    return use.report(
      "SP7009",
      use.spanOf(more[0] as string),
      `the token is already read from \`${first}\``,
      "Keep one of the two.",
    )
  if (first === "query-parameter-name") {
    const query = use.constant(first)
    // APIM leaves the parameter in the query, so the backend gets it.
    return query === undefined ? undefined : { query, forward: true }
  }
  if (first === "token-value") {
    const text = use.text(first)
    return text === undefined ? undefined : { text }
  }
  const header = first === undefined ? "authorization" : headerName(use, "header-name")
  if (header === undefined) return undefined
  // Only `Authorization` has a scheme.
  if (header !== "authorization") return { header, scheme: null }
  const scheme = use.has("require-scheme") ? use.constant("require-scheme") : "Bearer"
  return scheme === undefined ? undefined : { header, scheme }
}

/** Without `separator`, a string is one value even if it contains spaces. */
function claimsOf(use: Use): ClaimRule[] | undefined {
  const rules = (use.child("required-claims")?.children("claim") ?? []).map((each) => {
    const parts = {
      claim: each.constant("name"),
      match: each.choice("match", ["all", "any"]),
      separator: each.has("separator") ? each.constant("separator") : "",
      values: each.texts("value"),
    }
    if (!complete(parts)) return undefined
    // Without values the claim must only be present.
    const test = parts.values.length === 0 ? "present" : parts.match === "all" ? "has-all" : "has-any"
    return { claim: parts.claim, test, values: parts.values, separator: parts.separator } as ClaimRule
  })
  return rules.includes(undefined) ? undefined : (rules as ClaimRule[])
}

/** The parts that both policies have in common. */
function commonOf(use: Use): Omit<ValidateJwt, "kind" | "issuers"> | undefined {
  const status: Count | undefined = use.has("failed-validation-httpcode")
    ? use.count("failed-validation-httpcode")
    : 401
  const parts = {
    from: sourceOf(use),
    claims: claimsOf(use),
    requireExpiration: use.flag("require-expiration-time"),
    status,
    ...textsOf(use, "audiences", "audience"),
    ...(use.has("clock-skew") ? { clockSkewSeconds: use.count("clock-skew") } : {}),
    ...(use.has("failed-validation-error-message")
      ? { message: use.text("failed-validation-error-message") }
      : {}),
    ...(use.has("output-token-variable-name") ? { output: use.constant("output-token-variable-name") } : {}),
  }
  if (!complete(parts)) return undefined
  // `validate-jwt` of APIM has one status for every refusal.
  return { ...parts, claimStatus: parts.status }
}

/** The texts of a list of children. Absent when the list is absent. */
function textsOf(
  use: Use,
  holder: "audiences",
  item: string,
): { audiences: Text[] | undefined } | Record<never, never> {
  const child = use.child(holder)
  if (child === undefined || child.children(item).length === 0) return {}
  // An empty list means no rule in APIM, not that every audience is refused.
  return { audiences: child.texts(item) }
}

/** Whether encrypted tokens are requested, which is reported. */
function wantsEncrypted(use: Use): boolean {
  const decryption = use.child("decryption-keys")
  if (decryption !== undefined)
    use.report(
      "SP7011",
      decryption.at,
      "encrypted tokens are not accepted",
      "Configure the issuer to sign tokens without encryption.",
    )
  return decryption !== undefined
}

function validateJwt(use: Use): Used[] | undefined {
  const { host } = use.context
  // APIM can accept unsigned tokens. Nobody can say who made them, so there is no such step here.
  if (use.fixedFlag("require-signed-tokens") !== true)
    return use.report(
      "SP7011",
      use.spanOf("require-signed-tokens"),
      "tokens without a signature are never accepted",
      "Remove the attribute.",
    )
  // The step would verify something else than the document says.
  if (wantsEncrypted(use)) return undefined
  const configs = use.children("openid-config")
  const issuers: (string | undefined)[] = configs
    .filter((each) => !isFoundLater(each))
    .map((each) => {
      const discovery = each.loadText("url")
      return discovery === undefined ? undefined : host.issuer({ discovery }, each.spanOf("url"))
    })
  const [later, ...more] = configs.filter(isFoundLater)
  // Each request has one address, and the plan one expression for it.
  if (more[0] !== undefined)
    return use.report(
      "SP7011",
      more[0].at,
      "two URLs that are computed per request are not supported",
      "Put both into one expression, or write two `validate-jwt` in a `choose`.",
    )
  const chosen = later === undefined ? undefined : chosenOf(later)
  // Undefined marks the issuers as invalid, so that the policy is left out as a whole.
  if (later !== undefined) issuers.push(...(chosen?.cases.map(({ issuer }) => issuer) ?? [undefined]))
  const keysUse = use.child("issuer-signing-keys")
  if (keysUse !== undefined) issuers.push(...keyIssuers(keysUse))
  if (issuers.length === 0)
    return use.report(
      "SP7008",
      use.at,
      "`validate-jwt` has no keys",
      'Add `<openid-config url="https://…/.well-known/openid-configuration" />` or `<issuer-signing-keys>`.',
    )
  const common = commonOf(use)
  const issuerUse = use.child("issuers")
  const issuerValues = issuerUse === undefined ? [] : issuerUse.texts("issuer")
  if (common === undefined || issuers.includes(undefined) || issuerValues === undefined) return undefined
  return use.step({
    kind: "validate-jwt",
    issuers: issuers as string[],
    ...given("chosen", chosen),
    ...common,
    ...given("issuerValues", issuerValues.length === 0 ? undefined : issuerValues),
  })
}

/** Whether an address depends on the request. */
function isFoundLater({ element }: Use): boolean {
  // `inner` is an expression, `hole` a named value that is read when the plan is loaded.
  const raw = attributeOf(element, "url")?.raw
  return (raw?.inner ?? raw?.hole) !== undefined
}

/** An address computed per request must belong to an issuer of gateway.conf: the request must not decide whose tokens are trusted. */
function chosenOf(use: Use): ValidateJwt["chosen"] {
  const by = use.text("url")
  const cases = use.context.host.declaredIssuers(use.spanOf("url"))
  return by === undefined || cases.length === 0 ? undefined : { by, cases: [...cases] }
}

/** Shared secrets and public keys never belong to the same issuer: a public key must not be accepted as a secret (RFC 8725 section 2.1). */
function keyIssuers(use: Use): (string | undefined)[] {
  const keys = use.children("key").map(keyOf)
  if (keys.includes(undefined)) return [undefined]
  const known = keys as SigningKey[]
  return [known.filter((key) => "secret" in key), known.filter((key) => !("secret" in key))]
    .filter((list) => list.length > 0)
    .map((list) => use.context.host.issuer({ keys: list }, use.at))
}

/** A signing key: RSA by modulus and exponent, a certificate, or a shared secret. */
function keyOf(use: Use): SigningKey | undefined {
  const id = use.has("id") ? use.constant("id") : null
  if (id === undefined) return undefined
  if (use.has("n") || use.has("e")) {
    const parts = { n: use.constant("n"), e: use.constant("e") }
    // Documents have Base64, and a JWK has base64url (RFC 7518, section 6.3.1).
    if (complete(parts)) return { id, jwk: { kty: "RSA", n: urlSafe(parts.n), e: urlSafe(parts.e) } }
    return use.has("n") && use.has("e")
      ? undefined
      : use.report("SP7008", use.at, "`n` and `e` must be given together", "Add the other one.")
  }
  if (use.has("certificate-id")) {
    const name = use.constant("certificate-id")
    const certificate =
      name === undefined ? undefined : use.context.host.certificate(name, use.spanOf("certificate-id"))
    return certificate === undefined ? undefined : { id, certificate }
  }
  const secret = secretOf(use)
  return secret === undefined ? undefined : { id, secret }
}

/** A shared secret in Base64: a text, or exactly one value or secret of gateway.conf. */
function secretOf(use: Use): NamedValue | undefined {
  const value = use.content()
  if (value === undefined)
    return use.contentRaw === undefined
      ? use.report("SP7008", use.at, "the key is empty", "Write it in Base64, or `{{NAME}}`.")
      : undefined
  const constant = constantOf(value)
  if (constant !== undefined) {
    // Base64 is often wrapped over several lines in XML.
    if (/^[A-Za-z0-9+/_=\s-]+$/.test(constant)) return { constant: constant.replace(/\s/g, "") }
    return use.report("SP7009", value.span, "the key is not Base64", "Write it in Base64, or `{{NAME}}`.")
  }
  const [part, ...more] = value.kind === "text" && value.behind === undefined ? value.parts : []
  // A value of the plan that is read when it is loaded: the key itself never is in the plan.
  if (part !== undefined && typeof part !== "string" && more.length === 0) return part
  return use.report(
    "SP7010",
    value.span,
    "a key must be known when the plan is loaded",
    "Write `{{NAME}}` alone.",
  )
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "").trim()
}

/**
 * Accepts tokens of one tenant in both versions, which differ in the issuer and in the claim that names the client. So there may be two
 * checks, of which one must pass.
 */
function validateAzureAdToken(use: Use): Used[] | undefined {
  const tenant = use.loadText("tenant-id")
  const common = commonOf(use)
  const clients = use.child("client-application-ids")?.texts("application-id") ?? []
  const backends = use.child("backend-application-ids")?.texts("application-id") ?? []
  if (wantsEncrypted(use)) return undefined
  if (tenant === undefined || common === undefined) return undefined
  // Tokens of every tenant have different issuers, so whose are accepted would not be a list.
  if (typeof tenant === "string" && /^(?:common|organizations|consumers)$/.test(tenant))
    return use.report(
      "SP7011",
      use.spanOf("tenant-id"),
      "accepting tokens of every tenant is not supported",
      "Write the id of the tenant.",
    )
  const audiences = [...(common.audiences ?? []), ...backends]
  const steps = [
    // Version 2.0 names the client in `azp`, version 1.0 in `appid`.
    { path: "/v2.0/.well-known/openid-configuration", claim: "azp" },
    { path: "/.well-known/openid-configuration", claim: "appid" },
  ].map(({ path, claim }) => {
    const discovery = urlOf(tenant, path)
    const issuer = use.context.host.issuer({ discovery }, use.at)
    const rule: ClaimRule[] = clients.length === 0 ? [] : [{ claim, test: "equals-any", values: clients }]
    return issuer === undefined
      ? []
      : use.step({
          kind: "validate-jwt",
          ...common,
          issuers: [issuer],
          claims: [...common.claims, ...rule],
          ...given("audiences", audiences.length === 0 ? undefined : audiences),
        })
  })
  const all = steps.flat()
  // One of the two has a mistake, which is reported.
  return all.length < 2
    ? undefined
    : use.step({ kind: "any-of", steps: all.map(({ id }) => id) }, { steps: all })
}

function urlOf(tenant: LoadText, path: string): LoadText {
  const host = "https://login.microsoftonline.com/"
  if (typeof tenant === "string") return `${host}${tenant}${path}`
  return { text: [host, ...tenant.text, path] }
}

const common = {
  "header-name": optional,
  "query-parameter-name": optional,
  "token-value": dynamic,
  "failed-validation-httpcode": { ...dynamic, whole: errorStatuses },
  "failed-validation-error-message": dynamic,
  "require-expiration-time": flags.on,
  "require-scheme": optional,
  "require-signed-tokens": flags.on,
  "clock-skew": { ...dynamic, whole: seconds },
  "output-token-variable-name": optional,
}

export const tokens: ElementTable = {
  "validate-jwt": {
    about: "Refuses requests without a valid JSON Web Token.",
    sections: inboundOnly,
    attributes: common,
    children: {
      "openid-config": { many: true, attributes: { url: requiredDynamic } },
      "issuer-signing-keys": {
        children: {
          key: {
            many: true,
            text: "literal",
            attributes: { id: optional, "certificate-id": optional, n: optional, e: optional },
          },
        },
      },
      "decryption-keys": {
        children: {
          key: { many: true, text: "literal", attributes: { id: optional, "certificate-id": optional } },
        },
      },
      audiences: list("audience"),
      issuers: list("issuer"),
      "required-claims": { children: { claim: claimChild } },
    },
    lower: validateJwt,
  },
  "validate-azure-ad-token": {
    about: "Refuses requests without a valid token of Microsoft Entra ID.",
    sections: inboundOnly,
    attributes: { "tenant-id": required, ...common },
    children: {
      "client-application-ids": list("application-id"),
      "backend-application-ids": list("application-id"),
      audiences: list("audience"),
      "required-claims": { children: { claim: claimChild } },
      "decryption-keys": {
        children: { key: { many: true, text: "literal", attributes: { "certificate-id": optional } } },
      },
    },
    lower: validateAzureAdToken,
  },
}
