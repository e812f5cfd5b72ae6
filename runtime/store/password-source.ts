import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { DatabaseSettingsError } from "./connection-url.ts"

/** Where the password comes from, if not from the URL. At most one is set. */
export interface PasswordSettings {
  /** File that contains the password alone; read for each new connection. */
  readonly passwordFile?: string | undefined
  /** Program with arguments whose output is the password. */
  readonly passwordCommand?: string | undefined
}

/** The password for new connections. */
export interface PasswordSource {
  /** Undefined: no password is set. Rejects when the password is unavailable. */
  read(): Promise<string | undefined>
  /** The server refused the password. Returns whether `read` may now have another one. */
  refused(): boolean
}

const commandMs = 10_000
/** A pool opens its connections within seconds; tokens of clouds are valid for minutes. */
const keepMs = 60_000

/**
 * The password of the URL, of the file or of the command.
 * @throws DatabaseSettingsError when there is more than one, or the command cannot be read
 */
export function passwordSource(fromUrl: string | undefined, settings: PasswordSettings): PasswordSource {
  const { passwordFile, passwordCommand } = settings
  const given = [fromUrl, passwordFile, passwordCommand].filter((each) => each !== undefined)
  if (given.length > 1)
    throw new DatabaseSettingsError(
      "the database has more than one password: in its URL (or PGPASSWORD), in a file, by a command",
      "Keep one of them: remove the others from SALLYPORT_DATABASE_URL, SALLYPORT_DATABASE_PASSWORD_FILE, SALLYPORT_DATABASE_PASSWORD_COMMAND.",
    )
  if (passwordFile !== undefined) return { read: () => ofFile(passwordFile), refused: () => false }
  if (passwordCommand !== undefined) return new CommandPassword(wordsOf(passwordCommand))
  return { read: async () => fromUrl, refused: () => false }
}

async function ofFile(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the password file ${file} cannot be read (${error.code})`)
  })
  return withoutLineEnd(text, `the password file ${file} is empty`)
}

/** Runs the command for the first connection, and again after a minute or when the server refused its password. */
class CommandPassword implements PasswordSource {
  readonly #words: readonly string[]
  #running: Promise<string> | undefined
  #ranMs = 0

  constructor(words: readonly string[]) {
    this.#words = words
  }

  read(): Promise<string> {
    if (this.#running !== undefined && performance.now() - this.#ranMs < keepMs) return this.#running
    const running = outputOf(this.#words)
    this.#running = running
    this.#ranMs = performance.now()
    // The next connection tries again.
    running.catch(() => {
      if (this.#running === running) this.#running = undefined
    })
    return running
  }

  refused(): boolean {
    // True also when another connection was refused just before: it has not run the command again yet.
    this.#running = undefined
    return true
  }
}

async function outputOf([program = "", ...args]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: commandMs }).catch(
    (error: unknown) => {
      throw new Error(`the password command ${program} failed: ${reasonOf(error)}`)
    },
  )
  return withoutLineEnd(stdout, `the password command ${program} printed nothing`)
}

function reasonOf(error: unknown): string {
  const { killed, code, stderr } = error as { killed?: boolean; code?: unknown; stderr?: string }
  if (killed) return `it did not end within ${commandMs / 1000} seconds`
  const said = stderr?.trim().split("\n").at(-1)?.slice(0, 200)
  return `${typeof code === "number" ? `exit code ${code}` : String(code)}${said ? `: ${said}` : ""}`
}

function withoutLineEnd(text: string, empty: string): string {
  const password = text.replace(/\r?\n$/, "")
  if (password === "") throw new Error(empty)
  return password
}

/** Words as a shell reads them, with quotes, but nothing else: no variables, no pipes. */
function wordsOf(command: string): readonly string[] {
  const word = /(?:[^\s"']|"[^"]*"|'[^']*')+/g
  // What is left is a quote without its pair.
  if (/\S/.test(command) && !/\S/.test(command.replace(word, "")))
    return (command.match(word) ?? []).map((each) =>
      each.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
    )
  throw new DatabaseSettingsError(
    "SALLYPORT_DATABASE_PASSWORD_COMMAND is not a program with arguments",
    "Write the program and its arguments with blanks between them, and quotes in pairs. It runs without a shell: put pipes into a script.",
  )
}
