import type { Client } from "pg"
import type { CheckRequest } from "../../../runtime/check/ports.ts"
import { Random } from "../../naive/random.ts"

/** Numbers of objects for about a million tuples with 370,000 names. */
const perMillion = { users: 100_000, groups: 20_000, folders: 50_000, docs: 200_000 }

/** The store of the world. */
export const storeId = "01COLD"

function countsOf(millions: number): typeof perMillion {
  const scaled = Object.entries(perMillion).map(([kind, count]) => [kind, Math.round(count * millions)])
  return Object.fromEntries(scaled) as typeof perMillion
}

/** A number that depends on the row alone, so that all runs have the same world. */
const below = (limit: string, key: string) => `(hashint8extended(${key}, 7)::bit(62)::bigint % ${limit})`

/** Fills an empty, migrated database; resolves to the number of tuples. Indexes come last, which takes a third of the time. */
export async function createWorld(client: Client, millions: number): Promise<number> {
  const { users, groups, folders, docs } = countsOf(millions)
  await client.query("insert into sallyport.stores (id, name, revision) values ($1, 'cold', 1)", [storeId])
  await client.query(
    `insert into sallyport.changes (store_id, revision, ordinal, deleted, object, relation, subject, subject_relation, condition, context, stamp)
     values ($1, 1, 1, false, 'doc:d0', 'parent', 'folder:f0', '', '', '', 'first')`,
    [storeId],
  )
  await client.query("alter table sallyport.tuples drop constraint tuples_pkey")
  await client.query("drop index sallyport.tuples_by_subject")
  const fill = (select: string) =>
    client.query(
      `insert into sallyport.tuples (store_id, object, relation, subject, subject_relation, revision)
       select distinct '${storeId}', t.*, 1 from (${select}) t`,
    )
  await fill(`select 'group:g' || id, 'member', 'user:u' || ${below(`${users}`, "id * 16 + at")}, ''
    from generate_series(0, ${groups - 1}) id, generate_series(0, 9) at`)
  await fill(`select 'group:g' || ${below("id", "id")}, 'member', 'group:g' || id, 'member'
    from generate_series(2, ${groups - 1}, 2) id`)
  await fill(`select 'folder:f' || id, 'parent', 'folder:f' || id / 10, ''
    from generate_series(1, ${folders - 1}) id`)
  await fill(`select 'folder:f' || id, 'viewer', 'group:g' || ${below(`${groups}`, "id")}, 'member'
    from generate_series(0, ${folders - 1}, 2) id`)
  await client.query(
    `insert into sallyport.tuples (store_id, object, relation, subject, subject_relation, revision)
     select '${storeId}', 'doc:d' || id, t.relation, t.subject, '', 1 from generate_series(0, ${docs - 1}) id
     cross join lateral (values
       ('parent', 'folder:f' || ${below(`${folders}`, "id * 4")}),
       ('owner', 'user:u' || ${below(`${users}`, "id * 4 + 1")}),
       ('viewer', 'user:u' || ${below(`${users}`, "id * 4 + 2")})) t(relation, subject)`,
  )
  await client.query(
    "alter table sallyport.tuples add primary key (store_id, object, relation, subject, subject_relation)",
  )
  await client.query(
    "create index tuples_by_subject on sallyport.tuples (store_id, subject, subject_relation, object, relation)",
  )
  await client.query("vacuum analyze sallyport.tuples")
  const { rows } = await client.query("select count(*)::int as tuples from sallyport.tuples")
  return rows[0].tuples
}

/** Checks of random users on random documents: nearly all walk all folders above and all groups of the user, and are false. */
export function* unrelated(millions: number, seed: number): Generator<CheckRequest, never> {
  const { users, docs } = countsOf(millions)
  const random = new Random(seed)
  for (;;)
    yield { user: `user:u${random.below(users)}`, relation: "viewer", object: `doc:d${random.below(docs)}` }
}
