import { CliError, type CommandLine } from "../command.ts"

export interface TokenArgs {
  readonly sub: string
  /** Address of the development identity provider: it stands in the token's `iss`. */
  readonly url: string
}

const urlDefault = "http://127.0.0.1:8081"

export const tokenLine: CommandLine<TokenArgs> = {
  name: "token",
  summary: "print a token as the development identity provider signs it",
  options: [
    ["--sub <name>", "whose: any name; ann when not said"],
    ["--url <url>", `address of the provider, ${urlDefault} when not said`],
  ],
  examples: [
    [
      'curl -H "Authorization: Bearer $(npx sallyport token --sub ann)" http://127.0.0.1:8000/v1/orders/1',
      "call the example as ann",
    ],
  ],
  parse(_, options) {
    const url = options["url"] ?? urlDefault
    if (typeof url !== "string" || !/^https?:/.test(url) || !URL.canParse(url)) {
      throw new CliError(`--url is not an http(s) URL: ${String(url)}`)
    }
    return { sub: typeof options["sub"] === "string" ? options["sub"] : "ann", url: url.replace(/\/$/, "") }
  },
}
