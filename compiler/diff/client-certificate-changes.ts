import type { ClientCertificatePlan } from "../../runtime/plan/resources.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listChanges, same } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"

type Demands = readonly ClientCertificatePlan[] | undefined

/** A statement as it is written in gateway.conf. */
export function clientCertificateWords({
  demand,
  hosts = [],
  ca,
  revoked = [],
}: ClientCertificatePlan): string {
  const files = (keyword: string, list: ClientCertificatePlan["ca"]) =>
    list.map(({ file }) => `${keyword} file(${JSON.stringify(file)})`)
  const names = hosts.map((host) => ` ${JSON.stringify(host)}`).join("")
  return `client-certificate ${demand}${names} { ${[...files("ca", ca), ...files("revoked", revoked)].join("; ")} }`
}

/** What other rules for client certificates at one address mean, compared host by host. */
export function clientCertificateFindings(before: Demands = [], after: Demands = []): Finding[] {
  if (same(before, after)) return []
  const hosts = new Set([...before, ...after].flatMap((each) => each.hosts ?? [""]))
  const found = [...hosts]
    .toSorted()
    .flatMap((host) => compared(ruleOf(before, host), ruleOf(after, host)).map((each) => ({ each, host })))
  const words = new Map<string, { readonly finding: Finding; readonly hosts: string[] }>()
  for (const { each, host } of found) {
    const key = `${each.risk} ${each.why}`
    const known = words.get(key) ?? { finding: each, hosts: [] }
    known.hosts.push(host)
    words.set(key, known)
  }
  const all = [...words.values()].map(({ finding, hosts: at }) => ({
    ...finding,
    why: `${placeOf(at)}${finding.why}`,
  }))
  return all.length > 0 ? all : [neutral("client certificates: the same rules, written in another way")]
}

/** The rule for clients of a host; empty: those of all other hosts. */
function ruleOf(demands: readonly ClientCertificatePlan[], host: string): ClientCertificatePlan | undefined {
  const own = demands.find(({ hosts }) =>
    host === "" ? hosts === undefined : hosts?.includes(host) === true,
  )
  return own ?? demands.find(({ hosts }) => hosts === undefined)
}

function placeOf(hosts: readonly string[]): string {
  if (hosts.includes("")) return ""
  return `for ${listWords(hosts.map((host) => `\`${host}\``))}: `
}

function compared(
  before: ClientCertificatePlan | undefined,
  after: ClientCertificatePlan | undefined,
): readonly Finding[] {
  if (before === undefined && after === undefined) return []
  if (before === undefined)
    return [
      after?.demand === "require"
        ? closes("clients without a valid certificate can no longer send requests")
        : neutral("clients are asked for a certificate"),
    ]
  if (after === undefined)
    return [
      before.demand === "require"
        ? opens("clients no longer need a certificate")
        : breaking("clients are no longer asked for a certificate, so `auth certificate` refuses them"),
    ]
  return [
    ...(before.demand === after.demand
      ? []
      : [
          after.demand === "require"
            ? closes("clients without a valid certificate can no longer send requests")
            : opens("clients without a valid certificate are served where no statement refuses them"),
        ]),
    ...authorityFindings(before.ca, after.ca),
    ...revokedFindings(before.revoked, after.revoked),
  ]
}

function authorityFindings(
  before: ClientCertificatePlan["ca"],
  after: ClientCertificatePlan["ca"],
): Finding[] {
  const { removed, added } = listChanges(before, after)
  return [
    ...(added.length === 0 ? [] : [opens(`client certificates of ${filesText(added)} are accepted`)]),
    ...(removed.length === 0 ? [] : [closes(`client certificates of ${filesText(removed)} are refused`)]),
  ]
}

function revokedFindings(
  before: ClientCertificatePlan["revoked"],
  after: ClientCertificatePlan["revoked"],
): Finding[] {
  if (after === undefined)
    return before === undefined ? [] : [opens("revoked client certificates are accepted again")]
  if (before === undefined)
    return [
      closes(
        "client certificates are refused when they are revoked, or no valid list covers their authorities",
      ),
    ]
  const { removed, added } = listChanges(before, after)
  return [
    ...(added.length === 0
      ? []
      : [closes(`client certificates that ${filesText(added)} revokes are refused`)]),
    ...(removed.length === 0
      ? []
      : [
          // Another list of the same authority may make up for it; the plan does not contain the files.
          opens(
            `${filesText(removed)} no longer revokes client certificates; those of its authority may be refused`,
          ),
        ]),
  ]
}

function filesText(files: ClientCertificatePlan["ca"]): string {
  return listWords(files.map(({ file }) => `\`${file}\``))
}
