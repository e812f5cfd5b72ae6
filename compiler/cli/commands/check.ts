import type { Explanation } from "../../../runtime/check/ports.ts"
import type { CheckArgs } from "../args/check.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"
import { checkText } from "../views/check.ts"

export const check: CommandAction<CheckArgs> = async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const { user, relation, object } = args
  const answer = expectOk<{ allowed: boolean; explanation?: Explanation }>(
    await remote.request("POST", `${path}/check`, {
      tuple_key: { user, relation, object },
      ...(args.context === undefined ? {} : { context: args.context }),
      // What is missing is part of the explanation, and no error.
      ...(args.explain ? { explain: true, ternary: true } : {}),
    }),
  )
  io.out(args.format === "json" ? `${JSON.stringify(answer, null, 2)}\n` : checkText(args, answer))
  return args.exitCode && !answer.allowed ? exitCode.changes : exitCode.ok
}
