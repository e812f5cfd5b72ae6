import { expect, test } from "vitest"
import { projectTree } from "./tree.ts"

// A kind of step has three files of its name: its contract with facts, its text and meaning, what runs it.

const paths = [...projectTree().keys()]

/** Names of the files of a folder, without `.ts`. */
function names(folder: RegExp): string[] {
  return paths.flatMap((path) => folder.exec(path)?.[1] ?? []).sort()
}

const kinds = names(/^runtime\/plan\/steps\/([a-z-]+)\.ts$/)

/** Halves of one policy: the lookup leaves what the store needs. */
const together: Readonly<Record<string, string>> = {
  "cache-lookup": "cache-response",
  "cache-store": "cache-response",
}

test("a kind of step leads to its text, and to nothing else", () => {
  expect(kinds.length).toBeGreaterThan(50)
  expect(names(/^compiler\/gateway\/steps\/([a-z-]+)\.ts$/)).toEqual(kinds)
})

test("a kind of step leads to what runs it", () => {
  const running = new Set(names(/^runtime\/policies\/[a-z]+\/([a-z-]+)\.ts$/))
  expect(kinds.filter((kind) => !running.has(together[kind] ?? kind))).toEqual([])
})
