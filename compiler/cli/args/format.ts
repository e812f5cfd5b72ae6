import { CliError, type OptionValues } from "../command.ts"

/** The option most commands have. */
export const formatOption = ["--format <format>", "text or json"] as const

/** Reads `--format`; text when absent. */
export function readFormat<const Allowed extends readonly string[]>(
  options: OptionValues,
  allowed: Allowed,
): Allowed[number] {
  const given = options["format"]
  if (given === undefined) return allowed[0] as Allowed[number]
  if (typeof given === "string" && allowed.includes(given)) return given
  throw new CliError(`--format ${String(given)} is not known`, `Formats are ${allowed.join(", ")}.`)
}

/** Reads a whole number that counts something, from 1. */
export function readCount(text: string, what: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new CliError(`${what} is a whole number from 1, not \`${text}\``)
}
