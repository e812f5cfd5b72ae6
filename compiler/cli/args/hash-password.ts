import { hashCost } from "../../../runtime/identity/users.ts"
import { CliError, type CommandLine } from "../command.ts"

export interface HashPasswordArgs {
  /** N of scrypt. */
  readonly cost: number
}

export const hashPasswordLine: CommandLine<HashPasswordArgs> = {
  name: "hash-password",
  summary: "make the hash of a password for `users`, so that the password itself is kept nowhere",
  options: [
    [
      "--cost <n>",
      `memory in KiB and so the time of each try: a power of two, ${hashCost.byDefault} when not said`,
    ],
  ],
  examples: [
    ["npx sallyport hash-password", "asks for the password, which is not shown, and prints the hash"],
    ['printf %s "$PASSWORD" | npx sallyport hash-password', "reads it from a pipe"],
  ],
  parse(_, options) {
    const text = options["cost"]
    if (text === undefined) return { cost: hashCost.byDefault }
    const cost = Number(text)
    const { min, max } = hashCost
    if (!Number.isInteger(cost) || cost < min || cost > max || (cost & (cost - 1)) !== 0)
      throw new CliError(
        `--cost is no power of two from ${min} to ${max}: ${String(text)}`,
        `For example: --cost ${2 * hashCost.byDefault}`,
      )
    return { cost }
  },
}
