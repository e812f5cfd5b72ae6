import { Command as Commander, CommanderError } from "commander"
import manifest from "../../package.json" with { type: "json" }
import { CliError, type Command, type ExitCode, exitCode, type OptionValues } from "./command.ts"
import { commands } from "./commands.ts"
import { type Io, processIo } from "./io.ts"

/**
 * Runs one command line and answers its exit code. Nothing is thrown for a mistake of the user; other errors are ours
 * and come out with their stack.
 */
export async function main(
  argv: readonly string[],
  io: Io = processIo(),
  table: readonly Command[] = commands,
): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok
  const program = newProgram(io)
  const groups = new Map<string, Commander>()
  for (const command of table) {
    register(command, parentOf(command, program, groups), async (operands, options) => {
      code = await command.run(operands, options, io)
    })
  }
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" })
    return code
  } catch (error) {
    return failed(error, io)
  }
}

function newProgram(io: Io): Commander {
  const program = new Commander("sallyport")
  program
    .description(manifest.description)
    .version(manifest.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .showHelpAfterError("\nRun the command with --help for what it takes.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 done or nothing to do, 1 errors, 2 changes, 3 refused (stale, not confirmed, a danger).",
    )
  return program
}

/** `tuple write` hangs below a group `tuple`, which does nothing by itself. */
function parentOf(command: Command, program: Commander, groups: Map<string, Commander>): Commander {
  const [group, member] = command.line.name.split(" ")
  if (group === undefined || member === undefined) return program
  const known = groups.get(group)
  if (known) return known
  const made = program.command(group).summary(`${group} commands`).description(`Commands of \`${group}\`.`)
  groups.set(group, made)
  return made
}

function register(
  { line }: Command,
  parent: Commander,
  run: (operands: readonly string[], options: OptionValues) => Promise<void>,
): void {
  const made = parent
    .command(line.name.split(" ").at(-1) as string)
    .summary(line.summary)
    .description(line.summary)
  for (const [name, text] of line.operands ?? []) made.argument(name, text)
  for (const [flags, text] of line.options ?? []) made.option(flags, text)
  const examples = line.examples.map(([example, text]) => `  ${example}\n      ${text}\n`).join("")
  if (examples !== "") made.addHelpText("after", `\nExamples:\n${examples}`)
  made.action(async () => {
    await run(
      made.processedArgs.flat().filter((word) => word !== undefined),
      made.opts(),
    )
  })
}

function failed(error: unknown, io: Io): ExitCode {
  // Commander has said what was wrong (or printed the help) by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.failed
  if (!(error instanceof CliError)) throw error
  io.err(`error: ${error.message}\n`)
  if (error.help !== undefined) io.err(`help: ${error.help}\n`)
  return error.code
}
