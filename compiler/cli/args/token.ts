import { CliError, type CommandLine } from "../command.ts"

export interface TokenArgs {
  readonly sub: string
  readonly url: string
}

/** Token endpoint of the development identity provider. */
const tokenUrlDefault = "http://127.0.0.1:8081/realms/acme/protocol/openid-connect/token"

export const tokenLine: CommandLine<TokenArgs> = {
  name: "token",
  summary: "get a token of the development identity provider",
  options: [
    ["--sub <name>", "whose: ann, bob or carol, or the client mobile; ann when not said"],
    ["--url <url>", `token endpoint, ${tokenUrlDefault} when not said`],
  ],
  examples: [
    [
      'curl -H "Authorization: Bearer $(npx sallyport token --sub ann)" http://127.0.0.1:8000/v1/orders/1',
      "call the example as ann",
    ],
  ],
  parse(_, options) {
    const url = options["url"] ?? tokenUrlDefault
    if (typeof url !== "string" || !/^https?:/.test(url) || !URL.canParse(url))
      throw new CliError(`--url is not an http(s) URL: ${String(url)}`)
    return { sub: typeof options["sub"] === "string" ? options["sub"] : "ann", url }
  },
}
