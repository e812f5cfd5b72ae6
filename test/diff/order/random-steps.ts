import type { StepKind } from "../../../runtime/plan/steps.ts"
import type { StepDraft } from "../../gateway/plan-builder.ts"
import { accessDrafts } from "./access-drafts.ts"
import { contentDrafts } from "./content-drafts.ts"
import type { Drafting, Draw, Section } from "./draw.ts"
import { flowDrafts } from "./flow-drafts.ts"

/** Every kind of step is drawn: a kind without a row does not compile. */
const drafts: { readonly [Kind in StepKind]: Drafting<Kind> } = {
  ...accessDrafts,
  ...contentDrafts,
  ...flowDrafts,
}

/** The sections a kind is drawn for. */
const sectionsOf: { readonly [Kind in StepKind]: readonly Section[] } = {
  "validate-jwt": ["inbound"],
  introspect: ["inbound"],
  "basic-auth": ["inbound"],
  "validate-certificate": ["inbound"],
  "validate-key": ["inbound"],
  "validate-hmac": ["inbound"],
  "oidc-session": ["inbound"],
  "any-of": ["inbound"],
  cors: ["inbound"],
  compress: ["inbound"],
  "check-header": ["inbound", "backend"],
  "ip-filter": ["inbound"],
  "rate-limit": ["inbound"],
  quota: ["inbound"],
  "limit-concurrency": ["inbound", "backend", "outbound"],
  require: ["inbound"],
  "require-any": ["inbound"],
  "require-all": ["inbound"],
  filter: ["outbound"],
  grant: ["outbound"],
  "validate-content": ["inbound", "outbound"],
  "validate-parameters": ["inbound"],
  "validate-headers": ["outbound"],
  "validate-graphql": ["inbound"],
  "validate-status": ["outbound"],
  "set-header": ["inbound", "backend", "outbound", "onError"],
  "rename-header": ["inbound", "backend", "outbound", "onError"],
  "set-query": ["inbound", "backend"],
  "set-method": ["inbound", "backend"],
  "set-status": ["outbound", "onError"],
  rewrite: ["inbound", "backend"],
  "set-host": ["inbound", "backend"],
  "set-body": ["inbound", "backend", "outbound", "onError"],
  "find-replace": ["inbound", "outbound", "onError"],
  decompress: ["inbound"],
  "mask-urls": ["inbound", "outbound"],
  jsonp: ["outbound"],
  "xml-to-json": ["inbound", "outbound"],
  "json-to-xml": ["inbound", "outbound"],
  respond: ["inbound", "outbound", "onError"],
  "set-variable": ["inbound", "backend", "outbound", "onError"],
  trace: ["inbound", "backend", "outbound", "onError"],
  metric: ["inbound", "outbound", "onError"],
  deprecation: ["inbound"],
  "cache-lookup": ["inbound"],
  "cache-store": ["outbound"],
  "cache-get": ["inbound", "outbound"],
  "cache-set": ["inbound", "outbound"],
  "cache-remove": ["inbound", "outbound"],
  "cache-value": ["inbound", "outbound"],
  "set-backend": ["inbound", "backend"],
  "send-request": ["inbound", "outbound", "onError"],
  mirror: ["inbound"],
  "content-safety": ["inbound"],
  authenticate: ["inbound", "backend"],
  retry: ["inbound", "backend", "outbound"],
  parallel: ["inbound", "outbound"],
  when: ["inbound", "backend", "outbound", "onError"],
  forward: ["backend"],
}

/** All kinds of steps. */
export const kinds = Object.keys(drafts) as readonly StepKind[]

/** Whether steps of a kind are drawn for a section. */
export function standsIn(kind: StepKind, section: Section): boolean {
  return sectionsOf[kind].includes(section)
}

/** A step of a kind, as the draw has it. */
export function draftOf(kind: StepKind, draw: Draw): StepDraft {
  return (drafts[kind] as (draw: Draw) => StepDraft)(draw)
}
