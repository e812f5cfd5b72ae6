import { addressText, type DeclaredListener, type ListenerTlsPlan } from "../../runtime/plan/resources.ts"
import { breaking, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listChanges, same } from "../analysis/same.ts"
import { durationWords, listWords, referenceWords, textWords } from "../analysis/words.ts"
import { clientCertificateFindings, clientCertificateWords } from "./client-certificate-changes.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** Whose listeners are compared, and who reaches a new address. */
interface Side {
  readonly scope: UnplacedChange["scope"]
  readonly path: string
  readonly reach: (listener: DeclaredListener) => Finding
}

/** Addresses, and how clients reach them. A removed address breaks its clients unless another listener covers it. */
export function listenerChanges(
  { scope, path, reach }: Side,
  before: readonly DeclaredListener[],
  after: readonly DeclaredListener[],
): UnplacedChange[] {
  const about = (listener: DeclaredListener) =>
    ({ subject: { kind: "listener", name: addressWords(listener) }, scope, path }) as const
  const at = (list: readonly DeclaredListener[], listener: DeclaredListener) =>
    list.find((each) => addressWords(each) === addressWords(listener))
  const removed = before.filter((each) => at(after, each) === undefined)
  const added = after.filter((each) => at(before, each) === undefined)
  const changed = after.flatMap((next) => {
    const old = at(before, next)
    if (old === undefined || same(old, next)) return []
    const words = { before: listenerWords(old), after: listenerWords(next) }
    return [changeOf({ ...about(next), action: "changed", ...words }, transportFindings(old, next))]
  })
  const found = [
    ...removed.map((each) => {
      const other = after.find((wide) => takesOver(wide, each))
      return changeOf(
        { ...about(each), action: "removed", before: listenerWords(each) },
        other === undefined
          ? breaking("clients can no longer connect to this address")
          : [neutral("another listener accepts its connections"), ...transportFindings(each, other)],
      )
    }),
    ...added.map((each) =>
      changeOf({ ...about(each), action: "added", after: listenerWords(each) }, reach(each)),
    ),
    ...changed,
  ]
  if (found.length > 0 || same(before, after)) return found
  // The same addresses, but not the same text: a digest changed, so the difference must be said.
  const words = (list: readonly DeclaredListener[]) => list.map(listenerWords).join("; ")
  const [first] = after
  return first === undefined
    ? []
    : [
        changeOf(
          { ...about(first), action: "changed", before: words(before), after: words(after) },
          neutral("the same addresses, listed in another way"),
        ),
      ]
}

/** A listener as it is written in gateway.conf. */
export function listenerWords(listener: DeclaredListener): string {
  const { tls, redirect, proxies, http2, grpc } = listener
  const inside = [
    ...(proxies === undefined ? [] : [`proxy-protocol ${proxies.join(" ")}`]),
    ...(tls === undefined ? [] : [`tls { ${tlsWords(tls)} }`]),
    ...(http2 === undefined ? [] : [`http2 ${http2 ? "on" : "off"}`]),
    ...(grpc === true ? ["grpc"] : []),
    ...(redirect === undefined ? [] : [["redirect https", redirect.port ?? []].flat().join(" ")]),
  ]
  return `listen ${addressWords(listener)}${inside.length === 0 ? "" : ` { ${inside.join("; ")} }`}`
}

/** An address as it is written: `127.0.0.1:8000`, `env(NAME)`, `"${host}:8000"`. */
function addressWords(listener: DeclaredListener): string {
  if (!("at" in listener)) return addressText(listener)
  return "env" in listener.at ? referenceWords(listener.at) : textWords(listener.at)
}

function tlsWords({
  certificates,
  profile,
  unknownHosts,
  clientCertificates = [],
  hsts,
}: ListenerTlsPlan): string {
  return [
    `certificate ${certificates.join(" ")}`,
    ...(profile === undefined ? [] : [`profile ${profile}`]),
    ...(unknownHosts === undefined ? [] : [`unknown-host ${unknownHosts}`]),
    ...clientCertificates.map(clientCertificateWords),
    ...(hsts === undefined ? [] : [hstsWords(hsts)]),
  ].join("; ")
}

function hstsWords({ maxAgeSeconds, subdomains, preload }: NonNullable<ListenerTlsPlan["hsts"]>): string {
  const more = `${subdomains === true ? " subdomains" : ""}${preload === true ? " preload" : ""}`
  return `hsts ${durationWords(maxAgeSeconds * 1000)}${more}`
}

/** What another way to reach the same address means for clients. */
function transportFindings(before: DeclaredListener, after: DeclaredListener): Finding[] {
  return [
    ...proxyFindings(before.proxies ?? [], after.proxies ?? []),
    ...tlsFindings(before.tls, after.tls),
    ...(before.grpc === after.grpc ? http2Findings(before, after) : [grpcFinding(after.grpc)]),
    ...redirectFindings(before.redirect, after.redirect),
  ]
}

/** Who may say another address than its own, and who must. */
function proxyFindings(before: readonly string[], after: readonly string[]): Finding[] {
  const { removed, added } = listChanges(before, after)
  const named = (networks: readonly string[]) => listWords(networks.map((each) => `\`${each}\``))
  return [
    ...(added.length === 0
      ? []
      : [
          opens(`connections from ${named(added)} may name any address as that of the client`),
          breaking(`connections from ${named(added)} without a PROXY header are closed`),
        ]),
    ...(removed.length === 0
      ? []
      : [breaking(`connections from ${named(removed)} that begin with a PROXY header are refused`)]),
  ]
}

/** Clients that negotiate use HTTP/1.1 instead; gRPC needs HTTP/2, and so do clients that do not negotiate. */
function http2Findings(before: DeclaredListener, after: DeclaredListener): Finding[] {
  // Other clients than before can connect, which says enough.
  if ((before.tls === undefined) !== (after.tls === undefined)) return []
  const [old, next] = [before, after].map(({ http2, tls }) => http2 ?? tls !== undefined)
  if (old === next) return []
  return [
    next === true
      ? neutral("clients may use HTTP/2, too")
      : breaking("clients can no longer use HTTP/2 at this address: gRPC needs it"),
  ]
}

function grpcFinding(grpc: DeclaredListener["grpc"]): Finding {
  return breaking(
    grpc === true
      ? "clients of the HTTP API can no longer use this address: it serves gRPC"
      : "clients of gRPC can no longer use this address: it serves the HTTP API",
  )
}

function tlsFindings(before: DeclaredListener["tls"], after: DeclaredListener["tls"]): Finding[] {
  if (before === undefined)
    return after === undefined
      ? []
      : [
          breaking("clients must use HTTPS at this address: plain HTTP gets 400"),
          ...clientCertificateFindings(undefined, after.clientCertificates),
        ]
  if (after === undefined)
    return [
      opens("requests, with their tokens and keys, are no longer encrypted at this address"),
      ...clientCertificateFindings(before.clientCertificates, undefined),
      breaking("clients can no longer connect by HTTPS at this address"),
    ]
  return [
    ...certificateFindings(before.certificates, after.certificates),
    ...profileFindings(before.profile, after.profile),
    ...unknownHostFindings(before.unknownHosts, after.unknownHosts),
    ...clientCertificateFindings(before.clientCertificates, after.clientCertificates),
    ...hstsFindings(before.hsts, after.hsts),
  ]
}

function certificateFindings(before: readonly string[], after: readonly string[]): Finding[] {
  const gone = before.filter((each) => !after.includes(each))
  const fresh = after.filter((each) => !before.includes(each))
  const named = (names: readonly string[]) => listWords(names.map((name) => `\`${name}\``))
  const [oldFirst, nextFirst] = [before[0], after[0]]
  const found = [
    ...(gone.length === 0 ? [] : [breaking(`hosts of the certificate ${named(gone)} may have none`)]),
    ...(fresh.length === 0 ? [] : [neutral(`hosts of the certificate ${named(fresh)} have one`)]),
    ...(oldFirst === nextFirst
      ? []
      : [
          breaking(
            `clients that name no host get the certificate \`${nextFirst}\` instead of \`${oldFirst}\``,
          ),
        ]),
  ]
  if (found.length > 0 || same(before, after)) return found
  return [neutral("for a host that several certificates have, another one may be used")]
}

function profileFindings(before: ListenerTlsPlan["profile"], after: ListenerTlsPlan["profile"]): Finding[] {
  if (before === after) return []
  return [
    after === "modern"
      ? breaking("clients without TLS 1.3 can no longer connect")
      : opens("clients may also use TLS 1.2"),
  ]
}

function unknownHostFindings(
  before: ListenerTlsPlan["unknownHosts"],
  after: ListenerTlsPlan["unknownHosts"],
): Finding[] {
  if (before === after) return []
  return [
    after === "refuse"
      ? breaking("clients that name no host, or one without a certificate, can no longer connect")
      : neutral("clients that name no host, or one without a certificate, get the first certificate"),
  ]
}

/** Browsers obey the last field they received: a shorter time or fewer hosts let them use plain HTTP again, the opposite forbids it. */
function hstsFindings(before: ListenerTlsPlan["hsts"], after: ListenerTlsPlan["hsts"]): Finding[] {
  if (same(before, after)) return []
  const weaker =
    (after?.maxAgeSeconds ?? 0) < (before?.maxAgeSeconds ?? 0) ||
    (before?.subdomains === true && after?.subdomains !== true)
  const stronger =
    (after?.maxAgeSeconds ?? 0) > (before?.maxAgeSeconds ?? 0) ||
    (after?.subdomains === true && before?.subdomains !== true)
  return [
    ...(weaker ? [opens("browsers may use plain HTTP again, for some hosts or sooner")] : []),
    ...(stronger
      ? [breaking("browsers use only HTTPS, for more hosts or longer; this cannot be taken back")]
      : []),
    ...(weaker || stronger ? [] : [neutral("only the request to be on the browsers' common list differs")]),
  ]
}

function redirectFindings(
  before: DeclaredListener["redirect"],
  after: DeclaredListener["redirect"],
): Finding[] {
  if (same(before, after)) return []
  if (after === undefined) return [opens("requests by plain HTTP are served again, unencrypted")]
  return [
    before === undefined
      ? breaking("requests by plain HTTP get 308 to HTTPS instead of their response")
      : neutral(`redirects name ${portWords(after)} instead of ${before.port ?? portWords(before)}`),
  ]
}

function portWords({ port }: NonNullable<DeclaredListener["redirect"]>): string {
  return port === undefined ? "the port of the first listener with TLS" : `port ${port}`
}

/** `0.0.0.0` listens on every IPv4 address, `::` on every address. */
function takesOver(wide: DeclaredListener, narrow: DeclaredListener): boolean {
  if ("at" in wide || "at" in narrow) return false
  const { host, port } = narrow
  return wide.port === port && (wide.host === "::" || (wide.host === "0.0.0.0" && !host.includes(":")))
}
