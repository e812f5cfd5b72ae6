import { describe, expect, test } from "vitest"
import { readModule } from "./structure/module.ts"
import { browserRooms, limits, type Room, rooms } from "./structure/rooms.ts"
import { breachesOf, roomOf, type Tree, targetOf } from "./structure/rules.ts"
import { projectTree, show } from "./structure/tree.ts"

const tree = projectTree()

describe("the project", () => {
  test("keeps every rule of the house", () => {
    expect(show(breachesOf(tree, rooms, limits))).toBe("")
  })

  test("loads no compiler and no chevrotain from any file of the runtime", () => {
    const starts = [...tree.keys()].filter((path) => path.startsWith("runtime/"))
    const found = [...reachable(starts)].filter(
      (path) => path.startsWith("compiler/") || path.startsWith("chevrotain"),
    )
    expect(found).toEqual([])
  })
})

// The bundle of test/platform has the other half: what is loaded from these rooms.
test("rooms that run in a browser import nothing of Node.js and use none of its globals", () => {
  const inBrowser = (path: string) => browserRooms.includes(roomOf(path, rooms)?.path ?? "")
  const found = [...tree].flatMap(([path, text]) => {
    if (!inBrowser(path)) return []
    const globals = text.match(nodeGlobal) ?? []
    const modules = readModule(path, text).imports.flatMap(({ specifier }) =>
      specifier?.startsWith("node:") ? [specifier] : [],
    )
    return [...globals, ...modules].map((what) => `${path}: ${what.trim()}`)
  })
  expect(found).toEqual([])
  expect(rooms.filter(({ path, builtins }) => browserRooms.includes(path) && builtins !== undefined)).toEqual(
    [],
  )
})

/** Uses of what only Node.js has, on lines that are no comments. */
const nodeGlobal =
  /^(?!\s*(?:\/\/|\/?\*)).*?(?:\bBuffer\.|\): Buffer\b|\bprocess\.(?:env|cwd|nextTick|hrtime|platform)|\bsetImmediate\(|\.unref\(\))/gm

test("exported types of one name are declared in one file", () => {
  expect(repeatedTypes(tree)).toEqual({})
})

test("finds types of one name in two files", () => {
  const files = new Map([
    [
      "runtime/a.ts",
      "export interface Place {}\nexport class Node {}\ntype Local = 1\nexport type Row = 1\n",
    ],
    [
      "runtime/b.ts",
      'export type Place = 1\nexport enum Node {}\ntype Local = 1\nexport type { Row } from "./a.ts"\n',
    ],
    ["test/c.ts", "export type Row = 1\n"],
  ])
  expect(repeatedTypes(files)).toEqual({ Node: 2, Place: 2 })
})

/** Names that more than one file of the product declares and exports a type by, with the number of files. */
function repeatedTypes(files: Tree): Record<string, number> {
  const counts = new Map<string, number>()
  for (const [path, text] of files) {
    if (!/^(?:compiler|runtime)\/.*\.ts$/.test(path)) continue
    for (const name of new Set(readModule(path, text).types)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const repeated = [...counts].filter(([, count]) => count > 1)
  return Object.fromEntries(repeated.sort(([one], [other]) => (one < other ? -1 : 1)))
}

const named = new Map<string, readonly string[]>()

/** What one file loads or names itself. Each file is parsed once, however many reach it. */
function namedBy(path: string, text: string): readonly string[] {
  const known = named.get(path)
  if (known !== undefined) return known
  const specifiers = readModule(path, text).imports.flatMap(({ specifier }) => specifier ?? [])
  const found = specifiers.map((specifier) => targetOf(path, specifier) ?? specifier)
  named.set(path, found)
  return found
}

/** Everything that files load or name, files and packages, by any form of import. */
function reachable(starts: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const waiting = [...starts]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const text = tree.get(path)
    if (text === undefined) continue
    waiting.push(...namedBy(path, text))
  }
  return seen
}

const small: readonly Room[] = [
  { path: "runtime/plan", doors: ["plan"], may: [], packages: ["zod"] },
  { path: "runtime/check", doors: ["check"], may: ["runtime/plan"] },
  { path: "runtime/main.ts", doors: [], may: ["runtime/check"], builtins: ["node:fs"] },
  { path: "compiler/cli", doors: [], may: ["runtime/plan"], lazily: ["runtime/main.ts"], builtins: "any" },
]

const sound: Record<string, string> = {
  "runtime/plan/plan.ts": 'import { z } from "zod"\n/** A plan. */\nexport const plan = z.object({})\n',
  "runtime/check/check.ts":
    'import type { plan } from "../plan/plan.ts"\nimport { half } from "./half.ts"\n/** Checks. */\nexport const check = (p: typeof plan) => half(p)\n',
  "runtime/check/half.ts": "export const half = (x: unknown) => x\n",
  "runtime/main.ts":
    'import { readFileSync } from "node:fs"\nimport { check } from "./check/check.ts"\n/** Starts. */\nexport const main = () => [check, readFileSync]\n',
  "compiler/cli/main.ts":
    'import { plan } from "../../runtime/plan/plan.ts"\nexport const run = async () => [plan, await import("../../runtime/main.ts")]\n',
  "test/main.test.ts": 'import { half } from "../runtime/check/half.ts"\nhalf(1)\n',
}

/** `[what, rule, files added or replaced, text in the breach]` */
const broken: [string, string, Record<string, string>, string][] = [
  ["a file in no row", "room", { "runtime/attic/x.ts": "export const x = 1\n" }, "belongs to no room"],
  ["a file beside the rooms", "room", { "runtime/x.ts": "export const x = 1\n" }, "belongs to no room"],
  [
    "an arrow up",
    "arrow",
    { "runtime/plan/up.ts": 'import { check } from "../check/check.ts"\ncheck\n' },
    "runtime/plan may not import runtime/check",
  ],
  [
    "an arrow up by type only",
    "arrow",
    {
      "runtime/plan/up.ts": 'import type { check } from "../check/check.ts"\nexport type C = typeof check\n',
    },
    "runtime/plan may not import runtime/check",
  ],
  [
    "an arrow up inside a type",
    "arrow",
    { "runtime/plan/up.ts": 'export type C = typeof import("../check/check.ts")\n' },
    "runtime/plan may not import runtime/check",
  ],
  [
    "an arrow up by import()",
    "arrow",
    { "runtime/plan/up.ts": 'export const c = () => import("../check/check.ts")\n' },
    "runtime/plan may not import runtime/check",
  ],
  [
    "the runtime importing the compiler",
    "arrow",
    { "runtime/check/up.ts": 'import { run } from "../../compiler/cli/main.ts"\nrun()\n' },
    "runtime/check may not import compiler/cli",
  ],
  [
    "a static import where only a lazy one is allowed",
    "arrow",
    { "compiler/cli/serve.ts": 'import { main } from "../../runtime/main.ts"\nmain()\n' },
    "only by `import()`",
  ],
  [
    "product code importing a test",
    "arrow",
    { "compiler/cli/t.ts": 'import "../../test/main.test.ts"\n' },
    "a test",
  ],
  [
    "a way past the door",
    "door",
    { "runtime/main.ts": 'import { half } from "./check/half.ts"\nhalf(1)\n' },
    "runtime/check/half.ts is not a door",
  ],
  [
    "a package that is not the room's",
    "package",
    { "runtime/check/p.ts": 'import "pg"\n' },
    "may not import pg",
  ],
  [
    "a scoped package, by a path inside it",
    "package",
    { "runtime/check/p.ts": 'import "@a/b/c"\n' },
    "may not import @a/b",
  ],
  ["a module of Node in a pure room", "package", { "runtime/plan/p.ts": 'import "node:fs"\n' }, "node:fs"],
  ["export * from", "barrel", { "runtime/plan/all.ts": 'export * from "./plan.ts"\n' }, "another file"],
  ["export from", "barrel", { "runtime/plan/all.ts": 'export { plan } from "./plan.ts"\n' }, "another file"],
  [
    "import, then export",
    "barrel",
    { "runtime/plan/all.ts": 'import { plan } from "./plan.ts"\nexport { plan }\n' },
    "another file",
  ],
  ["an index file", "barrel", { "runtime/plan/index.ts": "export const a = 1\n" }, "name the file"],
  [
    "a circle of files",
    "cycle",
    {
      "runtime/check/a.ts": 'import { b } from "./b.ts"\nexport const a = () => b\n',
      "runtime/check/b.ts": 'import { a } from "./a.ts"\nexport const b = () => a\n',
    },
    "runtime/check/a.ts → runtime/check/b.ts → runtime/check/a.ts",
  ],
  [
    "a circle closed by a type",
    "cycle",
    {
      "runtime/check/a.ts": 'import { b } from "./b.ts"\nexport type A = typeof b\n',
      "runtime/check/b.ts": 'import type { A } from "./a.ts"\nexport const b = (a: A) => a\n',
    },
    "runtime/check/a.ts",
  ],
  [
    "a function of 61 lines",
    "function length",
    { "runtime/plan/f.ts": `export function f() {\n${"  f()\n".repeat(59)}}\n` },
    "f has 61 lines",
  ],
  [
    "an arrow function of 61 lines",
    "function length",
    { "runtime/plan/f.ts": `export const g = () => {\n${"  g()\n".repeat(59)}}\n` },
    "g has 61 lines",
  ],
  [
    "a method of 61 lines",
    "function length",
    { "runtime/plan/f.ts": `export class C {\n  m() {\n${"    m()\n".repeat(59)}  }\n}\n` },
    "m has 61 lines",
  ],
  [
    "a door's export without a docblock",
    "documentation",
    { "runtime/check/check.ts": "export const check = 1\n// No docblock.\nexport interface Q { a: 1 }\n" },
    "`Q` is exported",
  ],
  [
    "an export list of a door, of something without a docblock",
    "documentation",
    { "runtime/check/check.ts": "const check = 1\nexport { check }\n" },
    "`check` is exported",
  ],
  [
    "an import of nothing",
    "import",
    { "runtime/check/n.ts": 'import "./gone.ts"\n' },
    "is not a source file",
  ],
  [
    "an import() of a variable",
    "import",
    { "runtime/check/n.ts": "export const l = (x: string) => import(x)\n" },
    "literal",
  ],
  ["a file name in camel case", "file name", { "runtime/check/aB.ts": "export const a = 1\n" }, "kebab-case"],
  ["a file that does not parse", "syntax", { "runtime/check/a.ts": "const = 1\n" }, ""],
]

describe("the rules, on a small tree", () => {
  const breaches = (files: Record<string, string>, table = small) =>
    breachesOf(new Map(Object.entries({ ...sound, ...files })) as Tree, table, limits)

  test("find nothing where there is nothing", () => {
    expect(show(breaches({}))).toBe("")
  })

  test.each(broken)("find %s", (_, rule, files, text) => {
    const found = breaches(files).filter((breach) => breach.rule === rule)
    expect(found.length).toBeGreaterThan(0)
    expect(show(found)).toContain(text)
  })

  test("find a table whose arrows go in a circle, or lead nowhere", () => {
    const circle = small.map((room) =>
      room.path === "runtime/plan" ? { ...room, may: ["runtime/main.ts"] } : room,
    )
    expect(show(breaches({}, circle))).toContain("rooms in a circle")
    const nowhere = small.map((room) =>
      room.path === "runtime/plan" ? { ...room, may: ["runtime/cellar"] } : room,
    )
    expect(show(breaches({}, nowhere))).toContain("which has no row")
  })

  test("allow 400 lines, 60 lines, overloads with one docblock, and a list of tests of any length", () => {
    const files = {
      "runtime/plan/l.ts": "const a = 1\n".repeat(400),
      "runtime/plan/f.ts": `export function f() {\n${"  f()\n".repeat(58)}}\n`,
      "runtime/check/check.ts":
        "/** Twice. */\nexport function check(a: string): void\nexport function check(a: number): void\nexport function check() {}\n",
      "test/t.test.ts": `describe("a", () => {\n${"  test()\n".repeat(80)}})\n`,
    }
    expect(show(breaches(files))).toBe("")
  })

  test("take a schema's docblock for its type's", () => {
    const text =
      "/** A check. */\nexport const check = z.object({})\nexport type Check = z.infer<typeof check>\n"
    expect(show(breaches({ "runtime/check/check.ts": text }))).toBe("")
  })
})
