import type { UsageAnswer } from "../../../runtime/control/usage-api.ts"
import type { UsageArgs } from "../args/usage.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { usageCsv, usageText } from "../views/usage.ts"

export const usage: CommandAction<UsageArgs> = async ({ query, format }, io) => {
  const remote = await connect(io)
  const answer = expectOk<UsageAnswer>(
    await remote.request("GET", `/v1/usage?${new URLSearchParams(query).toString()}`),
  )
  if (format === "json") io.out(`${JSON.stringify(answer, null, 2)}\n`)
  else io.out(format === "csv" ? usageCsv(answer) : usageText(answer))
  return exitCode.ok
}
