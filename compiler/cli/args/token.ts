import { CliError, type CommandLine } from "../command.ts"

export interface TokenArgs {
  readonly sub: string
  /** Address of the development identity provider: it stands in the token's `iss`. Undefined: where the last `dev` here had it. */
  readonly url: string | undefined
}

export const tokenLine: CommandLine<TokenArgs> = {
  name: "token",
  summary: "print a token as the development identity provider signs it",
  options: [
    ["--sub <name>", "whose: any name; ann when not said"],
    ["--url <url>", "address of the provider; that of `sallyport dev` in this folder when not said"],
  ],
  examples: [
    [
      'curl -H "Authorization: Bearer $(npx sallyport token --sub ann)" http://127.0.0.1:8000/v1/orders/1',
      "call the example as ann",
    ],
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
    return { sub, url: url?.replace(/\/$/, "") }
  },
}
