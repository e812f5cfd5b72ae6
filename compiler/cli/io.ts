import { createInterface } from "node:readline"
import { type Conversation, type ConversationOptions, converse } from "./conversation.ts"
import { hiddenLine } from "./hidden-line.ts"

/** What a command has of the world: its streams, its folder, its environment. Tests give another one. */
export interface Io {
  /** Results. Only what a pipe behind the command is meant to read. */
  out(text: string): void
  /** Findings, progress, errors. */
  err(text: string): void
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person can answer a question: input and output are terminals. */
  readonly interactive: boolean
  /** Whether progress may be drawn: `err` goes to a terminal. */
  readonly progress: boolean
  /** Whether `out` and `err` may be coloured. */
  readonly colour: { readonly out: boolean; readonly err: boolean }
  /** Width of the terminal in columns; 80 when there is none. */
  readonly columns: number
  /** Writes a long text to `out`: a screen at a time where a person reads it there. */
  page(text: string): Promise<void>
  /** Reads one line of the terminal after showing `question`. Only where `interactive`. */
  ask(question: string): Promise<string>
  /** Whether the input is a terminal: somebody types. */
  readonly typed: boolean
  /** Reads one line of the terminal without showing what is typed; empty when it is taken back. Only where `typed`. */
  askHidden(question: string): Promise<string>
  /** Lines of the input, to its end. For a pipe; a person is talked to by `converse`. */
  lines(): AsyncIterable<string>
  /** A conversation on the terminal, line by line. Only where `interactive`. */
  converse(options: ConversationOptions): Conversation
  /** Resolves when the process is asked to end (SIGINT, SIGTERM). Asked again, it ends at once. */
  untilStopped(): Promise<void>
}

/** The world of this process. Colours by NO_COLOR (https://no-color.org), FORCE_COLOR and whether the stream is a terminal. */
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
    converse,
    untilStopped,
  }
}

async function* lines(): AsyncIterable<string> {
  yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
}

/** One Ctrl-C can come twice: from the terminal, and from npm, which passes it on to what it started. */
const sameKeyMs = 500

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ["SIGINT", "SIGTERM"] as const
    const ignore = () => {}
    const stop = () => {
      for (const signal of signals) process.off(signal, stop).on(signal, ignore)
      // Without a listener a signal does what it does by itself: it ends the process.
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

/** `sallyport plan | head` closes our output early; that is no error of ours. */
function endQuietlyOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
    process.exit()
  })
}

/** By the program of `PAGER`, else `less`; plainly where the output is no terminal or there is no such program. */
async function page(text: string): Promise<void> {
  const { env, stdin, stdout } = process
  const [program = "less", ...words] = (env["PAGER"] || "less").trim().split(/\s+/)
  if (!stdin.isTTY || !stdout.isTTY) return void stdout.write(text)
  const { spawn } = await import("node:child_process")
  // F: a text that fits on the screen needs no key to end; R: colours; X: the text stays there afterwards.
  const pager = spawn(program, words, {
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: "FRX", ...env },
  })
  // Somebody who has read enough closes the pager before all of the text is in it.
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
