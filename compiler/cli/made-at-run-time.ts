import type { MachineToken, Subscription } from "../../runtime/control/api.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { CliError, exitCode } from "./command.ts"
import type { MadeKind } from "./made-kinds.ts"
import { expectOk, type Remote } from "./remote.ts"

/** Something that was made at run time, and the path of the control API that deletes it. */
export interface MadeThing {
  readonly kind: MadeKind
  readonly name: string
  readonly path: string
}

/**
 * What was made through the APIs, by kind. `declared`: the plans whose stores are not among it. A kind that the caller may not see is absent.
 */
export async function listMade(
  remote: Remote,
  declared: readonly (PlanBody | undefined)[],
): Promise<ReadonlyMap<MadeKind, readonly MadeThing[]>> {
  const [subscriptions, tokens, stores] = await Promise.all([
    pages<Subscription>(remote, (after) => `/v1/subscriptions?limit=500${after && `&after=${after}`}`),
    listed<{ tokens: MachineToken[] }>(remote, "/v1/tokens"),
    pages<StoreRow>(
      remote,
      (after) => `/authz/stores?page_size=100${after && `&continuation_token=${encodeURIComponent(after)}`}`,
    ),
  ])
  const own = new Set(declared.flatMap((plan) => Object.keys(plan?.authz?.stores ?? {})))
  const thing = (kind: MadeKind, name: string, path: string): MadeThing => ({ kind, name, path })
  const found: readonly (readonly [MadeKind, readonly MadeThing[] | undefined])[] = [
    [
      "subscriptions",
      subscriptions?.flatMap(({ name, source }) =>
        source === "issued" ? [thing("subscriptions", name, `/v1/subscriptions/${name}`)] : [],
      ),
    ],
    [
      "stores",
      stores?.flatMap(({ id, name }) =>
        own.has(name) ? [] : [thing("stores", name, `/authz/stores/${encodeURIComponent(id)}`)],
      ),
    ],
    ["tokens", tokens?.tokens.map(({ name }) => thing("tokens", name, `/v1/tokens/${name}`))],
  ]
  return new Map(found.flatMap(([kind, things]) => (things === undefined ? [] : [[kind, things] as const])))
}

interface StoreRow {
  readonly id: string
  readonly name: string
}

/** A page of either API: of subscriptions, or of stores. */
interface Page<Row> {
  readonly subscriptions?: readonly Row[]
  readonly next?: string | null
  readonly stores?: readonly Row[]
  readonly continuation_token?: string
}

/** All pages; undefined: the caller may not see them. */
async function pages<Row>(
  remote: Remote,
  path: (after: string) => string,
): Promise<readonly Row[] | undefined> {
  const rows: Row[] = []
  let after = ""
  do {
    const page = await listed<Page<Row>>(remote, path(after))
    if (page === undefined) return undefined
    rows.push(...(page.subscriptions ?? page.stores ?? []))
    after = page.next ?? page.continuation_token ?? ""
  } while (after !== "")
  return rows
}

async function listed<Body>(remote: Remote, path: string): Promise<Body | undefined> {
  const { status, body } = await remote.request("GET", path)
  return status === 200 ? (body as Body) : undefined
}

/**
 * What `--remove` deletes: everything of these kinds, except the token that the command uses.
 * @throws CliError when the caller may not see a kind
 */
export async function toRemove(
  remote: Remote,
  kinds: readonly MadeKind[],
  declared: readonly (PlanBody | undefined)[],
): Promise<readonly MadeThing[]> {
  if (kinds.length === 0) return []
  const made = await listMade(remote, declared)
  const hidden = kinds.find((kind) => !made.has(kind))
  if (hidden !== undefined)
    throw new CliError(
      `nothing was changed: this caller may not list ${hidden}, so --remove cannot delete them`,
      "Leave them out of --remove, or use a credential of the role `admin`.",
      exitCode.refused,
    )
  const { kind, name } = expectOk<{ kind: string; name: string }>(await remote.request("GET", "/v1/whoami"))
  return kinds
    .flatMap((each) => made.get(each) ?? [])
    .filter((each) => !(each.kind === "tokens" && kind === "token" && each.name === name))
}

/** Deletes them one after another; one that is gone already counts as deleted. */
export async function removeMade(remote: Remote, things: readonly MadeThing[]): Promise<void> {
  for (const { kind, name, path } of things) {
    const answer = await remote.request("DELETE", path)
    if (answer.status === 404) continue
    try {
      expectOk(answer)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CliError(
        `the plan is applied, but not everything was removed: ${kind} ${name}: ${reason}`,
        "Run the same command again: it continues with what is left.",
      )
    }
  }
}
