import { existsSync } from "node:fs"
import { join } from "node:path"
import { mintToken } from "../../../runtime/dev/mint-token.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { traceOfDev } from "../dev/trace.ts"
import { readClaims } from "../options.ts"
import { rethrowForPeople } from "../start.ts"

interface TokenArgs {
  readonly sub: string
  /** Added to the token, or instead of its own. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Address of the development identity provider, used as the token's `iss`. Undefined: the address of the last `dev` in this folder. */
  readonly url: string | undefined
}

const tokenLine: CommandLine<TokenArgs> = {
  options: [
    ["--sub <name>", "user name for the claim `sub` (default: ann)"],
    ["--claim <name=value...>", "another claim, or another value of a claim; the value is JSON or text"],
    ["--url <url>", "address of the identity provider (default: the one of `sallyport dev` in this folder)"],
  ],
  examples: [
    [
      'curl -H "Authorization: Bearer $(npx sallyport token --sub ann)" http://127.0.0.1:8000/v1/orders/1',
      "call the example as ann",
    ],
    ["sallyport token --claim aud=documents-api", "a token for an issuer with `audience documents-api`"],
    ["sallyport token --sub bob --claim exp=0", "a token of bob that has expired"],
  ],
  parse(_, options) {
    const url = options["url"]
    if (url !== undefined && (typeof url !== "string" || !/^https?:/.test(url) || !URL.canParse(url))) {
      throw new CliError(
        `--url is not an http(s) URL: ${String(url)}`,
        "For example: --url http://127.0.0.1:8081",
      )
    }
    const sub = typeof options["sub"] === "string" ? options["sub"] : "ann"
    return { sub, claims: readClaims(options), url: url?.replace(/\/$/, "") }
  },
}

const identityUrlDefault = "http://127.0.0.1:8081"

/** Signs with the keys that `sallyport dev` keeps in this folder, so that any subject can be tried, not only those with a password. */
export const token = command(tokenLine, async ({ sub, claims, url }, io) => {
  const folder = join(io.cwd, ".sallyport")
  if (!existsSync(join(folder, "identity-provider.json"))) {
    throw new CliError(
      "this folder has no development keys: `sallyport dev` has not run here",
      "Start `sallyport dev` here first. For another identity provider, request a token from it.",
    )
  }
  const at = url ?? traceOfDev(io)?.identity ?? identityUrlDefault
  io.out(`${await mintToken({ folder, url: at, subject: sub, claims }).catch(rethrowForPeople)}\n`)
  return exitCode.ok
})
