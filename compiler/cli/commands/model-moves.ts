import { setTimeout as sleep } from "node:timers/promises"
import type { MovesAnswer } from "../../../runtime/control/api.ts"
import { type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"
import { withProgress } from "../progress.ts"
import { connect, expectOk, type Remote } from "../remote.ts"

const pollMs = 500

interface ModelMovesArgs {
  readonly wait: boolean
  readonly format: "text" | "json"
}

type Move = MovesAnswer["moves"][number]

const modelMovesLine: CommandLine<ModelMovesArgs> = {
  options: [
    ["--wait", "wait until nothing is copied or deleted any more; exit 1 when that fails"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport model moves", "which tuples move from one word of a model to another, and how far"],
    ["sallyport model moves --wait", "before the plan whose model has only the new word"],
  ],
  parse: (_, options) => ({
    wait: options["wait"] === true,
    format: readFormat(options, ["text", "json"]),
  }),
}

/** The moves of tuples of the running stores. */
export const modelMoves = command(modelMovesLine, async ({ wait, format }, io) => {
  const remote = await connect(io)
  const moves = wait ? await withProgress(io, "moving tuples", () => settled(remote)) : await movesOf(remote)
  print(io, format, { moves }, () => movesText(moves))
  return wait && moves.some(({ failure }) => failure !== null) ? exitCode.failed : exitCode.ok
})

async function movesOf(remote: Remote): Promise<readonly Move[]> {
  return expectOk<MovesAnswer>(await remote.request("GET", "/v1/moves")).moves
}

/** The moves when none is being worked on, or as soon as one has failed. */
async function settled(remote: Remote): Promise<readonly Move[]> {
  for (;;) {
    const moves = await movesOf(remote)
    const working = moves.filter(({ state }) => state !== "ready" && state !== "kept")
    if (working.length === 0 || working.some(({ failure }) => failure !== null)) return moves
    await sleep(pollMs)
  }
}

const meanings: Readonly<Record<Move["state"], string>> = {
  copying: "copying",
  ready: "ready: both words are in step",
  kept: "kept: the old tuples stay in step until `sallyport model finish`",
  finishing: "deleting the old tuples",
  reverting: "deleting the copies",
}

function movesText(moves: readonly Move[]): string {
  if (moves.length === 0) return "no tuples move\n"
  return moves
    .map(({ store, from, to, users, state, examined, changed, failure }) => {
      const who = users === null ? "" : ` for ${users.join(", ")}`
      const count = (number: number) => number.toLocaleString("en-US")
      const work = `${count(examined)} tuples examined, ${count(changed)} ${state === "copying" || state === "ready" ? "written" : "deleted"}`
      const isDone = state === "kept"
      const problem = failure === null ? "" : `  failed, and is tried again: ${failure}\n`
      return `${store}: ${from} to ${to}${who}\n  ${meanings[state]}${isDone ? "" : `; ${work}`}\n${problem}`
    })
    .join("")
}
