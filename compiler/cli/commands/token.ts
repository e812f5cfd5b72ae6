import { existsSync } from "node:fs"
import { join } from "node:path"
import { mintToken } from "../../../runtime/dev/mint-token.ts"
import type { TokenArgs } from "../args/token.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import { traceOfDev } from "../dev/trace.ts"
import { rethrowForPeople } from "../start.ts"

const identityUrlDefault = "http://127.0.0.1:8081"

/** Signs with the keys `sallyport dev` keeps in this folder, so that any subject can be tried, not only those with a password. */
export const token: CommandAction<TokenArgs> = async ({ sub, url }, io) => {
  const folder = join(io.cwd, ".sallyport")
  if (!existsSync(join(folder, "identity-provider.json"))) {
    throw new CliError(
      "there are no development keys in this folder: no `sallyport dev` has run here",
      "`npm start` makes them. Tokens of another identity provider are asked for there, e.g. by curl.",
    )
  }
  const at = url ?? traceOfDev(io)?.identity ?? identityUrlDefault
  io.out(`${await mintToken({ folder, url: at, subject: sub }).catch(rethrowForPeople)}\n`)
  return exitCode.ok
}
