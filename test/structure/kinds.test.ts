import { expect, test } from "vitest"
import { kindMentions } from "./kind-mentions.ts"
import { projectTree } from "./tree.ts"

// A kind of step has three files of its name: its contract with facts, its text and meaning, what runs it.

const tree = projectTree()
const paths = [...tree.keys()]

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

test("other files ask what holds of a step, not of which kind it is: a kind is named in four at most", () => {
  const own = kinds.map((kind) => {
    const running = new RegExp(`^runtime/policies/[a-z]+/${together[kind] ?? kind}\\.ts$`)
    const files = paths.filter((path) => path.endsWith(`/steps/${kind}.ts`) || running.test(path))
    return [kind, new Set(files)] as const
  })
  const found = [...kindMentions(tree, new Map(own))]
  expect(found.filter(([, files]) => files.length > 4)).toEqual([])
  // A change of how files are read must not empty the count.
  expect(found.filter(([, files]) => files.length > 0).length).toBeGreaterThan(30)
})

test("finds a kind by a literal, by a type and by an import, and not by another word of its text", () => {
  const files = new Map([
    ["runtime/a.ts", 'export const is = (step: { kind: string }) => step.kind === "when"\n'],
    ["runtime/b.ts", 'const word = keyword === "when"\n'],
    ["runtime/c.ts", 'export type Test = StepOf<"when">["test"]\n'],
    ["compiler/d.ts", 'import { lower } from "./gateway/steps/when.ts"\nlower()\n'],
    ["compiler/azure/e.ts", 'const step = { kind: "when" }\n'],
    ["compiler/azure/f.ts", 'const step = { kind: "when" }\n'],
    ["runtime/plan/steps/when.ts", 'export const kind = "when"\n'],
    ["runtime/g.ts", 'const texts = ["set-header"]\n'],
    ["compiler/azure/h.ts", 'const elements = ["set-header"]\n'],
  ])
  const own = new Map([
    ["when", new Set(["runtime/plan/steps/when.ts"])],
    ["set-header", new Set<string>()],
  ])
  expect(Object.fromEntries(kindMentions(files, own))).toEqual({
    when: ["compiler/azure/f.ts", "compiler/d.ts", "runtime/a.ts", "runtime/c.ts"],
    "set-header": ["runtime/g.ts"],
  })
})
