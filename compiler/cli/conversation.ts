import { createInterface, type Interface } from "node:readline"

/** Settings of the line editor. */
export interface ConversationOptions {
  /** Completions of the Tab key for the part of the line before the cursor: words, and the part that they replace. */
  complete(line: string): Promise<readonly [words: readonly string[], part: string]>
  /** Earlier lines, newest first. */
  readonly history: readonly string[]
  /** Called with the history after each line, newest first. */
  onHistory(history: readonly string[]): void
}

/**
 * Reads lines until the user ends it with Ctrl-D; the result is then undefined. Lines that arrive early, for example several pasted lines,
 * are queued. Ctrl-C clears the current line; when no line is being read, it ends the process.
 */
export interface Conversation {
  next(prompt: string): Promise<string | undefined>
  close(): void
}

/** A conversation on the terminal of this process. */
export function converse(options: ConversationOptions): Conversation {
  return new TerminalConversation(options)
}

/** Node's line editor. Lines that arrive before they are asked for (pasted text) are kept in `#early`. */
class TerminalConversation implements Conversation {
  readonly #editor: Interface
  readonly #early: string[] = []
  #wanted: ((line: string | undefined) => void) | undefined
  #ended = false

  /** A completion that fails completes nothing: the prompt must not break because the engine is unavailable. */
  constructor({ complete, history, onHistory }: ConversationOptions) {
    this.#editor = createInterface({
      input: process.stdin,
      output: process.stdout,
      history: [...history],
      historySize: 1000,
      removeHistoryDuplicates: true,
      completer: (line: string, done: (error: null, found: [string[], string]) => void) => {
        complete(line).then(
          ([words, part]) => done(null, [[...words], part]),
          () => done(null, [[], line]),
        )
      },
    })
    this.#editor
      .on("history", (all: string[]) => onHistory(all))
      .on("line", (line) => {
        if (this.#wanted === undefined) this.#early.push(line)
        else this.#answer(line)
      })
      .on("close", () => {
        this.#ended = true
        this.#answer(undefined)
      })
      .on("SIGINT", () => this.#back())
  }

  /** Shows the prompt and waits for a line; undefined at the end of the input. */
  next(prompt: string): Promise<string | undefined> {
    const early = this.#early.shift()
    if (early !== undefined) {
      process.stdout.write(`${prompt}${early}\n`)
      return Promise.resolve(early)
    }
    if (this.#ended) return Promise.resolve(undefined)
    this.#editor.setPrompt(prompt)
    // Keep what the user typed meanwhile.
    this.#editor.prompt(true)
    return new Promise((resolve) => {
      this.#wanted = resolve
    })
  }

  close(): void {
    this.#editor.close()
  }

  #answer(line: string | undefined): void {
    this.#wanted?.(line)
    this.#wanted = undefined
  }

  /** Ctrl-C clears the line; while a command runs it ends the process. */
  #back(): void {
    if (this.#wanted === undefined) {
      // Closing restores the terminal. Then the signal has its default effect.
      this.#editor.close()
      process.kill(process.pid, "SIGINT")
      return
    }
    process.stdout.write("^C (press Ctrl-D to end the shell)\n")
    // Clears the line.
    this.#editor.write(null, { ctrl: true, name: "e" })
    this.#editor.write(null, { ctrl: true, name: "u" })
    this.#editor.prompt()
  }
}
