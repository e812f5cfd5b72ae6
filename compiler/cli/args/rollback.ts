import { CliError, type CommandLine } from "../command.ts"
import { messageOption, reasonOf } from "./apply.ts"
import { readCount } from "./format.ts"

export interface RollbackArgs {
  readonly serial: number
  readonly yes: boolean
  readonly reason: string | undefined
}

export const rollbackLine: CommandLine<RollbackArgs> = {
  name: "rollback",
  summary: "make an earlier plan the running one again",
  operands: [["<serial>", "serial of the plan, see `sallyport history`"]],
  options: [["--yes", "do not ask"], messageOption],
  examples: [["sallyport rollback 41 --yes", "apply the plan of serial 41 again, as a new serial"]],
  parse([serial], options) {
    if (serial === undefined) throw new CliError("which serial?", "`sallyport history` lists them.")
    return {
      serial: readCount(serial, "the serial"),
      yes: options["yes"] === true,
      reason: reasonOf(options),
    }
  },
}
