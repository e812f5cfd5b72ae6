import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { compileWithParts } from "../../compiler/compile.ts"
import type { Diagnostic } from "../../compiler/core/diagnostic.ts"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Span } from "../../compiler/core/source.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"
import type { OutlineItem } from "../../compiler/service/outline.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const rounds = scaled(20)
const pieces = [
  "{",
  "}",
  '"',
  "(",
  "auth ",
  "backend x",
  "\n",
  "${",
  "define a: [user]",
  " or ",
  "é",
  "\u0000",
  "",
]

/** The text with a part replaced, as fast typing, pasting and deleting do. */
function edited(text: string, random: Random): string {
  const start = random.below(text.length + 1)
  const length = random.chance(50) ? 0 : random.below(30)
  return text.slice(0, start) + random.pick(pieces) + text.slice(start + length)
}

test(`after each of ${rounds} random edits the findings are those of a new compilation, and every question has an answer`, async (context) => {
  const stored = new DiskFiles(root)
  const service = new LanguageService(overlaid(stored, new Map()), "gateway.conf")
  const random = new Random(firstSeed)
  const first = await service.findings()
  const paths = [...first.keys()].filter((path) => /\.(?:conf|fga)$/.test(path))
  const texts = new Map<string, string>()
  const asked = { findings: 0, completions: 0, hovers: 0, names: 0 }
  for (let round = 0; round < rounds; round++) {
    const path = random.pick(paths)
    const original = readFileSync(join(root, path), "utf8")
    const text = random.chance(30) ? original : edited(texts.get(path) ?? original, random)
    texts.set(path, text)
    service.set(path, text)
    const found = await service.findings()
    const fresh = await compileWithParts(overlaid(stored, texts), "gateway.conf")
    // Open models that the broken text does not name any more have findings, too.
    const ofProject = [...found].filter(([each]) => fresh.sources.includes(each)).flatMap(([, all]) => all)
    expect(ofProject.map(briefOf).sort()).toEqual(fresh.diagnostics.map(briefOf).sort())
    const offset = random.below(text.length + 1)
    const answers = await answersOf(service, path, offset)
    // What a service answers that has never seen another text.
    const other = new LanguageService(overlaid(stored, texts), "gateway.conf")
    expect(answers).toEqual(await answersOf(other, path, offset))
    asked.findings += ofProject.length
    asked.completions += answers.completions.length
    asked.hovers += answers.hover === undefined ? 0 : 1
    asked.names += answers.references.length
    await service.rename(path, offset, "renamed")
    await service.actions(path, offset, offset)
    for (const edit of await service.format(path)) expect(edit.text).not.toBe(text)
  }
  tellAsked(context, asked)
  expect(Math.min(...Object.values(asked))).toBeGreaterThan(0)
})

const briefOf = ({ code, detail, span }: Diagnostic) => [code, detail, span?.start].join(" ")

const placeOf = ({ file, start, end }: Span) => [file.path, start, end]

async function answersOf(service: LanguageService, path: string, offset: number) {
  const completions = await service.completion(path, offset)
  const hover = await service.hover(path, offset)
  const outline = (items: readonly OutlineItem[]): unknown[] =>
    items.map(({ name, detail, kind, span, children }) => [
      name,
      detail,
      kind,
      placeOf(span),
      outline(children),
    ])
  return {
    completions: completions.map(({ replaces, ...each }) => ({ ...each, replaces: placeOf(replaces) })),
    hover: hover && [hover.markdown, placeOf(hover.span)],
    references: (await service.references(path, offset)).map(placeOf),
    outline: outline(await service.outline(path)),
    folds: (await service.folds(path))?.map(placeOf),
    format: (await service.format(path)).map(({ text }) => text),
    hints: (await service.hints(path, 0, offset)).map(({ at, parts }) => [
      placeOf(at),
      parts.map(({ text, docs, span }) => [text, docs, placeOf(span)]),
    ]),
    lenses: (await service.lenses(path)).map(({ title, span }) => [title, placeOf(span)]),
    tokens: (await service.tokens(path)).map(({ kind, declares, span }) => [kind, declares, placeOf(span)]),
  }
}

/** Only files of this project: reading the files of the other tests in the repository would take half of the time. */
function ofProject(stored: DiskFiles, pattern: string) {
  const { paths, problem } = stored.glob(pattern)
  return { paths: paths.filter((path) => !path.startsWith("test/")), problem }
}

/** Stored files with other texts of some: without the code of the service. */
function overlaid(stored: DiskFiles, texts: ReadonlyMap<string, string>) {
  const memory = new MemoryFiles(texts)
  return {
    read: (path: string, bytesMax: number) =>
      texts.has(path) ? memory.read(path, bytesMax) : stored.read(path, bytesMax),
    readAnywhere: (path: string, bytesMax: number) => stored.readAnywhere(path, bytesMax),
    glob: (pattern: string) => ofProject(stored, pattern),
  }
}
