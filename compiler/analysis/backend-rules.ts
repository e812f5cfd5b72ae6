import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Backend } from "../../runtime/plan/resources.ts"
import { breaking, closes, compareFields, type FieldRules, type Finding, neutral, opens } from "./finding.ts"
import { noOwnCredentials } from "./message-rules.ts"
import { ownOf, same } from "./same.ts"
import { durationWords, listWords, textWords } from "./words.ts"

/** What a difference in each field of a backend means. */
export const backendRules: FieldRules<Backend> = {
  targets: targetChanges,
  discovery: (_before, after) =>
    after === undefined
      ? neutral("the targets are those of the plan and no longer looked up")
      : neutral("the targets are found while the gateway runs: requests go to each address of the host"),
  connectMs: (before, after) =>
    after < before
      ? closes(`requests fail when connecting takes longer than ${durationWords(after)}`)
      : neutral(`connecting may take ${durationWords(after)}`),
  totalMs: (before, after) =>
    after !== null && (before === null || after < before)
      ? closes(`requests that take longer than ${durationWords(after)} get 504`)
      : neutral(
          `a response may take ${after === null ? "as long as the route allows" : durationWords(after)}`,
        ),
  firstByteMs: (before, after) =>
    isSooner(before, after)
      ? closes(`a response that does not start within ${durationWords(after ?? null)} is replaced by 504`)
      : neutral("the backend has more time until its response starts"),
  idleMs: (before, after) =>
    isSooner(before, after)
      ? closes(`a response that pauses for longer than ${durationWords(after ?? null)} is cut off`)
      : neutral("the response of the backend may pause for longer"),
  http2: () => neutral("the backend is called with another version of HTTP"),
  balance: () => neutral("requests are distributed over the targets in another way"),
  health: () => neutral("the health of targets is checked in another way"),
  breaker: () => neutral("the breaker for failing targets works in another way"),
  retry: (before, after) => {
    const added = (after?.methods ?? []).filter((method) => before?.methods.includes(method) !== true)
    return added.length === 0
      ? neutral("requests are repeated in other cases")
      : breaking(`${listWords(added)} requests may be carried out twice`)
  },
  authentication: (before, after) => {
    if (before === undefined) return opens("callers reach the backend with the credentials of the gateway")
    if (after === undefined) return noOwnCredentials("the backend")
    return opens("the gateway sends other credentials to the backend: requests run there as another user")
  },
  tls: (before, after) => {
    const findings: Finding[] = []
    if (after.insecure !== before.insecure)
      findings.push(
        after.insecure
          ? opens(
              "the certificate of the backend is not checked: any machine on the network path can pose as the backend and read requests",
            )
          : closes("the certificate of the backend is now checked"),
      )
    else if (!after.insecure && !same(before.ca, after.ca))
      findings.push(opens("another certificate authority is trusted for the backend"))
    if (before.certificate === after.certificate) return findings
    if (before.certificate === undefined)
      findings.push(opens("callers reach the backend with the credentials of the gateway"))
    else if (after.certificate === undefined)
      findings.push(breaking("the gateway no longer sends its client certificate to the backend"))
    else
      findings.push(
        opens(
          "the gateway sends another client certificate to the backend: requests run there as another user",
        ),
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
        `requests go to ${listWords(added)}${gone.length === old.length ? ` instead of ${listWords(gone)}` : " too"}, with the headers and bodies that callers send`,
      ),
    )
  else if (gone.length > 0) findings.push(neutral(`requests no longer go to ${listWords(gone)}`))
  else findings.push(neutral("requests are distributed over the same targets in another way"))
  const plain = (urls: readonly string[]) => urls.some((url) => !url.startsWith('"https:'))
  if (plain(added) && !plain(old))
    findings.push(
      opens("requests are no longer encrypted: any machine on the network path can read and change them"),
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
      : `requests go to \`${after}\` instead of \`${before}\``
  if (old === undefined || next === undefined)
    return [opens(`${where}, with the headers and bodies that callers send`)]
  if (same(old.targets, next.targets))
    return [neutral(`${where}, at the same address`), ...compareFields(backendRules, old, next)]
  const besides = { ...old, targets: next.targets }
  return [
    opens(`${where}, with the headers and bodies that callers send`),
    // The first finding about targets is left out, because the names already say where requests go.
    ...targetChanges(old.targets, next.targets).slice(1),
    ...compareFields(backendRules, besides, next),
  ]
}
