import { CliError, type CommandLine } from "../command.ts"
import { readStore } from "./check.ts"
import { readFormat } from "./format.ts"

export interface ShellArgs {
  /** The engine's own address; undefined: through the control API, as other commands go. */
  readonly url: string | undefined
  readonly token: string | undefined
  readonly store: string | undefined
  /** Lines to run instead of asking for them. */
  readonly command: string | undefined
  /** Undefined: text for a person at a terminal, JSON for everything else. */
  readonly format: "text" | "json" | undefined
}

export const shellLine: CommandLine<ShellArgs> = {
  name: "shell",
  summary: "ask the engine, line by line: check, explain, list, read, write, changes",
  options: [
    ["--url <url>", "the engine's address; without it the control API's way to the engine"],
    ["--token <token>", "key or token for --url; better in SALLYPORT_AUTHZ_TOKEN"],
    ["--store <name>", "store by name or id; `use NAME` changes it"],
    ["-c, --command <lines>", "run these lines and end; exit 2 when a check is denied, 1 on an error"],
    ["--format <format>", "text or json; a terminal gets text, a pipe one JSON object a line"],
  ],
  examples: [
    ["sallyport shell", "ask; `help` says what, Tab completes, Ctrl-D ends"],
    ['sallyport shell -c "check user:ann viewer order:1"', "one question, in a script"],
    ["sallyport shell --url http://authz.internal:8080 < questions.txt", "many, an answer a line"],
  ],
  parse(_, options) {
    const text = (name: string): string | undefined => {
      const value = options[name]
      return typeof value === "string" ? value : undefined
    }
    const url = text("url")?.replace(/\/+$/, "")
    if (url !== undefined && (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url)))
      throw new CliError(`--url is not an http(s) URL: ${url}`, "For example: --url http://127.0.0.1:8080")
    if (url === undefined && options["token"] !== undefined)
      throw new CliError(
        "--token is for --url",
        "Without --url the control token is used: SALLYPORT_CONTROL_TOKEN.",
      )
    return {
      url,
      token: text("token"),
      store: readStore(options),
      command: text("command"),
      format: options["format"] === undefined ? undefined : readFormat(options, ["text", "json"]),
    }
  },
}
