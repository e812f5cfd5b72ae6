import type { Io } from "./io.ts"

/**
 * What a process answers with: `ok` nothing to do or done, `failed` errors, `changes` there are differences (or, with
 * `check --exit-code`, a denial), `refused` stale, not confirmed, or a risk that was not allowed.
 */
export const exitCode = { ok: 0, failed: 1, changes: 2, refused: 3 } as const

/** One of `exitCode`. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** The values of the options, by their camel-case long name, as the command line gave them. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** The command line of one command, without its work: what its help shows, and how words become `Args`. */
export interface CommandLine<Args> {
  /** `[name, text]`; the name in `<>` when it must be given, in `[]` when not, with `...` when it may be repeated. */
  readonly operands?: readonly (readonly [name: string, text: string])[]
  /** `[flags, text]`, e.g. `["--out <file>", "where to write the plan"]`; a flag ending in `...>` may be repeated. */
  readonly options?: readonly (readonly [flags: string, text: string])[]
  /** `[line, text]`: lines that work when pasted. */
  readonly examples: readonly (readonly [line: string, text: string])[]
  /** Throws a `CliError` for values that cannot be meant. */
  parse(operands: readonly string[], options: OptionValues): Args
}

/** A command: its line and its work. */
export interface Command {
  readonly line: CommandLine<unknown>
  run(operands: readonly string[], options: OptionValues, io: Io): Promise<ExitCode>
}

/** Ties a command line to its work. */
export function command<Args>(
  line: CommandLine<Args>,
  work: (args: Args, io: Io) => Promise<ExitCode>,
): Command {
  return {
    line,
    run: async (operands, options, io) => work(line.parse(operands, options), io),
  }
}

/** A row of the table of commands. The help of all commands is made of rows alone: only the command that is called is loaded. */
export interface CommandRow {
  /** One word, or two for a command of a group: `tuple write`. */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** An error a person can mend: one sentence saying what and why, one saying what to do. */
export class CliError extends Error {
  readonly help: string | undefined
  readonly code: ExitCode

  constructor(message: string, help?: string, code: ExitCode = exitCode.failed) {
    super(message)
    this.name = "CliError"
    this.help = help
    this.code = code
  }
}
