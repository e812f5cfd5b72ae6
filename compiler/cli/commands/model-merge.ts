import { CliError, type CommandLine, command } from "../command.ts"
import { moveWords, readWordMoves, type WordMoveArgs, wordMoveOptions } from "../word-moves.ts"

const modelMergeLine: CommandLine<WordMoveArgs> = {
  operands: [["<relation...>", "the old relations of one type, and the new one at the end"]],
  options: wordMoveOptions,
  examples: [
    ["sallyport model merge doc#editor doc#owner doc#staff", "tuples of both become tuples of `staff`"],
  ],
  parse(words, options) {
    const to = words.at(-1)
    if (to === undefined || words.length < 3)
      throw new CliError(
        "model merge needs at least two relations and a new one",
        "For example: sallyport model merge doc#editor doc#owner doc#staff",
      )
    return readWordMoves(
      options,
      words.slice(0, -1).map((from) => ({ from, to })),
    )
  },
}

/** Merges relations that have tuples. */
export const modelMerge = command(modelMergeLine, async (args, io) => moveWords(io, args))
