import { CliError, type CommandLine, command, type ExitCode, exitCode } from "../command.ts"
import { NoAnswer } from "../exchange.ts"
import type { Io } from "../io.ts"
import { jsonOption, readFormat, readStore } from "../options.ts"
import { completionsOf } from "../shell/completion.ts"
import { type EngineAddress, engineApi } from "../shell/engine-api.ts"
import { keepHistory, readHistory } from "../shell/history.ts"
import { type LineOutcome, ShellSession } from "../shell/session.ts"

interface ShellArgs extends EngineAddress {
  readonly store: string | undefined
  /** Lines to run instead of prompting for them. */
  readonly command: string | undefined
  /** Undefined: text on a terminal, JSON otherwise. */
  readonly format: "text" | "json" | undefined
}

const shellLine: CommandLine<ShellArgs> = {
  options: [
    ["--url <url>", "address of the engine (default: the engine behind the control API)"],
    ["--token <token>", "key or token for --url; SALLYPORT_AUTHZ_TOKEN keeps it out of the process list"],
    ["--store <name>", "name or id of the store; `use NAME` changes it"],
    ["-c, --command <lines>", "run these lines and end; exit 2 when a check is denied, 1 after an error"],
    ["--format <format>", "text or json (default: text on a terminal; in a pipe, one JSON object per line)"],
    jsonOption,
  ],
  examples: [
    ["sallyport shell", "type queries; `help` lists them, Tab completes, Ctrl-D ends"],
    ['sallyport shell -c "check user:ann viewer order:1"', "run one query in a script"],
    [
      "sallyport shell --url http://authz.internal:8080 < questions.txt",
      "run many queries; each prints one line",
    ],
  ],
  parse(_, options) {
    const text = (name: string): string | undefined => {
      const value = options[name]
      return typeof value === "string" ? value : undefined
    }
    // A path is joined to it later.
    const url = text("url")?.replace(/\/+$/, "")
    if (url !== undefined && (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url)))
      throw new CliError(`--url is not an http(s) URL: ${url}`, "For example: --url http://127.0.0.1:8080")
    // The token of the control API is another one; sending this one there would only fail.
    if (url === undefined && options["token"] !== undefined)
      throw new CliError("--token needs --url", "Without --url, set SALLYPORT_CONTROL_TOKEN.")
    return {
      url,
      token: text("token"),
      store: readStore(options),
      command: text("command"),
      format:
        options["format"] === undefined && options["json"] === undefined
          ? undefined
          : readFormat(options, ["text", "json"]),
    }
  },
}

/** A terminal gets a conversation, a pipe one line for each query. JSON is the default in a pipe, because programs read it. */
export const shell = command(shellLine, async (args, io) => {
  // `-c` is for scripts, even when it is typed at a terminal.
  const talks = args.command === undefined && io.interactive
  const session = new ShellSession(
    await engineApi(io, args),
    io,
    (args.format ?? (talks ? "text" : "json")) === "json",
  )
  if (args.store !== undefined) await session.use(args.store)
  if (talks) return converse(session, io)
  if (args.command === undefined) return runLines(session, io.lines())
  // A text with several lines numbers its errors; a single line needs no number.
  if (args.command.includes("\n")) return runLines(session, args.command.split("\n"))
  return exitCodeOf(new Set([await session.run(args.command)]))
})

/** Runs all lines, even after a failure. The exit code is 1 after an error, else 2 after a denial. */
async function runLines(
  session: ShellSession,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<ExitCode> {
  const seen = new Set<LineOutcome>()
  let number = 0
  for await (const line of lines) {
    const outcome = await session.run(line, ++number)
    if (outcome === "exit") break
    seen.add(outcome)
  }
  return exitCodeOf(seen)
}

function exitCodeOf(seen: ReadonlySet<LineOutcome>): ExitCode {
  if (seen.has("failed")) return exitCode.failed
  return seen.has("denied") ? exitCode.changes : exitCode.ok
}

/** Runs until the end of the input or `exit`. A failed line does not end the conversation. */
async function converse(session: ShellSession, io: Io): Promise<ExitCode> {
  await greet(session, io)
  const conversation = io.converse({
    complete: (line) => completionsOf(session, line),
    history: readHistory(io),
    onHistory: (lines) => keepHistory(io, lines),
  })
  try {
    for (;;) {
      const name = session.storeName
      const line = await conversation.next(`sallyport${name === undefined ? "" : `:${name}`}> `)
      // The end of the input (Ctrl-D) leaves the cursor behind the prompt.
      if (line === undefined) {
        io.out("\n")
        return exitCode.ok
      }
      if ((await session.run(line)) === "exit") return exitCode.ok
    }
  } finally {
    conversation.close()
  }
}

/** Shows the current store, or how to choose one. An engine that does not respond ends the command here. */
async function greet(session: ShellSession, io: Io): Promise<void> {
  io.out(`The engine at ${session.api.url}. \`help\` lists the commands, Tab completes, Ctrl-D ends.\n`)
  try {
    await session.store()
  } catch (error) {
    // Several stores, or none: the conversation can go on, and `use` selects one.
    if (!(error instanceof CliError)) throw error
    if (error instanceof NoAnswer) throw error
    io.out(`${error.message}. ${error.help ?? ""}\n`)
  }
}
