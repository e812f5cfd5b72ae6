import { isIPv6 } from "node:net"
import { stepReads } from "../../runtime/expression/step-reads.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import {
  type CredentialStep,
  expressionsOf,
  isCredential,
  kindFacts,
  type Step,
  type StepId,
  shownTo,
} from "../../runtime/plan/steps.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"
import { isTokenRequest } from "./recorded-world.ts"

/** What a step needs of a request that a record may lack. */
interface StepNeeds {
  /** `header:NAME`, `query:NAME`, `response:NAME`, as a record names what was left out. */
  readonly parts: readonly string[]
  readonly requestBody: boolean
  readonly responseBody: boolean
  /** It judges networks that are smaller than those that are recorded. */
  readonly wholeIp: boolean
  readonly claims: readonly string[]
  readonly credential: CredentialStep | undefined
}

/** Kinds of credentials that a replay cannot show, in words. */
const unplayed = {
  password: "passwords",
  certificate: "client certificates",
  signature: "signatures",
  session: "logins",
} as const

const bodies = "the plan reads a body, and bodies are not recorded"

/** Finds what the steps of a plan need and a record does not have. */
export class Lacks {
  readonly #plan: PlanBody
  readonly #needs = new Map<StepId, StepNeeds>()

  constructor(plan: PlanBody) {
    this.#plan = plan
  }

  /** The first thing that is missing for the steps that ran, except the `known` ones; undefined: nothing. */
  of(recorded: RecordedRequest, passage: Passage, known: ReadonlySet<StepId>): string | undefined {
    if (passage.sent.some(({ backend, target, body }) => backend === undefined && !isPlayed(target, body)))
      return "the plan asks another service, and its responses are not recorded"
    for (const run of passage.steps) {
      if (known.has(run.id)) continue
      const needs = this.#needsOf(run.id)
      const lack = needs === undefined ? undefined : lackOf(needs, recorded, run.outcome === "answered")
      if (lack !== undefined) return lack
    }
    return undefined
  }

  #needsOf(id: StepId): StepNeeds | undefined {
    let needs = this.#needs.get(id)
    const step = this.#plan.steps[id]
    if (needs === undefined && step !== undefined) {
      needs = needsOf(step)
      this.#needs.set(id, needs)
    }
    return needs
  }
}

/** Requests that are answered without a record: for the gateway's own tokens. */
function isPlayed(target: string, body: Buffer): boolean {
  return target.includes("/.well-known/") || isTokenRequest(body)
}

function lackOf(needs: StepNeeds, recorded: RecordedRequest, isRefusal: boolean): string | undefined {
  const part = needs.parts.find((each) => recorded.left.includes(each))
  if (part !== undefined) return `the plan reads the ${partWords(part)}, which is not recorded`
  if (needs.requestBody && recorded.bodyBytes !== 0) return bodies
  if (needs.responseBody) return bodies
  if (needs.wholeIp && !recorded.wholeIp)
    return "the plan judges small networks, and only networks of addresses are recorded"
  const claim = needs.claims.find((each) => recorded.claimsLeft?.includes(each))
  if (claim !== undefined) return `the plan reads the claim \`${claim}\`, which is not recorded`
  return needs.credential === undefined ? undefined : credentialLack(needs.credential, recorded, isRefusal)
}

/** A credential that was sent and that the old plan did not check may be valid. */
function credentialLack(
  step: CredentialStep,
  recorded: RecordedRequest,
  isRefusal: boolean,
): string | undefined {
  const shown = shownTo(step)
  if (shown.is !== "token" && shown.is !== "key") return `${unplayed[shown.is]} are not replayed`
  const has = shown.is === "token" ? recorded.claims : recorded.subscription
  if (!isRefusal || has !== undefined) return undefined
  const places =
    shown.is === "key"
      ? [`header:${shown.header?.toLowerCase()}`, `query:${shown.query}`]
      : "header" in shown.from
        ? [`header:${shown.from.header.toLowerCase()}`]
        : "query" in shown.from
          ? [`query:${shown.from.query}`]
          : ["header:cookie"]
  return places.some((place) => recorded.left.includes(place))
    ? "the caller sent a credential that the old plan did not check"
    : undefined
}

function partWords(part: string): string {
  const at = part.indexOf(":")
  const [kind, name] = [part.slice(0, at), part.slice(at + 1)]
  const noun = kind === "query" ? "query parameter" : kind === "header" ? "header" : "header of the response"
  return `${noun} \`${name}\``
}

/** Roles whose steps do the same with a pseudonym as with the subject: they pass it on, or ask about it. */
const takesPseudonyms: ReadonlySet<string> = new Set(["permission", "limit", "observe", "change", "send"])

function needsOf(step: Step): StepNeeds {
  const credential = isCredential(step) ? step : undefined
  const places = credential === undefined ? stepReads(step) : []
  const parts = places.flatMap((place) => {
    const [, kind = "", name = ""] =
      /^(request\.header|request\.query|response\.header):(.+)$/.exec(place) ?? []
    if (name === "" || name === "*") return []
    return [
      `${kind === "request.header" ? "header" : kind === "request.query" ? "query" : "response"}:${name}`,
    ]
  })
  const claims = claimsOf(step)
  return {
    parts,
    requestBody: places.includes("request.body") && kindFacts(step.kind).role !== "send",
    responseBody: places.includes("response.body"),
    wholeIp: step.kind === "ip-filter" && judgesSmallNetworks(step),
    claims: takesPseudonyms.has(kindFacts(step.kind).role) ? claims.filter((name) => name !== "sub") : claims,
    credential,
  }
}

/** The names of claims that a step reads, by its rules and its expressions. */
function claimsOf(step: Step): string[] {
  const rules =
    isCredential(step) && "claims" in step ? step.claims.map(({ claim }) => claim.split(".")[0] ?? "") : []
  const texts = expressionsOf(step).flatMap((expression) =>
    expression.lang === "cel" ? [expression.text] : [],
  )
  const read = texts.flatMap((text) =>
    [...text.matchAll(/\bjwt(?:\.(\w+)|\[["']([^"']+)["']\])/g)].map(
      ([, field, member]) => field ?? member ?? "",
    ),
  )
  return [...rules, ...read]
}

/** Smaller than /24 or /48, or a range. */
function judgesSmallNetworks({ networks, ranges }: Extract<Step, { readonly kind: "ip-filter" }>): boolean {
  return (
    ranges.length > 0 ||
    networks.some((network) => {
      const [address = "", bits] = network.split("/")
      const most = isIPv6(address) ? 48 : 24
      return bits === undefined || Number(bits) > most
    })
  )
}
