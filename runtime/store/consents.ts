import type { PreparedStatement, Queryable } from "./database.ts"

/** The running plan that a consent is over; serial 0: none. */
export interface ConsentBase {
  readonly serial: number
  readonly stamp: string
}

/** A consent to a plan that was not applied yet. */
export interface StoredConsent {
  /** Of the plan. */
  readonly digest: string
  /** Of whom: there is one consent of each to a plan. */
  readonly identity: string
  /** JSON. */
  readonly consent: string
}

const put: PreparedStatement = {
  name: "consent-put",
  text: `insert into sallyport.plan_consents (base_serial, base_stamp, digest, identity, consent)
    values ($1, $2, $3, $4, $5)
    on conflict (base_serial, base_stamp, digest, identity) do update set consent = excluded.consent`,
}
const remove: PreparedStatement = {
  name: "consent-remove",
  text: `delete from sallyport.plan_consents
    where base_serial = $1 and base_stamp = $2 and digest = $3 and identity = $4`,
}
const list: PreparedStatement = {
  name: "consent-list",
  text: `select digest, identity, consent from sallyport.plan_consents
    where base_serial = $1 and base_stamp = $2 order by digest, identity limit 1000`,
}
const removeOld: PreparedStatement = {
  name: "consent-remove-old",
  text: "delete from sallyport.plan_consents where base_serial <= $1",
}

/** Stores a consent over the running plan; replaces an earlier one to the same plan. */
export async function putConsent(
  database: Queryable,
  base: ConsentBase,
  { digest, identity, consent }: StoredConsent,
): Promise<void> {
  await database.query(put, [base.serial, base.stamp, digest, identity, consent])
}

/** Withdraws a consent. */
export async function removeConsent(
  database: Queryable,
  base: ConsentBase,
  { digest, identity }: Pick<StoredConsent, "digest" | "identity">,
): Promise<void> {
  await database.query(remove, [base.serial, base.stamp, digest, identity])
}

/** All consents over the running plan. */
export async function listConsents(
  database: Queryable,
  base: ConsentBase,
): Promise<readonly StoredConsent[]> {
  const rows = await database.query<[string, string, string]>(list, [base.serial, base.stamp])
  return rows.map(([digest, identity, consent]) => ({ digest, identity, consent }))
}

/** Deletes consents over plans up to this serial: no plan replaces those any more. */
export async function removeOldConsents(database: Queryable, serial: number): Promise<void> {
  await database.query(removeOld, [serial])
}
