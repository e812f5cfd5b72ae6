import { CliError, type CommandLine } from "../command.ts"

export interface HashPasswordArgs {
  /** N of scrypt; undefined: the usual one. */
  readonly cost: number | undefined
}

export const hashPasswordLine: CommandLine<HashPasswordArgs> = {
  name: "hash-password",
  summary: "make the hash of a password for `users`, so that the password itself is kept nowhere",
  options: [["--cost <n>", "memory in KiB and so the time of each try: a power of two, 16384 when not said"]],
  examples: [
    ["npx sallyport hash-password", "asks for the password, which is not shown, and prints the hash"],
    ['printf %s "$PASSWORD" | npx sallyport hash-password', "reads it from a pipe"],
  ],
  parse(_, options) {
    const text = options["cost"]
    if (text === undefined) return { cost: undefined }
    const cost = Number(text)
    if (!Number.isInteger(cost) || cost < 1)
      throw new CliError(`--cost is no whole number: ${String(text)}`, "For example: --cost 32768")
    return { cost }
  },
}
