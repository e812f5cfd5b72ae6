import { limitRows } from "../lower/counting.ts"
import { checkAnyRows } from "../steps/any-of.ts"
import { authBasicRows } from "../steps/basic-auth.ts"
import { lookupRows } from "../steps/cache-lookup.ts"
import { checkRows } from "../steps/check-header.ts"
import { compressRows } from "../steps/compress.ts"
import { corsRows } from "../steps/cors.ts"
import { authIntrospectionRows } from "../steps/introspect.ts"
import { jsonToXmlRows } from "../steps/json-to-xml.ts"
import { maskUrlsRows } from "../steps/mask-urls.ts"
import { metricRows } from "../steps/metric.ts"
import { mirrorRows } from "../steps/mirror.ts"
import { branchRows } from "../steps/parallel.ts"
import { quota, quotaRows } from "../steps/quota.ts"
import { limit } from "../steps/rate-limit.ts"
import { sendRows } from "../steps/send-request.ts"
import { choiceRows, weightedRows } from "../steps/set-backend.ts"
import { authCertificateRows } from "../steps/validate-certificate.ts"
import { contentJsonRows, validateContentRows } from "../steps/validate-content.ts"
import { validateGraphqlRows } from "../steps/validate-graphql.ts"
import { validateHeadersRows } from "../steps/validate-headers.ts"
import { authJwtRows } from "../steps/validate-jwt.ts"
import { authSubscriptionRows } from "../steps/validate-key.ts"
import { validateStatusRows } from "../steps/validate-status.ts"
import { xmlToJsonRows } from "../steps/xml-to-json.ts"
import type { BlockName } from "./block-name.ts"
import { changeRows } from "./change.ts"
import { controlJwtRows, controlListenRows, controlRows } from "./control.ts"
import {
  acmeRows,
  backendCredentialRows,
  certificateRows,
  introspectionRows,
  tokenRows,
  usersRows,
  xmlCredentialRows,
} from "./credentials.ts"
import {
  authzenRows,
  authzRows,
  engineCorsRows,
  engineJwtRows,
  engineLimitRows,
  engineLogRows,
  grantRows,
} from "./engine.ts"
import { metrics, metricsRows } from "./metrics.ts"
import { authOidcRows, oidcRows } from "./oidc.ts"
import { extraRow, validateRequestRows, validateResponseRows } from "./openapi.ts"
import { pdpRows } from "./pdp.ts"
import { portalListenRows, portalRows } from "./portal.ts"
import {
  backendRows,
  breakerRows,
  claimRow,
  healthRows,
  issuerRows,
  kubernetesRows,
  retryRows,
  tlsRows,
} from "./providers.ts"
import { record, recordRows } from "./record.ts"
import { anyRow, questionRows } from "./relations.ts"
import type { BlockRow } from "./row.ts"
import {
  apiRows,
  docsRows,
  everyScope,
  openapiRows,
  policyRows,
  routeScope,
  versionRows,
  websocketRows,
} from "./scopes.ts"
import { authHmacCustomRows, authHmacRows } from "./signature.ts"
import { inboundRows, onErrorRows, operationRespond, outboundRows, respondRows } from "./steps.ts"
import {
  clientCertificateRows,
  engineListenRows,
  fileRows,
  gatewayRows,
  limitsRows,
  listenRows,
  listenTlsRows,
  productRows,
  sharedRows,
  storeRows,
  subscriptionRows,
} from "./top.ts"
import { tracing, tracingRows } from "./tracing.ts"
import { policyXml, xmlRows } from "./xml.ts"

/** The language: every block and the statements it accepts. */
export const blocks: { readonly [Name in BlockName]: BlockRow } = {
  file: { title: "a file", rows: fileRows },
  gateway: { title: "`gateway`", rows: [...gatewayRows, tracing, metrics, record, ...everyScope] },
  listen: { title: "`listen`", rows: listenRows },
  "engine listen": { title: "`listen` of the engine", rows: engineListenRows },
  "listen tls": { title: "`tls` of a listener", rows: listenTlsRows },
  "client certificate": { title: "`client-certificate`", rows: clientCertificateRows },
  limits: { title: "`limits`", rows: limitsRows },
  "shared redis": { title: "`shared redis`", rows: sharedRows },
  tracing: { title: "`tracing`", rows: tracingRows },
  metrics: { title: "`metrics`", rows: metricsRows },
  record: { title: "`record`", rows: recordRows },
  authz: { title: "`authz`", rows: authzRows },
  "authz key": { title: "`auth key`", rows: grantRows },
  "authz jwt": { title: "`auth jwt` of the engine", rows: engineJwtRows },
  "authz subject": { title: "a subject", rows: grantRows },
  "authz limits": { title: "`limits` of the engine", rows: engineLimitRows },
  "authz log": { title: "`log`", rows: engineLogRows },
  "authz cors": { title: "`cors`", rows: engineCorsRows },
  "authz authzen": { title: "`authzen`", rows: authzenRows },
  control: { title: "`control`", rows: controlRows },
  "control jwt": { title: "`auth jwt` of the control API", rows: controlJwtRows },
  "control listen": { title: "`listen` of the control API", rows: controlListenRows },
  change: { title: "`change`", rows: changeRows },
  store: { title: "`store`", rows: storeRows },
  introspection: { title: "`introspection`", rows: introspectionRows },
  oidc: { title: "`oidc`", rows: oidcRows },
  users: { title: "`users`", rows: usersRows },
  pdp: { title: "`pdp`", rows: pdpRows },
  "auth introspection": { title: "`auth introspection`", rows: authIntrospectionRows },
  "auth oidc": { title: "`auth oidc`", rows: authOidcRows },
  "auth basic": { title: "`auth basic`", rows: authBasicRows },
  "auth certificate": { title: "`auth certificate`", rows: authCertificateRows },
  "auth hmac": { title: "`auth hmac`", rows: authHmacRows },
  "auth hmac custom": { title: "`auth hmac custom`", rows: authHmacCustomRows },
  certificate: { title: "`certificate`", rows: certificateRows },
  "certificate acme": { title: "`acme`", rows: acmeRows },
  "token client": { title: "`token`", rows: tokenRows },
  issuer: { title: "`issuer`", rows: issuerRows },
  claims: { title: "`claims`", rows: [], anyKeyword: claimRow },
  backend: { title: "`backend`", rows: [...backendRows, ...backendCredentialRows] },
  tls: { title: "`tls`", rows: tlsRows },
  kubernetes: { title: "`targets kubernetes`", rows: kubernetesRows },
  health: { title: "`health`", rows: healthRows },
  breaker: { title: "`breaker`", rows: breakerRows },
  retry: { title: "`retry`", rows: retryRows },
  policy: { title: "`policy`", rows: policyRows },
  xml: { title: "`xml`", rows: [...xmlRows, ...xmlCredentialRows] },
  api: { title: "`api`", rows: apiRows },
  version: { title: "`version`", rows: versionRows },
  openapi: { title: "`openapi`", rows: openapiRows },
  docs: { title: "`docs`", rows: docsRows },
  "validate request": { title: "`validate request`", rows: validateRequestRows },
  "validate response": { title: "`validate response`", rows: validateResponseRows },
  "validate status": { title: "`validate status`", rows: validateStatusRows },
  "validate graphql": { title: "`validate graphql`", rows: validateGraphqlRows },
  "validate content": { title: "`validate content`", rows: validateContentRows },
  "validate content json": { title: "`json` of `validate content`", rows: contentJsonRows },
  "validate headers": { title: "`validate headers`", rows: validateHeadersRows },
  operation: { title: "an operation", rows: [...routeScope, operationRespond, extraRow] },
  "auth jwt": { title: "`auth jwt`", rows: authJwtRows },
  check: { title: "`check`", rows: checkRows },
  "check any": { title: "`check any`", rows: checkAnyRows },
  question: { title: "a question", rows: questionRows },
  "require any": { title: "`require any` or `all`", rows: [], anyKeyword: anyRow },
  cors: { title: "`cors`", rows: corsRows },
  compress: { title: "`compress`", rows: compressRows },
  limit: { title: "`limit`", rows: limitRows },
  quota: { title: "`quota`", rows: quotaRows },
  "auth subscription": { title: "`auth subscription`", rows: authSubscriptionRows },
  websocket: { title: "`websocket`", rows: websocketRows },
  inbound: { title: "`inbound`", rows: inboundRows },
  outbound: { title: "`outbound`", rows: outboundRows },
  "on-error": { title: "`on-error`", rows: onErrorRows },
  respond: { title: "`respond`", rows: respondRows },
  send: { title: "`send`", rows: sendRows },
  metric: { title: "`metric`", rows: metricRows },
  weighted: { title: "`backend weighted`", rows: weightedRows },
  mirror: { title: "`mirror`", rows: mirrorRows },
  choices: { title: "`backend by`", rows: choiceRows },
  "parallel inbound": { title: "`parallel`", rows: branchRows("inbound") },
  "parallel outbound": { title: "`parallel`", rows: branchRows("outbound") },
  "parallel on-error": { title: "`parallel`", rows: branchRows("on-error") },
  "cache response": { title: "`cache response`", rows: lookupRows },
  "cache lookup": { title: "`cache lookup`", rows: lookupRows },
  "mask-urls": { title: "`body mask-urls`", rows: maskUrlsRows },
  "json-to-xml": { title: "`body json-to-xml`", rows: jsonToXmlRows },
  "xml-to-json": { title: "`body xml-to-json`", rows: xmlToJsonRows },
  product: { title: "`product`", rows: [...productRows, limit, quota, policyXml] },
  subscription: { title: "`subscription`", rows: subscriptionRows },
  portal: { title: "`portal`", rows: portalRows },
  "portal listen": { title: "`listen` of the portal", rows: portalListenRows },
}

/**
 * A word of the language that this version does not support. `blocks`: the blocks it belongs to; `after`: only as the first argument of
 * this keyword.
 */
export interface LaterWord {
  readonly word: string
  readonly blocks: readonly BlockName[]
  readonly after?: string
  readonly docs: string
}

/** Words that are planned. */
export const laterWords: readonly LaterWord[] = [
  { word: "models", blocks: ["store"], docs: "models written through the API" },
  { word: "redis", blocks: ["gateway"], docs: "shared counters" },
  { word: "test", blocks: ["file"], docs: "behaviour tests" },
]
