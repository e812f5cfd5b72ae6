import { Command as Commander, CommanderError } from "commander"
import manifest from "../../package.json" with { type: "json" }
import {
  CliError,
  type Command,
  type CommandPurpose,
  type CommandRow,
  commandPurposes,
  type ExitCode,
  exitCode,
} from "./command.ts"
import { commands } from "./commands.ts"
import { connectionOptions, withConnection } from "./control-tls.ts"
import { type Io, processIo } from "./io.ts"

/** Runs one command line and returns its exit code. User errors never throw; any other error is a bug and is printed with its stack. */
export async function main(
  argv: readonly string[],
  io: Io = processIo(),
  table: readonly CommandRow[] = commands,
): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok
  const program = newProgram(io)
  const groups = new Map<string, Commander>()
  for (const row of table) {
    const parent = parentOf(row, table, program, groups)
    const made = parent
      .command(row.name.split(" ").at(-1) as string)
      .helpGroup(parent === program ? headingOf(row.purpose) : "Commands:")
      .summary(row.summary)
      .description(row.summary)
    // The other commands only appear in the help. Loading them all would take longer than most commands run.
    if (!row.name.split(" ").every((word) => argv.includes(word))) continue
    const command = await row.load()
    describe(command, made).action(async () => {
      const operands = made.processedArgs.flat().filter((word) => word !== undefined)
      code = await command.run(operands, made.opts(), withConnection(io, program.opts()))
    })
  }
  try {
    if (argv[0] === "help" && argv.length > 1) return await help(argv.slice(1), program, io)
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" })
    return code
  } catch (error) {
    return failed(error, io)
  }
}

/**
 * The program without its commands: those are loaded when they are named, because loading all of them takes longer than most commands run.
 */
function newProgram(io: Io): Commander {
  const program = new Commander("sallyport")
  program.optionsGroup("Options of commands that connect to a running Sallyport:")
  for (const [flags, text] of connectionOptions) program.option(flags, text)
  program.optionsGroup("Options:")
  program
    .description(manifest.description)
    .version(manifest.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    // commander takes the heading of its own command `help` from this default only.
    .commandsGroup(headingOf("manual"))
    .helpCommand("help [word...]", "print help for a command, or for a statement of gateway.conf")
    .showHelpAfterError("\nRun the command with --help to see its arguments.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 done or nothing to do, 1 errors, 2 changes, 3 refused (stale, not confirmed or dangerous), 4 applied, but not every process serves it.",
    )
  return program
}

function headingOf(purpose: CommandPurpose): string {
  return `${commandPurposes[purpose]}:`
}

/** `tuple write` belongs to a group `tuple`, which has no action of its own. */
function parentOf(
  { name, purpose }: CommandRow,
  table: readonly CommandRow[],
  program: Commander,
  groups: Map<string, Commander>,
): Commander {
  const [group, member] = name.split(" ")
  if (group === undefined || member === undefined) return program
  const known = groups.get(group)
  if (known) return known
  // A group has no row of its own; its summary is made from its members, so it cannot become stale.
  const members = table.flatMap(({ name: each }) =>
    each.startsWith(`${group} `) ? [each.slice(group.length + 1)] : [],
  )
  const made = program
    .command(group)
    .helpGroup(headingOf(purpose))
    .summary(`commands: ${members.join(", ")}`)
    .description(`Commands of \`${group}\`.`)
  groups.set(group, made)
  return made
}

/** Adds operands, options and examples to a command. */
function describe({ line }: Command, made: Commander): Commander {
  for (const [name, text] of line.operands ?? []) made.argument(name, text)
  for (const [flags, text, joined] of line.options ?? [])
    if (joined === undefined) made.option(flags, text)
    else
      made.option(flags, text, (value, before?: string) =>
        before === undefined ? value : `${before},${value}`,
      )
  const examples = line.examples.map(([example, text]) => `  ${example}\n      ${text}\n`).join("")
  return examples === "" ? made : made.addHelpText("after", `\nExamples:\n${examples}`)
}

/** `help plan` for a command, `help require` for a statement of gateway.conf. If a word is both, shows both. */
async function help(words: readonly string[], program: Commander, io: Io): Promise<ExitCode> {
  const { findingHelp, statementHelp, unknownTopic, variableHelp } = await import("./help.ts")
  const statement = statementHelp(words, io.columns) ?? variableHelp(words, io.columns) ?? findingHelp(words)
  const command =
    commandOf(words, program) ?? (statement === undefined ? commandBefore(words, program) : undefined)
  if (command === undefined && statement === undefined) throw unknownTopic(words, namesOf(program))
  // Both, for a word like `import`: the user knows which one was meant.
  command?.outputHelp()
  if (command !== undefined && statement !== undefined) io.out("\nStatement of gateway.conf:\n\n")
  io.out(statement ?? "")
  return exitCode.ok
}

/** The command or group with these words as its path. */
function commandOf(words: readonly string[], program: Commander): Commander | undefined {
  return words.reduce<Commander | undefined>(
    (parent, word) => parent?.commands.find((each) => each.name() === word),
    program,
  )
}

/** `help explain request`: a word after a command that takes words. A group has to know its members. */
function commandBefore(words: readonly string[], program: Commander): Commander | undefined {
  const found = words.length < 2 ? undefined : commandOf(words.slice(0, -1), program)
  return (found?.registeredArguments.length ?? 0) > 0 ? found : undefined
}

/** The names for a suggestion; statements of gateway.conf have their own in `help.ts`. */
function namesOf(program: Commander): string[] {
  return program.commands.map((each) => each.name())
}

function failed(error: unknown, io: Io): ExitCode {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.failed
  // A bug: the stack is more useful than a message that guesses.
  if (!(error instanceof CliError)) throw error
  io.err(`error: ${error.message}\n`)
  if (error.help !== undefined) io.err(`help: ${error.help}\n`)
  return error.code
}
