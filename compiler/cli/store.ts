import { CliError } from "./command.ts"
import { expectOk, type Remote } from "./remote.ts"

/** The path of a store of the engine behind the control API: the named one, else the only one. */
export async function storePath(remote: Remote, named: string | undefined): Promise<string> {
  if (named !== undefined) return `/authz/stores/${named}`
  const { stores } = expectOk<{ stores: { id: string; name: string }[] }>(
    await remote.request("GET", "/authz/stores?page_size=2"),
  )
  const [only] = stores
  if (only === undefined)
    throw new CliError(
      "gateway.conf declares no store",
      'Declare one in gateway.conf: `authz { store NAME { model "models/NAME.fga" } }`.',
    )
  if (stores.length > 1) throw new CliError("there are several stores", "Name one with --store NAME.")
  return `/authz/stores/${only.id}`
}
