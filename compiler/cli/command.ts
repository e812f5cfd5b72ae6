import type { Io } from "./io.ts"

/**
 * The exit codes: `ok` done or nothing to do, `failed` errors, `changes` there are differences (or, with `check --exit-code`, a denial),
 * `refused` stale, not confirmed, or a risk that was not allowed, `notEverywhere` applied, but not every process serves the plan.
 */
export const exitCode = { ok: 0, failed: 1, changes: 2, refused: 3, notEverywhere: 4 } as const

/** One of `exitCode`. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** The values of the options as given, by their camel-case long name. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** The command line of one command, without its implementation: its help, and how words become `Args`. */
export interface CommandLine<Args> {
  /** `[name, text]`; the name in `<>` if required, in `[]` if optional, with `...` if it can be repeated. */
  readonly operands?: readonly (readonly [name: string, text: string])[]
  /**
   * `[flags, text]`, e.g. `["--out <file>", "where to write the plan"]`; a flag ending in `...>` can be repeated. `joined`: a list with commas, so that
   * the values of an option that is given several times are one list. Of other options the last counts.
   */
  readonly options?: readonly (readonly [flags: string, text: string, joined?: "joined"])[]
  /** `[line, text]`: lines that work when pasted. */
  readonly examples: readonly (readonly [line: string, text: string])[]
  /** @throws CliError for invalid values. */
  parse(operands: readonly string[], options: OptionValues): Args
}

/** A command: its command line and its implementation. */
export interface Command {
  readonly line: CommandLine<unknown>
  run(operands: readonly string[], options: OptionValues, io: Io): Promise<ExitCode>
}

/** Connects a command line to its implementation. */
export function command<Args>(
  line: CommandLine<Args>,
  work: (args: Args, io: Io) => Promise<ExitCode>,
): Command {
  return {
    line,
    run: async (operands, options, io) => work(line.parse(operands, options), io),
  }
}

/** What commands are for, and the heading of each purpose in the help and in the manual, in this order. */
export const commandPurposes = {
  write: "Write and check",
  run: "Try and run",
  operate: "Apply and operate",
  subscriptions: "Subscriptions and usage",
  authorization: "Authorization data",
  manual: "Read more",
} as const

/** One of `commandPurposes`. */
export type CommandPurpose = keyof typeof commandPurposes

/** A row of the table of commands. The list of all commands needs only these rows, so that only the called command is loaded. */
export interface CommandRow {
  /** One word, or two for a command of a group: `tuple write`. */
  readonly name: string
  /** Its heading in the help. Commands of a group have the same. */
  readonly purpose: CommandPurpose
  readonly summary: string
  load(): Promise<Command>
}

/** An error that the user can fix: one sentence with the problem and its cause, one with the remedy. */
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
