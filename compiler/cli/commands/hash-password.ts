import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"

interface HashPasswordArgs {
  /** The N parameter of scrypt; undefined: the default. */
  readonly cost: number | undefined
}

const hashPasswordLine: CommandLine<HashPasswordArgs> = {
  options: [
    [
      "--cost <n>",
      "memory in KiB for one hash, a power of two; more memory makes guessing slower (default: 16384)",
    ],
  ],
  examples: [
    ["npx sallyport hash-password", "ask for the password without showing it, and print the hash"],
    ['printf %s "$PASSWORD" | npx sallyport hash-password', "read the password from a pipe"],
  ],
  parse(_, options) {
    const text = options["cost"]
    if (text === undefined) return { cost: undefined }
    const cost = Number(text)
    if (!Number.isInteger(cost) || cost < 1)
      throw new CliError(`--cost is not a whole number: ${String(text)}`, "For example: --cost 32768")
    return { cost }
  },
}

/** Prints only the hash, so that it can be piped to a secret store. */
export const hashPassword = command(hashPasswordLine, async ({ cost }, io) => {
  const { hashCost, hashPassword: hashOf } = await import("../../../runtime/identity/users.ts")
  const { min, max } = hashCost
  if (cost !== undefined && (cost < min || cost > max || (cost & (cost - 1)) !== 0))
    throw new CliError(
      `--cost is not a power of two from ${min} to ${max}: ${cost}`,
      `For example: --cost ${2 * hashCost.byDefault}`,
    )
  const password = io.typed ? await typedPassword(io) : await pipedPassword(io)
  // RFC 7617 §2: user and password must not contain control characters.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused here.
  if (/[\u0000-\u001f\u007f]/.test(password))
    throw new CliError(
      "the password has control characters",
      "Choose another password: clients cannot send control characters.",
    )
  io.out(`${hashOf(password, cost)}\n`)
  return exitCode.ok
})

async function typedPassword(io: Io): Promise<string> {
  const password = await io.askHidden("Password: ")
  if (password === "") throw new CliError("the password is empty", "Type a password; it is not shown.")
  const again = await io.askHidden("Once more: ")
  if (again !== password) throw new CliError("the two passwords differ", "Try again.")
  return password
}

/** The password of a pipe. Several lines are refused: one of them would be used, and it would not be clear which. */
async function pipedPassword(io: Io): Promise<string> {
  const lines: string[] = []
  for await (const line of io.lines()) lines.push(line)
  const [password = "", ...more] = lines
  if (password === "")
    throw new CliError(
      "there is no password in the input",
      'For example: printf %s "$PASSWORD" | npx sallyport hash-password',
    )
  if (more.length > 0)
    throw new CliError(
      "the input has several lines",
      "Pass one password on one line; run the command once for each password.",
    )
  return password
}
