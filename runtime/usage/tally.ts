import { storedKey } from "../store/ids.ts"
import { type UsageRow, unnamedUsers, userMark } from "../store/usage.ts"
import { bucketOf, sketchLength } from "./sketch.ts"

/** One finished call. Unknown names are empty. */
export interface MeteredCall {
  readonly endedAtMs: number
  readonly durationMs: number
  readonly subscription: string
  /** The user of the token. */
  readonly user: string
  readonly product: string
  readonly api: string
  readonly version: string
  readonly operation: string
  /** 0 without a response. */
  readonly status: number
  /** Whether the call is charged by the product's price. */
  readonly billed: boolean
  /** `0.002 EUR`; empty: free. */
  readonly price: string
  readonly bytesIn: number
  readonly bytesOut: number
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type RowKey = Omit<UsageRow, "calls" | "billed" | "bytesIn" | "bytesOut" | "latency">
type OpenRow = Mutable<Omit<UsageRow, "latency">> & { latency: number[] }

const hourMs = 3_600_000

/** Number of users with rows of their own per hour. */
const usersMaxDefault = 1_000

/** Sums of calls in memory: one row for equal calls in one hour. */
export class UsageTally {
  readonly #rowsMax: number
  readonly #names: CallerNames
  #rows = new Map<string, OpenRow>()
  /** The last used row of each operation. */
  #latest = new Map<string, OpenRow>()

  /** At most `rowsMax` rows are kept. */
  constructor(rowsMax: number, usersMax: number = usersMaxDefault) {
    this.#rowsMax = rowsMax
    this.#names = new CallerNames(usersMax)
  }

  /** Counts a call; false if there is no room for its row. */
  add(call: MeteredCall): boolean {
    const bucketMs = Math.floor(call.endedAtMs / hourMs) * hourMs
    const status = Math.min(5, Math.max(0, Math.floor(call.status / 100)))
    const { product, api, version, operation, price } = call
    const subscription = this.#names.of(call.subscription, call.user, bucketMs)
    const row = this.#row({ bucketMs, subscription, product, api, version, operation, status, price })
    if (row === undefined) return false
    row.calls += 1
    if (call.billed) row.billed += 1
    row.bytesIn += call.bytesIn
    row.bytesOut += call.bytesOut
    const bucket = bucketOf(call.durationMs)
    row.latency[bucket] = (row.latency[bucket] ?? 0) + 1
    return true
  }

  /** Removes and returns all rows. */
  drain(): readonly UsageRow[] {
    const rows = [...this.#rows.values()]
    this.#rows = new Map()
    this.#latest = new Map()
    return rows
  }

  #row(key: RowKey): OpenRow | undefined {
    const { bucketMs, subscription, product, api, version, operation, status, price } = key
    // Most calls equal the previous call of the same operation.
    const latest = this.#latest.get(operation)
    if (latest !== undefined && isSameRow(latest, key)) return latest
    const id = `${bucketMs} ${status} ${subscription} ${product} ${price} ${api} ${version} ${operation}`
    const row = this.#rows.get(id) ?? this.#newRow(id, key)
    if (row !== undefined) this.#latest.set(operation, row)
    return row
  }

  #newRow(id: string, key: RowKey): OpenRow | undefined {
    if (this.#rows.size >= this.#rowsMax) return undefined
    const latency = new Array<number>(sketchLength).fill(0)
    const row = { ...key, calls: 0, billed: 0, bytesIn: 0, bytesOut: 0, latency }
    this.#rows.set(id, row)
    return row
  }
}

function isSameRow(row: RowKey, key: RowKey): boolean {
  return (
    row.bucketMs === key.bucketMs &&
    row.status === key.status &&
    row.subscription === key.subscription &&
    row.product === key.product &&
    row.price === key.price &&
    row.api === key.api &&
    row.version === key.version &&
    row.operation === key.operation
  )
}

/**
 * The name by which a call is counted: its subscription, or the user of its token. At most `usersMax` users per hour have their own rows, so that
 * callers cannot fill the database with users. Further users are counted together.
 */
class CallerNames {
  readonly #usersMax: number
  #hour = 0
  #users = new Set<string>()

  constructor(usersMax: number) {
    this.#usersMax = usersMax
  }

  /** `hour`: any number that identifies the hour of the call. */
  of(subscription: string, user: string, hour: number): string {
    if (subscription !== "" || user === "") return subscription
    if (hour !== this.#hour) {
      this.#hour = hour
      this.#users = new Set()
    }
    if (!this.#users.has(user)) {
      if (this.#users.size >= this.#usersMax) return `${userMark}${unnamedUsers}`
      this.#users.add(user)
    }
    return `${userMark}${storedKey(user)}`
  }
}
