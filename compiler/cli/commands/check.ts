import type { Explanation } from "../../../runtime/check/ports.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readFormat, readJson, readStore, storeOption } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk } from "../remote.ts"
import { storePath } from "../store.ts"
import { checkText } from "../views/check.ts"

interface CheckArgs {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly store: string | undefined
  readonly context: unknown
  readonly explain: boolean
  readonly exitCode: boolean
  readonly format: "text" | "json"
}

const checkLine: CommandLine<CheckArgs> = {
  operands: [
    ["<user>", "a user or userset: user:bob, group:eng#member"],
    ["<relation>", "a relation of the model: viewer"],
    ["<object>", "an object: order:1"],
  ],
  options: [
    storeOption,
    ["--context <json>", "values for conditions, as a JSON object"],
    ["--explain", "explain the result: what grants the relation, or what is missing"],
    ["--exit-code", "exit 2 when the result is denied"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport check user:bob viewer order:1 --explain", "check whether bob may see order 1, and why"],
    [
      "sallyport check user:ann viewer order:1 --exit-code && deploy",
      "in a script: run `deploy` only when allowed",
    ],
  ],
  parse([user, relation, object], options) {
    if (user === undefined || relation === undefined || object === undefined) {
      throw new CliError(
        "a check needs a user, a relation and an object",
        "For example: sallyport check user:bob viewer order:1",
      )
    }
    return {
      user,
      relation,
      object,
      store: readStore(options),
      context: readJson(options["context"], "--context"),
      explain: options["explain"] === true,
      exitCode: options["exitCode"] === true,
      format: readFormat(options, ["text", "json"]),
    }
  },
}

/** Denied is a result and not a failure: the command exits with 0 unless `--exit-code` is given. */
export const check = command(checkLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const { user, relation, object } = args
  const answer = expectOk<{ allowed: boolean; explanation?: Explanation }>(
    await remote.request("POST", `${path}/check`, {
      tuple_key: { user, relation, object },
      ...(args.context === undefined ? {} : { context: args.context }),
      // A missing condition parameter is part of the explanation, not an error.
      ...(args.explain ? { explain: true, ternary: true } : {}),
    }),
  )
  print(io, args.format, answer, () => checkText(args, answer))
  // 2 means "there is a difference" for `plan` and `diff`, and "no" here, so that a shell can tell a refusal from a failure.
  return args.exitCode && !answer.allowed ? exitCode.changes : exitCode.ok
})
