import type { TupleMove } from "../../runtime/plan/authz.ts"
import { neutral } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** Moves of tuples that a store begins or ends. Copies grant nothing by themselves: what the model reads decides. */
export function compareMoves(
  { store, path }: { readonly store: string; readonly path: string },
  before: readonly TupleMove[],
  after: readonly TupleMove[],
): UnplacedChange[] {
  const about = (move: TupleMove) =>
    ({
      subject: { kind: "move", name: `${move.from} to ${move.to}` },
      scope: { kind: "store", name: store },
      path,
    }) as const
  const missing = (moves: readonly TupleMove[], others: readonly TupleMove[]) =>
    moves.filter((move) => !others.some((other) => same(move, other)))
  return [
    ...missing(after, before).map((move) =>
      changeOf(
        { ...about(move), action: "added", after: wordsOf(move) },
        neutral(
          `stored tuples of \`${move.from}\` are copied to \`${move.to}\`, and both are kept in step from now on`,
        ),
      ),
    ),
    ...missing(before, after).map((move) =>
      changeOf(
        { ...about(move), action: "removed", before: wordsOf(move) },
        neutral(
          `\`${move.from}\` and \`${move.to}\` are not kept in step any more, unless the model has only the new word: then until \`sallyport model finish\`; with only the old word, the copies are deleted`,
        ),
      ),
    ),
  ]
}

function wordsOf({ from, to, users }: TupleMove): string {
  return `move "${from}" to "${to}"${users === undefined ? "" : ` for ${users.map((user) => `"${user}"`).join(" ")}`}`
}
