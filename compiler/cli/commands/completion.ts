import { CliError, type Command, type CommandLine, type CommandRow, command, exitCode } from "../command.ts"
import { bashScript, completable, fishScript, zshScript } from "../completion-scripts.ts"

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

interface CompletionArgs {
  readonly shell: keyof typeof scripts
}

const completionLine: CommandLine<CompletionArgs> = {
  operands: [["<shell>", "bash, zsh or fish"]],
  examples: [
    ["sallyport completion bash > /etc/bash_completion.d/sallyport", "for all users of bash"],
    ["sallyport completion fish > ~/.config/fish/completions/sallyport.fish", "for fish"],
  ],
  parse([shell]) {
    if (shell === "bash" || shell === "zsh" || shell === "fish") return { shell }
    throw new CliError(
      shell === undefined ? "completion needs the name of a shell" : `there is no completion for ${shell}`,
      "Use bash, zsh or fish.",
    )
  },
}

/** The command, for a table of commands. The script holds all commands and options, so that completing starts no program. */
export function completionOf(table: readonly CommandRow[]): Command {
  return command(completionLine, async ({ shell }, io) => {
    const all = await Promise.all(table.map(async (row) => completable(row, await row.load())))
    io.out(scripts[shell](all))
    return exitCode.ok
  })
}
