import { readFileSync } from "node:fs"
import { projectRoot } from "../structure/tree.ts"

/** A line of the file: `COPY` and what follows it. */
export interface Instruction {
  readonly word: string
  readonly rest: string
}

/** Instructions by stage; a line goes on behind a backslash. */
function stagesOf(text: string): Instruction[][] {
  const stages: Instruction[][] = []
  const lines = text.replace(/^#.*\n/gm, "").replace(/\\\n\s*/g, "")
  for (const line of lines.split("\n").filter((each) => each.trim() !== "")) {
    const [, word = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (word === "FROM") stages.push([])
    stages.at(-1)?.push({ word, rest })
  }
  return stages
}

/** The file of the image. */
export const text = readFileSync(`${projectRoot}runtime/Containerfile`, "utf8")
/** Its instructions by stage. */
export const stages = stagesOf(text)

/** What follows a word in each instruction of a stage. */
export function restOf(stage: readonly Instruction[], word: string): string[] {
  return stage.filter((each) => each.word === word).map(({ rest }) => rest)
}
