import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Issuer, UsersPlan } from "../../runtime/plan/resources.ts"
import { backendRules } from "../analysis/backend-rules.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { listChanges, pairsOf, same } from "../analysis/same.ts"
import {
  backendStatements,
  backendWords,
  issuerStatements,
  issuerWords,
  listWords,
  referenceWords,
  textWords,
  tokenWords,
} from "../analysis/words.ts"
import { certificateFindings, certificateWords } from "./certificate-rules.ts"
import type { ProviderKind } from "./change.ts"
import { oidcRules, oidcStatements, oidcWords } from "./oidc-rules.ts"
import { pdpRules, pdpStatements, pdpWords } from "./pdp-rules.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"
import { Uses } from "./uses.ts"

/** Compares issuers, backends, named values and secrets. An added or removed one has no effect by itself: its uses decide. */
export function compareProviders(before: PlanBody, after: PlanBody): UnplacedChange[] {
  const uses = new Uses(after)
  return [
    ...declarations("issuer", before.issuers, after.issuers, {
      words: (name, issuer) => `issuer ${name} ${issuerWords(issuer)}`,
      fields: fieldsOf(issuerRules, issuerStatements),
      routes: (name) => uses.naming("issuers", name),
    }),
    ...declarations(
      "backend",
      // Backends that are written as a URL are declared by their use. Without this filter each would be reported twice.
      declared(before.backends, after.backends),
      declared(after.backends, before.backends),
      {
        words: (name, backend) => `backend ${name} ${backendWords(backend)}`,
        fields: fieldsOf(backendRules, backendStatements),
        routes: (name) => uses.naming("backends", name),
      },
    ),
    ...credentialChanges(before, after, uses),
    ...declarations("value", before.values, after.values, {
      words: (name, value) =>
        `value ${name} = ${"from" in value ? referenceWords(value.from) : textWords(value.text)}`,
      changed: (name) => valueChange(name, uses),
      routes: () => [],
    }),
    ...declarations("secret", before.secrets, after.secrets, {
      words: (name, reference) => `secret ${name} = ${referenceWords(reference)}`,
      changed: (name) => secretChange(name, after, uses),
      routes: () => [],
    }),
  ]
}

/** Compares how the gateway checks callers, and the credentials that it presents. */
function credentialChanges(before: PlanBody, after: PlanBody, uses: Uses): UnplacedChange[] {
  return [
    ...declarations("introspection", before.introspections ?? {}, after.introspections ?? {}, {
      words: (name, { url, client, secret, cacheSeconds }) =>
        `introspection ${name} { url ${textWords(url)}; client ${textWords(client)} secret ${secret}; cache ${cacheSeconds}s }`,
      changed: (name) => introspectionChange(before.introspections?.[name], after.introspections?.[name]),
      routes: (name) => uses.naming("introspections", name),
    }),
    ...declarations("oidc", before.oidcClients ?? {}, after.oidcClients ?? {}, {
      words: oidcWords,
      fields: fieldsOf(oidcRules, oidcStatements),
      routes: (name) => uses.naming("oidcClients", name),
    }),
    ...declarations("users", before.users ?? {}, after.users ?? {}, {
      words: (name, { users }) =>
        `users ${name} { ${users.map(({ user, secret }) => `user ${JSON.stringify(user)} ${secret}`).join("; ")} }`,
      fields: (old, next) => [
        {
          field: "users",
          before: listWords(old.users.map(({ user }) => `\`${user}\``)),
          after: listWords(next.users.map(({ user }) => `\`${user}\``)),
          findings: userFindings(old, next),
        },
      ],
      routes: (name) => uses.naming("users", name),
    }),
    ...declarations("pdp", before.pdps ?? {}, after.pdps ?? {}, {
      words: pdpWords,
      fields: fieldsOf(pdpRules, pdpStatements),
      routes: (name) => uses.naming("pdps", name),
    }),
    ...declarations("certificate", before.certificates ?? {}, after.certificates ?? {}, {
      words: certificateWords,
      changed: (_, old, next) => certificateFindings(old, next),
      routes: () => [],
    }),
    ...declarations("token", before.tokenClients ?? {}, after.tokenClients ?? {}, {
      words: (name, client) => `token ${name} ${tokenWords(client)}`,
      changed: () => [opens("tokens come from another endpoint or client: servers may see another caller")],
      routes: () => [],
    }),
  ]
}

interface FieldDifference {
  readonly field: string
  readonly before: string
  readonly after: string
  readonly findings: readonly Finding[]
}

interface Table<Item> {
  words(name: string, item: Item): string
  /** Either the differences by statement, or what a change of the whole means. */
  readonly fields?: (before: Item, after: Item) => readonly FieldDifference[]
  readonly changed?: (name: string, before: Item, after: Item) => readonly Finding[]
  routes(name: string): readonly string[]
}

/** Names of tables in the plan that are not the plural of the keyword. */
const unusualTables: Readonly<Partial<Record<ProviderKind, string>>> = {
  token: "tokenClients",
  users: "users",
  oidc: "oidcClients",
}

/** Declarations of one kind. Adding or removing one has no effect by itself: routes that use it are compared on their own. */
function declarations<Item>(
  kind: ProviderKind,
  before: Readonly<Record<string, Item>>,
  after: Readonly<Record<string, Item>>,
  table: Table<Item>,
): UnplacedChange[] {
  return pairsOf(before, after).flatMap(({ key: name, old, next }) => {
    const place = unusualTables[kind] ?? `${kind}s`
    const about = { subject: { kind, name }, scope: { kind, name }, path: `${place}.${name}` } as const
    if (old === undefined && next !== undefined)
      return [
        changeOf(
          { ...about, action: "added", after: table.words(name, next) },
          neutral("no effect by itself: the statements that use it are listed as changes of their own"),
        ),
      ]
    if (old !== undefined && next === undefined)
      return [
        changeOf(
          { ...about, action: "removed", before: table.words(name, old) },
          neutral("it is no longer used"),
        ),
      ]
    if (old === undefined || next === undefined || same(old, next)) return []
    const routes = table.routes(name)
    if (table.fields !== undefined)
      return table
        .fields(old, next)
        .map(({ field, findings, ...sides }) =>
          changeOf(
            { ...about, action: "changed", path: `${about.path}.${field}`, ...sides, routes },
            findings,
          ),
        )
    // Without rules per field the whole declaration is one change.
    const sides = { before: table.words(name, old), after: table.words(name, next) }
    return [
      changeOf({ ...about, action: "changed", ...sides, routes }, table.changed?.(name, old, next) ?? []),
    ]
  })
}

/** Compares the fields that have a rule; each difference is a change of its own. */
function fieldsOf<Item extends object>(
  rules: FieldRules<Item>,
  statements: { readonly [Key in keyof Item]-?: (item: Item) => string },
): (before: Item, after: Item) => FieldDifference[] {
  return (before, after) =>
    (Object.keys(rules) as (keyof Item & string)[])
      .filter((field) => !same(before[field], after[field]))
      .map((field) => ({
        field,
        before: statements[field](before),
        after: statements[field](after),
        findings: compareFields({ [field]: rules[field] } as unknown as FieldRules<Item>, before, after),
      }))
}

/** A backend written as a URL has the URL as its name. When it is added or removed, the routes that use it report the change. */
function declared(backends: PlanBody["backends"], others: PlanBody["backends"]): PlanBody["backends"] {
  return Object.fromEntries(
    Object.entries(backends).filter(([name]) => !name.startsWith("inline-") || Object.hasOwn(others, name)),
  )
}

/** The effect of each changed field of an issuer. */
const issuerRules: FieldRules<Issuer> = {
  // The keys decide who can sign. Whether a new source serves the same keys is unknown here.
  source: () => opens("another service decides which tokens are valid"),
  // `null` is `audience *`, the widest value: it is compared before the lists.
  audiences: (before, after) => {
    if (after === null) return opens("tokens issued for any service are accepted")
    if (before === null) return closes("tokens issued for other services are refused")
    const { removed, added } = listChanges(before, after)
    const findings: Finding[] = []
    if (added.length > 0)
      findings.push(opens(`tokens issued for ${listWords(added.map(textWords))} are accepted`))
    if (removed.length > 0)
      findings.push(closes(`tokens issued for ${listWords(removed.map(textWords))} are refused`))
    return findings.length > 0 ? findings : neutral("the same audiences in another order")
  },
  clockSkewSeconds: (before, after) =>
    after > before
      ? // Within the skew an expired token still counts, so more of it lets more tokens in.
        opens(`expired tokens are accepted for ${after}s instead of ${before}s`)
      : closes(`expired tokens are accepted for ${after}s instead of ${before}s`),
  algorithms: (before, after) => {
    const { removed, added } = listChanges(before, after)
    const findings: Finding[] = []
    if (added.length > 0) findings.push(opens(`signatures by ${listWords(added)} are accepted`))
    if (removed.length > 0) findings.push(closes(`signatures by ${listWords(removed)} are refused`))
    return findings.length > 0 ? findings : neutral("the same algorithms in another order")
  },
  // Claims are declarations for the compiler. Rules on claims are in `auth`, which is a step.
  claims: () => neutral("the declared claims of its tokens have changed"),
}

/** Users of basic authentication: added, removed, with another password. */
function userFindings(before: UsersPlan, after: UsersPlan): Finding[] {
  const old = new Map(before.users.map(({ user, secret }) => [user, secret]))
  const next = new Map(after.users.map(({ user, secret }) => [user, secret]))
  const findings = [
    ...[...next.keys()].filter((user) => !old.has(user)).map((user) => opens(`\`${user}\` may call`)),
    ...[...old.keys()]
      .filter((user) => !next.has(user))
      .map((user) => closes(`\`${user}\` may no longer call`)),
    // Only the secret's name is compared, because a plan has no passwords. Another secret means another password.
    ...[...next]
      .filter(([user, secret]) => old.has(user) && old.get(user) !== secret)
      .map(([user]) => breaking(`\`${user}\` has another password`)),
  ]
  return findings.length > 0 ? findings : [neutral("the same users in another order")]
}

type IntrospectionPlan = NonNullable<PlanBody["introspections"]>[string]

/** The endpoint decides which tokens are valid, so a change of it `opens`. */
function introspectionChange(
  before: IntrospectionPlan | undefined,
  after: IntrospectionPlan | undefined,
): Finding[] {
  if (before === undefined || after === undefined) return []
  const { cacheSeconds: old, ...asked } = before
  const { cacheSeconds: next, ...askedAfter } = after
  return [
    ...(same(asked, askedAfter)
      ? []
      : [
          opens("another service, or the same with other client credentials, decides which tokens are valid"),
        ]),
    // The cache keeps accepting what its endpoint has revoked meanwhile.
    ...(old === next
      ? []
      : [
          next > old
            ? opens(`a revoked token stays valid for up to ${next}s instead of ${old}s`)
            : closes(`a revoked token stays valid for up to ${next}s instead of ${old}s`),
        ]),
  ]
}

/** A value from another source may have another content: the compiler cannot know it. */
function valueChange(name: string, uses: Uses): Finding[] {
  const { issuers, backends, clients, steps, listeners } = uses.ofValue(name)
  const findings: Finding[] = []
  if (issuers.length > 0) findings.push(opens(`it decides which issuer is trusted: ${quoted(issuers)}`))
  if (backends.length > 0)
    findings.push(opens(`it is part of the URL that requests are sent to: backend ${quoted(backends)}`))
  if (clients.length > 0)
    findings.push(
      opens(`it is part of the URL of a service, or of the credentials sent there: ${quoted(clients)}`),
    )
  if (listeners)
    findings.push(opens("it is part of the address of a listener: clients may reach it at another address"))
  if (steps)
    findings.push(opens("routes use it: which requests they let through and what they send may change"))
  return findings.length > 0 ? findings : [neutral("its value or the source it is read from has changed")]
}

/** Where a secret is used decides what another source of it means. */
function secretChange(name: string, { subscriptions, authz }: PlanBody, uses: Uses): Finding[] {
  const keyed = Object.entries(subscriptions)
    .filter(([, { key, secondary }]) => key === name || secondary === name)
    .map(([subscription]) => subscription)
    .sort()
  const { issuers, backends, clients, steps } = uses.ofSecret(name)
  const findings: Finding[] = []
  if (keyed.length > 0)
    findings.push(
      breaking(
        `it is the key of the subscription ${quoted(keyed)}: if its value changes, the old key is refused`,
      ),
    )
  // `Object.hasOwn`: a secret may be called `constructor`.
  if (Object.hasOwn(authz?.auth?.keys ?? {}, name))
    findings.push(breaking("it is a key of the engine: if its value changes, the old key is refused"))
  if (issuers.length > 0)
    findings.push(opens(`tokens signed with it are accepted: issuer ${quoted(issuers)}`))
  if (backends.length > 0)
    findings.push(
      opens(`with another value, requests run as another user at the backend ${quoted(backends)}`),
    )
  if (clients.length > 0)
    findings.push(
      opens(`if its value changes, the gateway accepts or presents other credentials: ${quoted(clients)}`),
    )
  if (steps) findings.push(opens("if its value changes, routes send the new value"))
  return findings.length > 0 ? findings : [neutral("it is read from another source")]
}

function quoted(names: readonly string[]): string {
  return listWords(names.map((name) => `\`${name}\``))
}
