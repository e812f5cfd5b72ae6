import { CliError, type CommandLine, command } from "../command.ts"
import { moveWords, readWordMoves, type WordMoveArgs, wordMoveOptions } from "../word-moves.ts"

const modelSplitLine: CommandLine<WordMoveArgs> = {
  operands: [
    ["<old>", "a relation, e.g. `doc#editor`"],
    [
      "<new...>",
      "the new relations; all of them get every tuple, or with `=USER,…` only those of these types of users",
    ],
  ],
  options: wordMoveOptions,
  examples: [
    ["sallyport model split doc#editor doc#writer doc#commenter", "all tuples to both"],
    ["sallyport model split doc#editor doc#writer=user doc#team=group#member", "by the type of users"],
  ],
  parse([from, ...targets], options) {
    if (from === undefined || targets.length < 2)
      throw new CliError(
        "model split needs a relation and at least two new ones",
        "For example: sallyport model split doc#editor doc#writer doc#commenter",
      )
    const moves = targets.map((target) => {
      const [to = "", users] = target.split("=")
      return users === undefined ? { from, to } : { from, to, users: users.split(",") }
    })
    return readWordMoves(options, moves)
  },
}

/** Splits a relation that has tuples. */
export const modelSplit = command(modelSplitLine, async (args, io) => moveWords(io, args))
