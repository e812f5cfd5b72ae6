import type { PortalPlan, PublishedVersionPlan } from "../../runtime/plan/portal.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { pairsOf, same } from "../analysis/same.ts"
import { countWords, textWords } from "../analysis/words.ts"
import { listenerChanges } from "./listener-changes.ts"
import { oidcRules, oidcWords } from "./oidc-rules.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

const scope = { kind: "portal", name: "" } as const

/** Compares who can read what in the developer portal, and who can subscribe there. */
export function comparePortals(
  before: PortalPlan | undefined,
  after: PortalPlan | undefined,
): UnplacedChange[] {
  return [
    ...listenerChanges(
      {
        scope,
        path: "portal.listen",
        reach: () => opens("people may open the developer portal at this address"),
      },
      before?.listen ?? [],
      after?.listen ?? [],
    ),
    ...publishedChanges(before?.apis ?? [], after?.apis ?? []),
    ...signInChanges(before?.signIn, after?.signIn),
    ...shownChanges(before, after),
  ]
}

/** An API that is published can be read by everybody who reaches the portal. */
function publishedChanges(
  before: readonly PublishedVersionPlan[],
  after: readonly PublishedVersionPlan[],
): UnplacedChange[] {
  const named = (list: readonly PublishedVersionPlan[]) =>
    Object.fromEntries(
      list.map((each) => [each.version === null ? each.api : `${each.api} ${each.version}`, each] as const),
    )
  return pairsOf(named(before), named(after)).flatMap(({ key, old, next }) => {
    if (same(old, next)) return []
    const about = { subject: { kind: "portal", name: key }, scope, path: "portal.apis" } as const
    const words = `apis ${key}`
    if (old === undefined)
      return [
        changeOf(
          { ...about, action: "added", after: words },
          opens(`people can read the document of \`${key}\` in the portal`),
        ),
      ]
    if (next === undefined)
      return [
        changeOf(
          { ...about, action: "removed", before: words },
          closes(`people can no longer read the document of \`${key}\` in the portal`),
        ),
      ]
    return [
      changeOf(
        { ...about, action: "changed", before: words, after: words },
        neutral(`the portal shows another document of \`${key}\``),
      ),
    ]
  })
}

type SignIn = PortalPlan["signIn"]

function signInChanges(before: SignIn, after: SignIn): UnplacedChange[] {
  if (same(before, after)) return []
  const about = { subject: { kind: "portal", name: "auth" }, scope, path: "portal.signIn" } as const
  const words = (signIn: SignIn) =>
    signIn === undefined
      ? {}
      : `auth ${oidcWords(signIn.name, signIn.client)}; owner ${JSON.stringify(signIn.owner)}`
  const [old, next] = [words(before), words(after)]
  return [
    changeOf(
      {
        ...about,
        action: before === undefined ? "added" : after === undefined ? "removed" : "changed",
        ...(typeof old === "string" ? { before: old } : {}),
        ...(typeof next === "string" ? { after: next } : {}),
      },
      signInFindings(before, after),
    ),
  ]
}

function signInFindings(before: SignIn, after: SignIn): Finding[] {
  if (after === undefined)
    return [breaking("nobody can sign in to the portal: people no longer reach their subscriptions there")]
  if (before === undefined)
    return [opens(`users of \`${after.client.issuer}\` can subscribe to the products that the portal offers`)]
  const found: Finding[] = []
  if (before.name !== after.name) found.push(breaking("all sessions of the portal end: people sign in again"))
  if (before.owner !== after.owner)
    found.push(
      opens(
        `subscriptions belong to people by the claim \`${after.owner}\` instead of \`${before.owner}\`: somebody may see those of another person`,
      ),
    )
  for (const field of Object.keys({ ...before.client, ...after.client }) as (keyof typeof oidcRules)[])
    if (!same(before.client[field], after.client[field])) found.push(...clientFindings(field, before, after))
  return found
}

type Client = NonNullable<SignIn>

/** The rules of the gateway's clients hold here, too. */
function clientFindings(field: keyof typeof oidcRules, before: Client, after: Client): readonly Finding[] {
  const rule = oidcRules[field] as (
    old: unknown,
    next: unknown,
    sides: { readonly before: Client["client"]; readonly after: Client["client"] },
  ) => Finding | readonly Finding[]
  return [
    rule(before.client[field], after.client[field], { before: before.client, after: after.client }),
  ].flat()
}

const shownFields = ["title", "external", "gateway", "tryIt", "logo", "style", "texts", "pages"] as const

/** How a field of the portal is written in one line. */
function fieldWords(portal: PortalPlan, field: (typeof shownFields)[number]): string | undefined {
  const value = portal[field]
  if (value === undefined) return undefined
  if (field === "title") return `title ${JSON.stringify(value)}`
  if (field === "tryIt") return "try-it"
  if (field === "external" || field === "gateway")
    return `${field} ${textWords(value as NonNullable<PortalPlan["external"]>)}`
  if (field === "pages") return countWords((value as readonly unknown[]).length, "page")
  return field
}

function shownChanges(before: PortalPlan | undefined, after: PortalPlan | undefined): UnplacedChange[] {
  if (before === undefined || after === undefined) return []
  return shownFields.flatMap((field) => {
    if (same(before[field], after[field])) return []
    const [old, next] = [fieldWords(before, field), fieldWords(after, field)]
    return [
      changeOf(
        {
          action: old === undefined ? "added" : next === undefined ? "removed" : "changed",
          subject: { kind: "portal", name: field },
          ...{ scope, path: `portal.${field}` },
          ...(old === undefined ? {} : { before: old }),
          ...(next === undefined ? {} : { after: next }),
        },
        field === "external"
          ? breaking("browsers must open the portal under the new host")
          : neutral(shownWhy[field]),
      ),
    ]
  })
}

const shownWhy: Readonly<Record<Exclude<(typeof shownFields)[number], "external">, string>> = {
  title: "the portal has another title",
  gateway: "examples name another host of the gateway",
  tryIt: "the pages offer to try operations, or no longer do",
  logo: "the portal shows another logo",
  style: "the portal has other colours",
  texts: "the pages of the portal have other texts",
  pages: "the portal has other pages of your own",
}
