import type { FastifyInstance } from "fastify"
import { announcedEnd } from "../plan/lifecycle.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { Database } from "../store/database.ts"
import { readUsage, type UsageField, type UsageGroup } from "../store/usage.ts"
import { quantile } from "../usage/sketch.ts"
import { type UsageAnswer, type UsageLine, type UsageQuestion, usageQuery } from "./api.ts"
import { bodyOf } from "./body.ts"

/** The dependencies of the desk. */
export interface UsageDeskSettings {
  readonly database: Database
  readonly plan: () => PlanBody | null
  /** Writes the usage that this process has counted so far. */
  readonly flush: () => Promise<void>
}

const groupsMax = 10_000

/** An exact amount of money as text, with its currency. */
interface MoneyAmount {
  readonly amount: string
  readonly currency: string
}

/** Twelve decimal digits, the maximum of a price in a plan. */
const digits = 12

/** Answers queries of usage. Calls that other processes counted in the last two seconds may be missing. */
export class UsageDesk {
  readonly #settings: UsageDeskSettings

  constructor(settings: UsageDeskSettings) {
    this.#settings = settings
  }

  async ask(question: UsageQuestion): Promise<UsageAnswer> {
    const { database, flush, plan } = this.#settings
    const deprecated = question.deprecated === "true" ? deprecatedVersions(plan()) : undefined
    const by = fieldsOf(question.by, deprecated !== undefined)
    await flush()
    const groups = await readUsage(database, {
      by,
      since: question.since === undefined ? null : new Date(question.since),
      until: question.until === undefined ? null : new Date(question.until),
      subscription: question.subscription,
      user: question.user,
      product: question.product,
      api: question.api,
      groupsMax: groupsMax + 1,
    })
    const all = groups.map((group) => lineOf(by, group))
    const lines =
      deprecated === undefined
        ? all
        : all.filter(({ key }) => deprecated.has(versionKey(key.api, key.version)))
    return { by, lines: lines.slice(0, groupsMax), cut: groups.length > groupsMax }
  }
}

/** Each field once. A query of deprecated versions also needs the version. */
function fieldsOf(by: readonly UsageField[], deprecated: boolean): UsageField[] {
  if (!deprecated) return [...new Set(by)]
  return [
    ...new Set<UsageField>([
      ...(by.length === 0 ? (["subscription", "user"] as const) : by),
      "api",
      "version",
    ]),
  ]
}

/** Versions with a route whose steps announce a deprecation or a sunset. */
function deprecatedVersions(plan: PlanBody | null): ReadonlySet<string> {
  const found = new Set<string>()
  for (const route of Object.values(plan?.routes ?? {}))
    if (announcedEnd(route, plan?.steps ?? {}) !== undefined)
      found.add(versionKey(route.api, route.version ?? ""))
  return found
}

function versionKey(api = "", version = ""): string {
  return `${api} ${version}`
}

function lineOf(by: readonly UsageField[], group: UsageGroup): UsageLine {
  const { key, calls, bytesIn, bytesOut, billed, latency } = group
  const words = by.map((field, index) => [field, shown(field, key[index] ?? "")])
  const time = (share: number) => {
    const ms = quantile(latency, share)
    return ms === undefined ? null : Number(ms.toPrecision(3))
  }
  return {
    key: Object.fromEntries(words),
    calls,
    billed: [...billed].reduce((sum, [price, count]) => (price === "" ? sum : sum + count), 0),
    bytesIn,
    bytesOut,
    p50: time(0.5),
    p95: time(0.95),
    p99: time(0.99),
    amounts: [...amountsOf(billed)],
  }
}

function shown(field: UsageField, word: string): string {
  if (field !== "status") return word
  return word === "0" ? "none" : `${word}xx`
}

/** `GET /v1/usage`: sums of calls, grouped by the fields of the query. */
export function addUsageRoutes(app: FastifyInstance, desk: UsageDesk): void {
  app.get("/v1/usage", async (request, reply) => {
    const question = bodyOf(usageQuery, request.query, reply)
    return question === undefined ? reply : desk.ask(question)
  })
}

/** The total cost by currency: each price (`0.002 EUR`) times the calls billed at it. Empty without prices. */
export function amountsOf(billed: ReadonlyMap<string, number>): readonly MoneyAmount[] {
  const sums = new Map<string, bigint>()
  for (const [price, calls] of billed) {
    const [value = "", currency] = price.split(" ")
    if (currency === undefined) continue
    sums.set(currency, (sums.get(currency) ?? 0n) + scaled(value) * BigInt(calls))
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, sum]) => ({ amount: text(sum), currency }))
}

function scaled(value: string): bigint {
  const [whole = "0", fraction = ""] = value.split(".")
  return BigInt(whole + fraction.padEnd(digits, "0"))
}

function text(sum: bigint): string {
  const padded = String(sum).padStart(digits + 1, "0")
  const fraction = padded.slice(-digits).replace(/0+$/, "")
  return `${padded.slice(0, -digits)}${fraction === "" ? "" : `.${fraction}`}`
}
