import { SourceUnavailable } from "../check/ports.ts"
import type { Database, OptionalCapability, PreparedStatement, Transaction } from "./database.ts"
import { isSchemaFault, sqlStateOf, treatmentOf } from "./fault.ts"

/** Something the product uses of a server, where servers with PostgreSQL's protocol differ. */
export interface Capability {
  readonly name: string
  readonly isPresent: boolean
  /** The server's reply when it is missing; else undefined. */
  readonly reason: string | undefined
  /** What happens without it; undefined: Sallyport cannot work without it. */
  readonly without: string | undefined
}

/** A statement that needs it, and the rows it must return; absent: any. */
interface Trial {
  readonly text: string
  readonly rows?: readonly (readonly unknown[])[]
}

interface Use {
  readonly name: string
  readonly trials: readonly Trial[]
  /** They use the tables that `migrate` creates first, to which a process may have fewer rights. */
  readonly onTables?: boolean
  /** Runs in a transaction of its own kind: one snapshot. */
  readonly snapshot?: boolean
  /** What happens without it; absent: Sallyport cannot work without it. */
  readonly without?: string
  /** Its name in `Database.missing`, when statements have another way. */
  readonly optional?: OptionalCapability
}

/** The trials change nothing: each use is tried in a transaction that is rolled back. */
const uses: readonly Use[] = [
  {
    name: "row locks (`for update`)",
    onTables: true,
    trials: [{ text: "select name from sallyport.migrations limit 1 for update" }],
  },
  {
    name: "snapshots (repeatable read, read only)",
    snapshot: true,
    trials: [
      {
        text: "select current_setting('transaction_isolation') in ('repeatable read', 'serializable')",
        rows: [[true]],
      },
    ],
  },
  {
    name: "arrays as tables (`unnest … with ordinality`)",
    trials: [
      {
        text: "select a, b, at from unnest(array['x', 'y']::text[], array[1, 2]::integer[]) with ordinality as t(a, b, at) order by at",
        rows: [
          ["x", 1, 1],
          ["y", 2, 2],
        ],
      },
    ],
  },
  {
    name: "lateral joins",
    trials: [
      {
        text: "select k.a, found.b from unnest(array[1, 2]::integer[]) as k(a) cross join lateral (select k.a + 1 as b limit 1) found order by 1",
        rows: [
          [1, 2],
          [2, 3],
        ],
      },
    ],
  },
  {
    name: "statements that change and read (`with … insert … returning`)",
    onTables: true,
    trials: [
      {
        text: `with one as (insert into sallyport.migrations (name, checksum) values ('~probe', '') returning name),
          other as (insert into sallyport.migration_lock (id, holder, expires_at) select -1, name, now() from one returning id)
          select one.name, other.id from one, other`,
        rows: [["~probe", -1]],
      },
    ],
  },
  {
    name: "upserts (`on conflict … do update … where`)",
    onTables: true,
    trials: ["1", "2"].map((holder) => ({
      text: `insert into sallyport.migration_lock as held (id, holder, expires_at) values (-1, '${holder}', clock_timestamp())
        on conflict (id) do update set holder = excluded.holder where held.holder <> excluded.holder returning holder`,
      rows: [[holder]],
    })),
  },
  {
    name: 'names in byte order (`collate "C"`)',
    trials: [{ text: `select 'B' < 'a' collate "C", 'user:z' < 'user;' collate "C"`, rows: [[true, true]] }],
  },
  {
    name: "timeouts (`statement_timeout`, `lock_timeout`)",
    trials: [{ text: "set local statement_timeout = 5000" }, { text: "set local lock_timeout = 500" }],
  },
  {
    name: "notices (`listen`, `pg_notify`)",
    trials: [{ text: "listen sallyport_probe" }, { text: "select pg_notify('sallyport_probe', '')" }],
    optional: "notices",
    without: "changes of other processes are found by polling",
  },
  {
    name: "cursors (`declare`, `fetch`)",
    snapshot: true,
    trials: [
      { text: "declare probed no scroll cursor for select 1" },
      { text: "fetch 10 from probed", rows: [[1]] },
    ],
    optional: "cursors",
    without: "stores are loaded by ranges of keys",
  },
  {
    name: "timelines (`pg_walfile_name`)",
    trials: [{ text: "select left(pg_walfile_name(pg_current_wal_lsn()), 8)" }],
    without: "with several servers in the URL, an old primary that comes back is not told from the new one",
  },
]

/**
 * Tries what the product uses of a server, and remembers in `database.missing` what it has to do without. The embedded database has
 * everything. `without tables`: without those uses that only `migrate` can try.
 * @throws SourceUnavailable when the database is unavailable · SqlError when it was never migrated
 */
export async function probeCapabilities(
  database: Database,
  extent: "all" | "without tables" = "all",
): Promise<readonly Capability[]> {
  if (database.kind === "embedded") return []
  const found: Capability[] = []
  for (const use of uses.filter(({ onTables }) => extent === "all" || onTables !== true)) {
    const reason = await reasonOf(database, use)
    const { name, optional, without } = use
    if (optional !== undefined && reason !== undefined) database.missing.add(optional)
    if (optional !== undefined && reason === undefined) database.missing.delete(optional)
    found.push({ name, isPresent: reason === undefined, reason, without })
  }
  return found
}

/** What a server lacks that Sallyport needs, in a sentence; undefined when it lacks nothing. */
export function refusalOfServer(capabilities: readonly Capability[]): string | undefined {
  const missing = capabilities.filter(({ isPresent, without }) => !isPresent && without === undefined)
  if (missing.length === 0) return undefined
  const each = missing.map(({ name, reason }) => `${name}: ${reason}`)
  return `the database server lacks what Sallyport needs: ${each.join("; ")}. Use PostgreSQL 14 or newer, or give the role the rights that the replies name`
}

/** Why the server lacks it; undefined when it does not. */
async function reasonOf(database: Database, { trials, snapshot = false }: Use): Promise<string | undefined> {
  const tried = async (transaction: Transaction) => {
    for (const { text, rows } of trials) {
      const got = await transaction.query(unnamed(text))
      if (rows !== undefined && JSON.stringify(got) !== JSON.stringify(rows))
        throw new Outcome(`the result is ${JSON.stringify(got).slice(0, 100)}`)
    }
    throw new Outcome(undefined)
  }
  try {
    await database.transaction(tried, { snapshot })
  } catch (error) {
    if (error instanceof Outcome) return error.reason
    if (!isRefusal(error) || isSchemaFault(error)) throw error
    const { message } = error as Error
    const code = sqlStateOf(error)
    return message.includes(`(${code})`) ? message : `${message} (${code})`
  }
  return undefined
}

/** Ends a trial's transaction, so that it is rolled back. */
class Outcome extends Error {
  readonly reason: string | undefined

  constructor(reason: string | undefined) {
    super(reason)
    this.reason = reason
  }
}

function unnamed(text: string): PreparedStatement {
  return { name: "", text }
}

/** Whether the server replied that it does not do this, which includes missing rights. A server that is away says nothing. */
function isRefusal(error: unknown): boolean {
  const code = sqlStateOf(error)
  if (code === undefined) return false
  return !(error instanceof SourceUnavailable) || treatmentOf(code) === "reconnect" || code.startsWith("42")
}
