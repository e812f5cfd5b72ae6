import type { StatusAnswer } from "../../../runtime/control/api.ts"
import type { StatusArgs } from "../args/status.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { statusText } from "../views/status.ts"

export const status: CommandAction<StatusArgs> = async (args, io) => {
  const remote = await connect(io)
  const answer = expectOk<StatusAnswer>(await remote.request("GET", "/v1/status"))
  io.out(args.format === "json" ? `${JSON.stringify(answer, null, 2)}\n` : statusText(answer))
  return exitCode.ok
}
