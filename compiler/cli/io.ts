import { createInterface } from "node:readline"
import { type Conversation, type ConversationOptions, converse } from "./conversation.ts"
import { hiddenLine } from "./hidden-line.ts"

/** The environment of a command: streams, folder, variables. Tests pass their own. */
export interface Io {
  /** Results: only output that is meant for a pipe. */
  out(text: string): void
  /** Findings, progress, errors. */
  err(text: string): void
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a user can answer a question: input and output are terminals. */
  readonly interactive: boolean
  /** Whether progress can be drawn: `err` is a terminal. */
  readonly progress: boolean
  /** Whether `out` and `err` can be coloured. */
  readonly colour: { readonly out: boolean; readonly err: boolean }
  /** Width of the terminal in columns; 80 without a terminal. */
  readonly columns: number
  /** Writes a long text to `out`, through a pager on a terminal. */
  page(text: string): Promise<void>
  /** Shows `question` and reads one line from the terminal. Only if `interactive`. */
  ask(question: string): Promise<string>
  /** Whether the input is a terminal. */
  readonly typed: boolean
  /** Reads one line from the terminal without showing it; empty when the user cancels. Only if `typed`. */
  askHidden(question: string): Promise<string>
  /** Lines of the input, to its end. For pipes; use `converse` on a terminal. */
  lines(): AsyncIterable<string>
  /** The input as bytes, to its end. For pipes. */
  bytes(): AsyncIterable<Buffer>
  /** A conversation on the terminal, line by line. Only if `interactive`. */
  converse(options: ConversationOptions): Conversation
  /** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. */
  untilStopped(): Promise<void>
}

/** The environment of this process. Colours depend on NO_COLOR (https://no-color.org), FORCE_COLOR and whether the stream is a terminal. */
export function processIo(): Io {
  const { env, stdin, stdout, stderr } = process
  endQuietlyOnClosedPipe(stdout)
  endQuietlyOnClosedPipe(stderr)
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    cwd: process.cwd(),
    env,
    interactive: Boolean(stdin.isTTY && stdout.isTTY),
    typed: Boolean(stdin.isTTY),
    progress: Boolean(stderr.isTTY),
    colour: { out: hasColour(env, stdout), err: hasColour(env, stderr) },
    columns: stdout.columns ?? 80,
    page,
    ask,
    askHidden: (question) => hiddenLine(question, stdin, stderr),
    lines,
    bytes: () => stdin,
    converse,
    untilStopped,
  }
}

async function* lines(): AsyncIterable<string> {
  yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
}

/** One Ctrl-C can arrive twice: from the terminal, and from npm, which forwards it to its child processes. */
const sameKeyMs = 500

/** A second signal within `sameKeyMs` is ignored, because a terminal sends Ctrl-C to npm and to this process, and npm sends it on. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ["SIGINT", "SIGTERM"] as const
    const ignore = () => {}
    const stop = () => {
      for (const signal of signals) process.off(signal, stop).on(signal, ignore)
      // Without a listener the signal has its default effect: it ends the process.
      setTimeout(() => {
        for (const signal of signals) process.off(signal, ignore)
      }, sameKeyMs).unref()
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
}

function hasColour(env: NodeJS.ProcessEnv, stream: NodeJS.WriteStream): boolean {
  if (env["NO_COLOR"]) return false
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0"
  return Boolean(stream.isTTY) && env["TERM"] !== "dumb"
}

/** `sallyport plan | head` closes the output early; that is no error. */
function endQuietlyOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
    process.exit()
  })
}

/** Uses the program of `PAGER`, else `less`. Writes directly if the output is not a terminal, or the program does not exist. */
async function page(text: string): Promise<void> {
  const { env, stdin, stdout } = process
  const [program = "less", ...words] = (env["PAGER"] || "less").trim().split(/\s+/)
  if (!stdin.isTTY || !stdout.isTTY) return void stdout.write(text)
  const { spawn } = await import("node:child_process")
  // F: end at once if the text fits on the screen; R: colours; X: keep the text on the screen afterwards.
  const pager = spawn(program, words, {
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: "FRX", ...env },
  })
  // The user can close the pager before all text is written.
  pager.stdin.on("error", () => undefined)
  pager.stdin.end(text)
  await new Promise<void>((resolve) => {
    pager.once("error", () => {
      stdout.write(text)
      resolve()
    })
    pager.once("close", () => resolve())
  })
}

async function ask(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises")
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")))
  const answer = await Promise.race([lines.question(question), ended])
  lines.close()
  return answer
}
