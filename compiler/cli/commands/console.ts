import { type CommandLine, command, exitCode } from "../command.ts"
import { consoleLinkOf, type SignInLink } from "../console-link.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"
import { connect } from "../remote.ts"

interface ConsoleArgs {
  readonly format: "text" | "json"
}

const consoleLine: CommandLine<ConsoleArgs> = {
  options: formatOptions,
  examples: [["sallyport console", "print an address that signs a browser in once, within ten minutes"]],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}

/** Prints a link to the console of the process that the other commands ask, for the operator whose credential they use. */
export const consoleLink = command(consoleLine, async (args, io) => {
  const link = await consoleLinkOf(await connect(io))
  print(io, args.format, link, textOf)
  return exitCode.ok
})

function textOf({ url, seconds }: SignInLink): string {
  return `${url}\nIt signs one browser in, within ${seconds / 60} minutes.\n`
}
