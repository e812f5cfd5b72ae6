import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { MemoryFiles, type ReadFailure } from "../compiler/core/files.ts"

// A case is a file in test/cases/<folder>/ with sections. What stands before the first one says what the case shows.
//
//     -- gateway.conf --            a file of the project
//     -- x.conf (escapes) --        the same, with JSON's escapes and without its last newline
//     -- x.conf (hex) --            its bytes; (utf-16) its text in that encoding
//     -- x.conf (failure: large) -- a file that cannot be read
//     -- diagnostics --             expected: what is printed for the project; any name the test has a function for
//
// Cases are found by scanning. With UPDATE=1 expectations are rewritten, and the diff is the review.

/** What a test computes for a section of a case; compared with the section's text. */
export type Expectations = Readonly<
  Record<string, (files: MemoryFiles, sections: ReadonlyMap<string, string>) => string | Promise<string>>
>

/**
 * One test for each case in `test/cases/<folder>`. A section whose name is in `expectations` is compared; `diagnostics`
 * is compared in every case, a case without it expects none. All other sections are files, except `options`.
 */
export function runCases(folder: string, expectations: Expectations): void {
  describe(folder, () => {
    for (const path of casePaths(folder)) test(basename(path, ".case"), () => runCase(path, expectations))
  })
}

/** Codes that the `diagnostics` of the cases in these folders show, for the test that every code has a case. */
export function codesIn(...folders: readonly string[]): Set<string> {
  const codes = new Set<string>()
  for (const path of folders.flatMap(casePaths)) {
    const expected =
      sectionsOf(readFileSync(path, "utf8")).find(({ name }) => name === "diagnostics")?.text ?? ""
    for (const found of expected.matchAll(/^(?:error|warning|info) (SP\d{4})/gm))
      codes.add(found[1] as string)
  }
  return codes
}

/** The files of each case in these folders, by its path; those of what is to come, where a case shows two projects. */
export function projectsIn(
  ...folders: readonly string[]
): ReadonlyMap<string, readonly (readonly [string, string])[]> {
  const found = folders.flatMap(casePaths).map((path) => {
    const files = sectionsOf(readFileSync(path, "utf8")).flatMap(({ name, how, text }) =>
      how === undefined && name !== "" && !name.startsWith("before/")
        ? [[name.replace(/^after\//, ""), text] as const]
        : [],
    )
    return [path, files] as const
  })
  return new Map(found)
}

async function runCase(path: string, expectations: Expectations): Promise<void> {
  const sections = sectionsOf(readFileSync(path, "utf8"))
  const isExpected = (name: string): boolean => Object.hasOwn(expectations, name)
  const files = new MemoryFiles(
    sections.flatMap(({ name, how, text }) =>
      isExpected(name) || name === "" || name === "options" ? [] : [[name, contentOf(how, text)] as const],
    ),
  )
  const texts = new Map(sections.map(({ name, text }) => [name, text]))
  const wanted = new Map<string, string>()
  for (const [name, compute] of Object.entries(expectations))
    if (name === "diagnostics" || texts.has(name)) wanted.set(name, withNewline(await compute(files, texts)))
  if (process.env["UPDATE"] === "1") update(path, sections, wanted)
  else for (const [name, text] of wanted) expect(text, name).toBe(withNewline(texts.get(name) ?? ""))
}

interface Section {
  readonly name: string
  readonly how: string | undefined
  readonly text: string
}

function sectionsOf(text: string): Section[] {
  const sections: Section[] = []
  let name = ""
  let how: string | undefined
  let lines: string[] = []
  const finish = (): void => {
    sections.push({ name, how, text: lines.map((line) => `${line}\n`).join("") })
    lines = []
  }
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const head = /^-- ([^\s(]+)(?: \(([^)]*)\))? --$/.exec(line)
    if (head === null) {
      lines.push(line)
      continue
    }
    finish()
    name = head[1] as string
    how = head[2]
  }
  finish()
  return sections
}

function contentOf(how: string | undefined, text: string): string | Uint8Array | { failure: ReadFailure } {
  if (how === undefined) return text
  const bare = text.replace(/\n$/, "")
  if (how === "escapes") return unescapeJson(bare)
  if (how === "hex") return Buffer.from(bare.replace(/\s/g, ""), "hex")
  if (how === "utf-16") return Buffer.from(`\ufeff${text}`, "utf16le")
  const failure = /^failure: (\w+)$/.exec(how)?.[1]
  if (failure === undefined) throw new Error(`a section cannot be \`${how}\``)
  return { failure: failure as ReadFailure }
}

/** `\n`, `\r`, `\u000B` …; a `"` needs no escape and a line's end is kept. */
function unescapeJson(text: string): string {
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|.)/g, (written) => JSON.parse(`"${written}"`) as string)
}

function update(path: string, sections: readonly Section[], wanted: ReadonlyMap<string, string>): void {
  const kept = sections.filter(({ name }) => name !== "diagnostics" || wanted.get(name) !== "")
  const added = [...wanted].filter(
    ([name, text]) => text !== "" && !kept.some((section) => section.name === name),
  )
  const all = [...kept, ...added.map(([name, text]) => ({ name, how: undefined, text }))]
  const written = all.map(({ name, how, text }) => {
    const head = name === "" ? "" : `-- ${name}${how === undefined ? "" : ` (${how})`} --\n`
    return head + (wanted.get(name) ?? text)
  })
  const next = written.join("")
  // Tests of other processes read the file: for a moment it would be empty.
  if (next !== readFileSync(path, "utf8")) writeFileSync(path, next)
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}

function casePaths(folder: string): string[] {
  const root = fileURLToPath(new URL(`cases/${folder}`, import.meta.url))
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".case"))
    .sort()
    .map((path) => join(root, path))
}
