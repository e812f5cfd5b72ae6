import { CliError, type CommandLine, command } from "../command.ts"
import { moveWords, readWordMoves, type WordMoveArgs, wordMoveOptions } from "../word-moves.ts"

const modelRenameLine: CommandLine<WordMoveArgs> = {
  operands: [
    ["<old>", "a relation (`doc#viewer`) or a type (`doc`)"],
    ["<new>", "its new name (`doc#reader`, `file`)"],
  ],
  options: wordMoveOptions,
  examples: [
    [
      "sallyport model rename doc#viewer doc#reader",
      "write the first plan of a renaming, and later the second",
    ],
    ["sallyport model rename folder dir --dry-run", "print the model"],
  ],
  parse([from, to], options) {
    if (from === undefined || to === undefined)
      throw new CliError(
        "model rename needs the old and the new word",
        "For example: sallyport model rename doc#viewer doc#reader",
      )
    return readWordMoves(options, [{ from, to }])
  },
}

/** Renames a relation or a type that has tuples. */
export const modelRename = command(modelRenameLine, async (args, io) => moveWords(io, args))
