import type { HistoryAnswer } from "../../../runtime/control/api.ts"
import type { HistoryArgs } from "../args/history.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { historyText } from "../views/history.ts"

export const history: CommandAction<HistoryArgs> = async (args, io) => {
  const remote = await connect(io)
  const { plans } = expectOk<HistoryAnswer>(await remote.request("GET", `/v1/plans?limit=${args.limit}`))
  io.out(args.format === "json" ? `${JSON.stringify(plans, null, 2)}\n` : historyText(plans))
  return exitCode.ok
}
