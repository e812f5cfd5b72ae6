import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { nearest } from "../core/nearest.ts"
import { CliError } from "./command.ts"

/** A page of the manual: a Markdown file below compiler/docs or runtime/docs. */
export interface ManualPage {
  /** Its path without the package folder and the extension, e.g. `reference/limit`. */
  readonly name: string
  readonly title: string
  /** What the reader can do after reading it: the first sentence. */
  readonly purpose: string
  readonly text: string
  readonly sections: readonly ManualSection[]
}

/** A heading and the text below it, up to the next heading of the same or a higher level. The first section is the whole page. */
export interface ManualSection {
  readonly heading: string
  readonly text: string
}

/** A section that a search found. */
export interface ManualHit {
  readonly page: ManualPage
  readonly section: ManualSection
}

const folders = ["compiler/docs", "runtime/docs"] as const

/**
 * All pages, sorted by name, pages about writing a project first. They are read from the package, independent of this module's location.
 * README files are excluded: they only list the pages.
 * @throws CliError when the installation has no manual.
 */
export function readManual(): readonly ManualPage[] {
  const root = dirname(createRequire(import.meta.url).resolve("#package"))
  const missing = folders.find((folder) => !existsSync(join(root, folder)))
  if (missing !== undefined)
    throw new CliError(
      `this installation has no manual: ${missing} is missing`,
      "Install the package again, or read the manual in the repository.",
    )
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".md") && !path.endsWith("README.md"))
      .map((path) => path.replaceAll("\\", "/"))
      .sort()
      .map((path) => pageOf(path.replace(/\.md$/, ""), readFileSync(join(root, folder, path), "utf8"))),
  )
}

/** Parses a page from Markdown. Comments for the generator are removed. */
export function pageOf(name: string, markdown: string): ManualPage {
  const text = markdown.replace(/^<!--.*?-->\n+/gms, "")
  const sections = sectionsOf(text)
  const title = sections[0]?.heading ?? name
  const [first = ""] = text.replace(/^#.*\n+/, "").split(/\n\n/)
  const purpose = /^.*?[.:](?=\s|$)/s.exec(first)?.[0] ?? first
  return { name, title, purpose: purpose.replaceAll("\n", " "), text, sections }
}

/** The sections of a page by their headings; a section contains those below it. Lines in code fences are no headings. */
function sectionsOf(text: string): ManualSection[] {
  const lines = text.split("\n")
  let fenced = false
  const heads = lines.flatMap((line, at) => {
    if (line.startsWith("```")) fenced = !fenced
    const [, marks, heading] = (fenced ? null : /^(#{1,4}) (.+)$/.exec(line)) ?? []
    return marks === undefined || heading === undefined ? [] : [{ at, level: marks.length, heading }]
  })
  return heads.map(({ at, level, heading }, index) => {
    const end = heads.slice(index + 1).find((next) => next.level <= level)?.at ?? lines.length
    return { heading: heading.replaceAll("`", ""), text: `${lines.slice(at, end).join("\n").trimEnd()}\n` }
  })
}

/** The page with this name. The last part of the name suffices if it is unique. */
export function pageNamed(pages: readonly ManualPage[], name: string): ManualPage | undefined {
  const wanted = name.toLowerCase().replace(/\.md$/, "")
  const ends = pages.filter((page) => page.name.split("/").at(-1) === wanted)
  return pages.find((page) => page.name === wanted) ?? (ends.length === 1 ? ends[0] : undefined)
}

/** A word in a heading is more significant than one in the text. */
const weights = { heading: 8, title: 5 } as const
const countedMax = 4
/** A word that only begins with the search word has less weight. Short search words match too many beginnings. */
const prefix = { characters: 4, weight: 0.7 } as const

/**
 * Sections that contain all words, or at least `leastWords` of them, the best first. A word has more weight the fewer sections contain it, and more in a heading. If a page
 * and one of its sections both match, the section comes first only if its own heading has one of the words.
 */
export function search(
  pages: readonly ManualPage[],
  words: readonly string[],
  leastWords?: number,
): readonly ManualHit[] {
  const wanted = [...new Set(words.flatMap(wordsOf))]
  const all = pages.flatMap((page) =>
    page.sections.map((section) => ({ page, section, terms: termsOf(page, section) })),
  )
  const rarity = new Map(
    wanted.map((word) => {
      const having = all.filter(({ terms }) => weightOf(terms, word) > 0).length
      return [word, Math.log(1 + all.length / (1 + having))]
    }),
  )
  return all
    .filter(({ terms }) => {
      const found = wanted.filter((word) => weightOf(terms, word) > 0).length
      return found > 0 && found >= Math.min(leastWords ?? wanted.length, wanted.length)
    })
    .map(({ page, section, terms }) => ({
      page,
      section,
      score: wanted.reduce((sum, word) => sum + weightOf(terms, word) * (rarity.get(word) ?? 0), 0),
    }))
    .sort((a, b) => b.score - a.score || a.section.text.length - b.section.text.length)
}

/** The best sections that contain as many of the words as possible: at least two, and half of them. */
export function searchMost(pages: readonly ManualPage[], words: readonly string[]): readonly ManualHit[] {
  for (let count = words.length - 1; count >= Math.max(2, words.length / 2); count--) {
    const hits = search(pages, words, count)
    if (hits.length > 0) return hits
  }
  return []
}

/** The weight of each word in a section. Only its own text counts, because the sections below it are separate. */
function termsOf(page: ManualPage, section: ManualSection): ReadonlyMap<string, number> {
  const terms = new Map<string, number>()
  const add = (text: string, weight: number, max: number) => {
    for (const word of wordsOf(text)) terms.set(word, Math.min(max, (terms.get(word) ?? 0) + weight))
  }
  add(ownText(section), 1, countedMax)
  add(section.heading, weights.heading, countedMax + weights.heading)
  add(`${page.title} ${page.name}`, weights.title, countedMax + weights.heading + weights.title)
  return terms
}

function weightOf(terms: ReadonlyMap<string, number>, word: string): number {
  const exact = terms.get(word)
  if (exact !== undefined || word.length < prefix.characters) return exact ?? 0
  const longer = [...terms].filter(([term]) => term.startsWith(word)).map(([, weight]) => weight)
  return prefix.weight * Math.max(0, ...longer)
}

/** The text between the section's heading and the next one. */
function ownText({ text }: ManualSection): string {
  const [, ...lines] = text.split("\n")
  let fenced = false
  const end = lines.findIndex((line) => {
    if (line.startsWith("```")) fenced = !fenced
    return !fenced && /^#{1,4} /.test(line)
  })
  return (end < 0 ? lines : lines.slice(0, end)).join("\n")
}

/** Words in lower case; a plural counts as its singular. */
function wordsOf(text: string): string[] {
  return writtenWords(text).map(singular)
}

function writtenWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []
}

function singular(word: string): string {
  if (word.length <= 3 || !/[^s]s$/.test(word)) return word
  return word.replace(/ies$|s$/, (end) => (end === "s" ? "" : "y"))
}

/** For each word that no page contains, as it was written, the nearest word of a heading. */
export function unknownWords(
  pages: readonly ManualPage[],
  words: readonly string[],
): readonly (readonly [word: string, meant: string | undefined])[] {
  const known = new Set(pages.flatMap(({ text }) => wordsOf(text)))
  const headings = new Set(
    pages.flatMap(({ name, sections }) =>
      wordsOf([name, ...sections.map(({ heading }) => heading)].join(" ")),
    ),
  )
  const isKnown = (word: string) =>
    [...known].some((each) => each === word || (word.length >= prefix.characters && each.startsWith(word)))
  return words
    .flatMap(writtenWords)
    .filter((word) => !isKnown(singular(word)))
    .map((word) => [word, nearest(singular(word), headings)])
}
