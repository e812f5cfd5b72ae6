import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Backend } from "../../runtime/plan/resources.ts"
import { breaking, closes, compareFields, type FieldRules, type Finding, neutral, opens } from "./finding.ts"
import { noOwnCredentials } from "./message-rules.ts"
import { ownOf, same } from "./same.ts"
import { durationWords, listWords, textWords } from "./words.ts"

/** What a difference in each field of a backend means. */
export const backendRules: FieldRules<Backend> = {
  targets: targetChanges,
  connectMs: (before, after) =>
    after < before
      ? closes(`requests for which a connection takes longer than ${durationWords(after)} fail`)
      : neutral(`a connection may take ${durationWords(after)}`),
  totalMs: (before, after) =>
    after !== null && (before === null || after < before)
      ? closes(`what takes longer than ${durationWords(after)} is answered 504`)
      : neutral(
          `an answer may take ${after === null ? "as long as the route allows" : durationWords(after)}`,
        ),
  firstByteMs: (before, after) =>
    isSooner(before, after)
      ? closes(`an answer that does not begin within ${durationWords(after ?? null)} is replaced by 504`)
      : neutral("the backend has more time until its answer begins"),
  idleMs: (before, after) =>
    isSooner(before, after)
      ? closes(`an answer that pauses for longer than ${durationWords(after ?? null)} is cut off`)
      : neutral("the backend's answer may pause for longer"),
  http2: () => neutral("the backend is spoken to in another version of HTTP"),
  balance: () => neutral("requests are shared among the targets in another way"),
  health: () => neutral("targets are found to be well, or not, in another way"),
  breaker: () => neutral("targets that fail are left alone in another way"),
  retry: (before, after) => {
    const added = (after?.methods ?? []).filter((method) => before?.methods.includes(method) !== true)
    return added.length === 0
      ? neutral("requests are repeated in other cases")
      : breaking(`${listWords(added)} requests may be done twice`)
  },
  authentication: (before, after) => {
    if (before === undefined) return opens("callers act on the backend in the gateway's name")
    if (after === undefined) return noOwnCredentials("the backend")
    return opens("the gateway uses other credentials for the backend: requests run there as another user")
  },
  tls: (before, after) => {
    const findings: Finding[] = []
    if (after.insecure !== before.insecure)
      findings.push(
        after.insecure
          ? opens("anybody on the network path can answer for the backend, and read what is sent to it")
          : closes("the backend has to prove who it is"),
      )
    else if (!after.insecure && !same(before.ca, after.ca))
      findings.push(opens("another authority says who the backend is: servers it vouches for are believed"))
    if (before.certificate === after.certificate) return findings
    if (before.certificate === undefined)
      findings.push(opens("callers act on the backend in the gateway's name"))
    else if (after.certificate === undefined)
      findings.push(breaking("the gateway no longer shows its certificate to the backend"))
    else
      findings.push(
        opens("the gateway shows another certificate to the backend: requests run there as another user"),
      )
    return findings
  },
}

/** Undefined means no bound. */
function isSooner(before: number | undefined, after: number | undefined): boolean {
  return after !== undefined && (before === undefined || after < before)
}

/** An added target now receives what callers send. A removed target has no effect of its own. */
function targetChanges(before: Backend["targets"], after: Backend["targets"]): Finding[] {
  const urlsOf = (targets: Backend["targets"]) => [...new Set(targets.map(({ url }) => textWords(url)))]
  const [old, next] = [urlsOf(before), urlsOf(after)]
  const [added, gone] = [next.filter((url) => !old.includes(url)), old.filter((url) => !next.includes(url))]
  const findings: Finding[] = []
  if (added.length > 0)
    findings.push(
      opens(
        `requests go to ${listWords(added)}${gone.length === old.length ? `, not to ${listWords(gone)}` : " too"}, with what callers send`,
      ),
    )
  else if (gone.length > 0) findings.push(neutral(`no requests go to ${listWords(gone)} any more`))
  else findings.push(neutral("requests are shared among the same targets in another way"))
  const plain = (urls: readonly string[]) => urls.some((url) => !url.startsWith('"https:'))
  if (plain(added) && !plain(old))
    findings.push(
      opens("requests are no longer encrypted: anybody on the network path can read and change them"),
    )
  return findings
}

/** What it means that requests go to another declared backend: the differences between the two, or only the name. */
export function otherBackend(
  before: string,
  after: string,
  bodyBefore: PlanBody,
  bodyAfter: PlanBody,
): Finding[] {
  const [old, next] = [ownOf(bodyBefore.backends, before), ownOf(bodyAfter.backends, after)]
  const where =
    before.startsWith("inline-") || after.startsWith("inline-")
      ? "requests go to another backend"
      : `requests go to \`${after}\`, not to \`${before}\``
  if (old === undefined || next === undefined) return [opens(`${where}, with what callers send`)]
  if (same(old.targets, next.targets))
    return [neutral(`${where}, at the same address`), ...compareFields(backendRules, old, next)]
  const besides = { ...old, targets: next.targets }
  return [
    opens(`${where}, with what callers send`),
    // The first finding about targets is left out, because the names already say where requests go.
    ...targetChanges(old.targets, next.targets).slice(1),
    ...compareFields(backendRules, besides, next),
  ]
}
