import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { storedKey } from "./ids.ts"
import { noticesOf } from "./notices.ts"

/** The stored state of a certificate from ACME. Times in milliseconds since 1970; null: not known. */
export interface AcmeRecord {
  readonly id: string
  /** Raised with each new certificate. */
  readonly version: number
  /** Encrypted; null: there is none, or its version is the one that the caller knows. */
  readonly sealed: string | null
  readonly notAfterMs: number | null
  readonly renewAtMs: number | null
  /** When to ask the authority for a time of renewal. */
  readonly suggestAtMs: number | null
  /** Failed orders since the last certificate. */
  readonly failures: number
  readonly retryAtMs: number | null
  readonly reason: string
  /** The settings of the last failed order. */
  readonly tried: string
  /** Whether a process is ordering now. */
  readonly held: boolean
}

type Row = [
  id: string,
  version: number,
  sealed: string | null,
  notAfter: Date | null,
  renewAt: Date | null,
  suggestAt: Date | null,
  failures: number,
  retryAt: Date | null,
  reason: string,
  tried: string,
  held: boolean,
]

/** The longest time of an order: a process that died in one keeps others waiting this long. */
export const acmeHoldSeconds = 300

const known: PreparedStatement = {
  name: "acme-read",
  text: `select c.id, c.version, case when c.version = k.version then null else c.sealed end, c.not_after, c.renew_at, c.suggest_at, c.failures,
      c.retry_at, c.reason, c.tried, coalesce(c.held_until > now(), false)
    from unnest($1::text[], $2::bigint[]) as k (id, version) join sallyport.acme_certificates c on c.id = k.id`,
}
const add: PreparedStatement = {
  name: "acme-add",
  text: "insert into sallyport.acme_certificates (id, lineage) select * from unnest($1::text[], $2::text[]) on conflict (id) do nothing",
}
const earlier: PreparedStatement = {
  name: "acme-earlier",
  text: `select id, sealed from sallyport.acme_certificates where lineage = $1 and sealed is not null and not_after > now()
    order by not_after desc limit 1`,
}
const forget: PreparedStatement = {
  name: "acme-forget",
  text: "delete from sallyport.acme_certificates where not_after < now() - interval '90 days' and id <> $1",
}
const hold: PreparedStatement = {
  name: "acme-hold",
  text: `update sallyport.acme_certificates set holder = $2, held_until = now() + interval '${acmeHoldSeconds} seconds'
    where id = $1 and version = $3 and failures = $4 and (held_until is null or held_until <= now()) returning id`,
}
const release: PreparedStatement = {
  name: "acme-release",
  text: `update sallyport.acme_certificates set held_until = null, renew_at = coalesce($3, renew_at), suggest_at = $4
    where id = $1 and holder = $2 returning id`,
}
const issued: PreparedStatement = {
  name: "acme-issued",
  text: `update sallyport.acme_certificates set sealed = $3, version = version + 1, not_after = $4, renew_at = $5, suggest_at = $6, failures = 0,
    retry_at = null, reason = '', held_until = null where id = $1 and holder = $2 returning id`,
}
const failed: PreparedStatement = {
  name: "acme-failed",
  text: `update sallyport.acme_certificates set failures = failures + 1, retry_at = $3, reason = $4, tried = $5, held_until = null
    where id = $1 and holder = $2 returning id`,
}
const addAccount: PreparedStatement = {
  name: "acme-account-add",
  text: "insert into sallyport.acme_accounts (id, sealed) values ($1, $2) on conflict (id) do nothing",
}
const findAccount: PreparedStatement = {
  name: "acme-account-find",
  text: "select sealed from sallyport.acme_accounts where id = $1",
}
const addResponse: PreparedStatement = {
  name: "acme-challenge-add",
  text: `insert into sallyport.acme_challenges (token, host, response, expires_at)
    values ($1, $2, $3, now() + interval '${acmeHoldSeconds} seconds')
    on conflict (token) do update set host = excluded.host, response = excluded.response, expires_at = excluded.expires_at`,
}
const byToken: PreparedStatement = {
  name: "acme-challenge-by-token",
  text: "select response from sallyport.acme_challenges where token = $1 and expires_at > now()",
}
const byHost: PreparedStatement = {
  name: "acme-challenge-by-host",
  text: `select response from sallyport.acme_challenges where host = $1 and expires_at > now() order by expires_at desc limit 1`,
}
const removeResponses: PreparedStatement = {
  name: "acme-challenge-remove",
  text: "delete from sallyport.acme_challenges where token = any($1::text[]) or expires_at <= now()",
}

const topic = "certificates"
const reasonMax = 1_000

/** A record that a process reads. `lineage`: see the migration; `version`: the one whose certificate the process has, or 0. */
export interface WantedRecord extends Pick<AcmeRecord, "id" | "version"> {
  readonly lineage: string
}

/** The records of certificates. Missing ones are added. */
export async function readAcme(
  database: Queryable,
  wanted: readonly WantedRecord[],
): Promise<readonly AcmeRecord[]> {
  const ids = wanted.map(({ id }) => id)
  const parameters = [ids, wanted.map(({ version }) => version)]
  const rows = await database.query<Row>(known, parameters)
  if (rows.length === ids.length) return rows.map(recordOf)
  await database.query(add, [ids, wanted.map(({ lineage }) => lineage)])
  return (await database.query<Row>(known, parameters)).map(recordOf)
}

/** The valid certificate of a lineage that ends last, with the id of its record; undefined: there is none. */
export async function findEarlier(
  database: Queryable,
  lineage: string,
): Promise<{ readonly id: string; readonly sealed: string } | undefined> {
  const [row] = await database.query<[string, string]>(earlier, [lineage])
  return row === undefined ? undefined : { id: row[0], sealed: row[1] }
}

/**
 * Reserves the order of a certificate for one process of the fleet, for five minutes at most. False: another process has it, or the record is not the
 * one that the caller has read.
 */
export async function holdAcme(
  database: Queryable,
  holder: string,
  { id, version, failures }: Pick<AcmeRecord, "id" | "version" | "failures">,
): Promise<boolean> {
  return (await database.query(hold, [id, holder, version, failures])).length > 0
}

/** Ends a reservation without an order; `renewAtMs`: another time of renewal. */
export async function releaseAcme(
  database: Queryable,
  holder: string,
  id: string,
  { renewAtMs, suggestAtMs }: Pick<AcmeRecord, "renewAtMs" | "suggestAtMs">,
): Promise<void> {
  await database.query(release, [id, holder, dateOf(renewAtMs), dateOf(suggestAtMs)])
}

/** Stores a new certificate, and tells other processes. */
export async function storeIssued(
  database: Database,
  holder: string,
  record: Pick<AcmeRecord, "id" | "sealed" | "notAfterMs" | "renewAtMs" | "suggestAtMs">,
): Promise<void> {
  const { id, sealed, notAfterMs, renewAtMs, suggestAtMs } = record
  const times = [dateOf(notAfterMs), dateOf(renewAtMs), dateOf(suggestAtMs)]
  await database.query(issued, [id, holder, sealed, ...times])
  await database.query(forget, [id])
  noticesOf(database).announce(topic)
}

/** Stores why an order failed, and when the next one may begin. */
export async function storeFailure(
  database: Queryable,
  holder: string,
  { id, retryAtMs, reason, tried }: Pick<AcmeRecord, "id" | "retryAtMs" | "reason" | "tried">,
): Promise<void> {
  await database.query(failed, [
    id,
    holder,
    dateOf(retryAtMs),
    reason.replaceAll("\u0000", "").slice(0, reasonMax),
    tried,
  ])
}

/** Stores the encrypted key of an account, unless there is one. Returns the stored one. */
export async function keepAccount(database: Queryable, id: string, sealed: string): Promise<string> {
  await database.query(addAccount, [id, sealed])
  return (await findAcmeAccount(database, id)) ?? sealed
}

/** The encrypted key of an account; undefined: there is none. */
export async function findAcmeAccount(database: Queryable, id: string): Promise<string | undefined> {
  const [row] = await database.query<[string]>(findAccount, [id])
  return row?.[0]
}

/** Publishes the response to a challenge, for all processes, while an order runs. */
export async function publishResponse(
  database: Queryable,
  challenge: { readonly token: string; readonly host: string; readonly response: string },
): Promise<void> {
  await database.query(addResponse, [challenge.token, challenge.host, challenge.response])
}

/** The response to a challenge, by its token or by the host that it is about; undefined: there is none. */
export async function findResponse(
  database: Queryable,
  by: { readonly token: string } | { readonly host: string },
): Promise<string | undefined> {
  const [row] = await ("token" in by
    ? database.query<[string]>(byToken, [storedKey(by.token)])
    : database.query<[string]>(byHost, [storedKey(by.host)]))
  return row?.[0]
}

/** Withdraws responses, and all that are out of date. */
export async function withdrawResponses(database: Queryable, tokens: readonly string[]): Promise<void> {
  await database.query(removeResponses, [tokens])
}

/** Calls back when another process has stored a certificate. Returns a function that stops listening. */
export function listenToAcme(database: Database, onChanged: () => void): () => void {
  return noticesOf(database).listen(topic, onChanged)
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

function recordOf(row: Row): AcmeRecord {
  const [id, version, sealed, notAfter, renewAt, suggestAt, failures, retryAt, reason, tried, held] = row
  return {
    ...{ id, version, sealed, failures, reason, tried, held },
    notAfterMs: notAfter?.getTime() ?? null,
    renewAtMs: renewAt?.getTime() ?? null,
    suggestAtMs: suggestAt?.getTime() ?? null,
    retryAtMs: retryAt?.getTime() ?? null,
  }
}
