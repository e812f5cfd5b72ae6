import type { FinishedMoves } from "../../../runtime/control/api.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk } from "../remote.ts"

interface ModelFinishArgs {
  readonly store: string
  readonly yes: boolean
  readonly format: "text" | "json"
}

const modelFinishLine: CommandLine<ModelFinishArgs> = {
  operands: [["<store>", "the store whose model has only the new words"]],
  options: [["--yes", "do not ask for confirmation"], ...formatOptions],
  examples: [
    ["sallyport model finish acme", "delete the tuples with old words, which no model reads any more"],
  ],
  parse([store], options) {
    if (store === undefined)
      throw new CliError("model finish needs a store", "For example: sallyport model finish acme")
    return { store, yes: options["yes"] === true, format: readFormat(options, ["text", "json"]) }
  },
}

/** Deletes the old tuples of the moves of a store. Until then a rollback brings the old model back. */
export const modelFinish = command(modelFinishLine, async ({ store, yes, format }, io) => {
  const remote = await connect(io)
  await confirm(
    io,
    `Delete the tuples with old words of store ${store}? No plan with the old model can be applied after that.`,
    yes,
  )
  const answer = expectOk<FinishedMoves>(await remote.request("POST", "/v1/moves/finish", { store }))
  print(
    io,
    format,
    answer,
    ({ finishing }) =>
      `finishing ${finishing} ${finishing === 1 ? "move" : "moves"}; \`sallyport model moves\` shows the progress\n`,
  )
  return exitCode.ok
})
