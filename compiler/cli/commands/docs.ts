import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import {
  type ManualHit,
  type ManualPage,
  pageNamed,
  readManual,
  search,
  searchMost,
  unknownWords,
} from "../manual.ts"

interface DocsArgs {
  /** The name of a page, or words to search for; empty: list the pages. */
  readonly words: readonly string[]
}

const docsLine: CommandLine<DocsArgs> = {
  operands: [["[topic...]", "the name of a page, or words to search for; without it the pages are listed"]],
  examples: [
    ["sallyport docs", "all pages"],
    ["sallyport docs rate limit", "the best section about it, and where else it is mentioned"],
    ["sallyport docs production", "a page"],
  ],
  parse: (words) => ({ words }),
}

/** A page by its name comes first; other words are searched for. When no section has all of them, the one with most is shown. */
export const docs = command(docsLine, async ({ words }, io) => {
  const pages = readManual()
  if (words.length === 0) {
    await io.page(pagesText(pages))
    return exitCode.ok
  }
  const page = pageNamed(pages, words.join("-"))
  if (page !== undefined) {
    await io.page(page.text)
    return exitCode.ok
  }
  const hits = search(pages, words)
  const most = hits.length === 0 ? searchMost(pages, words) : []
  if (hits.length === 0 && most.length === 0) throw nothingFound(pages, words)
  const note = hits.length === 0 ? "No section has all of these words; this one has most of them.\n\n" : ""
  await io.page(note + hitsText(hits.length === 0 ? most : hits))
  return exitCode.ok
})

/** Names each unknown word with the nearest word of the manual. */
function nothingFound(pages: readonly ManualPage[], words: readonly string[]): CliError {
  const unknown = unknownWords(pages, words)
  const meant = unknown.flatMap(([, nearest]) => (nearest === undefined ? [] : [`\`${nearest}\``]))
  return new CliError(
    unknown.length === 0
      ? `no section of the manual has all of these words: ${words.join(" ")}`
      : `the manual does not mention ${unknown.map(([word]) => `\`${word}\``).join(", ")}`,
    meant.length === 0
      ? "Use fewer words, or list the pages: `sallyport docs`."
      : `Did you mean ${meant.join(", ")}? \`sallyport docs\` lists the pages.`,
  )
}

/** Maximum number of further places that a search lists. */
const othersMax = 6

/** The list of pages: name and purpose. */
function pagesText(pages: readonly ManualPage[]): string {
  const width = Math.max(...pages.map(({ name }) => name.length))
  const lines = pages.map(({ name, title }) => `  ${name.padEnd(width)}  ${title}\n`)
  const start =
    "Begin with `sallyport docs first-project`: your own service behind the gateway in ten minutes.\n\n"
  return `${start}${lines.join("")}\nRead one: \`sallyport docs NAME\`. Search: \`sallyport docs WORDS\`. A statement: \`sallyport help KEYWORD\`.\n`
}

/** The best section, and the other places that contain the words. */
function hitsText([best, ...others]: readonly ManualHit[]): string {
  if (best === undefined) return ""
  const seen = new Set([`${best.page.name} ${best.section.heading}`])
  const lines = others
    .filter(({ page, section }) => {
      const line = `${page.name} ${section.heading}`
      // Leave out the page of the shown section, and other sections of a page that is shown as a whole.
      const same = page === best.page && (section === page.sections[0] || best.section === page.sections[0])
      return !same && !seen.has(line) && seen.add(line)
    })
    .slice(0, othersMax)
    .map(({ page, section }) => `  ${page.name}: ${section.heading}\n`)
  const more = lines.length === 0 ? "" : `\nAlso about this:\n${lines.join("")}`
  const whole =
    best.section === best.page.sections[0] ? "" : `The whole page: \`sallyport docs ${best.page.name}\`.\n`
  return `${best.section.text}\n${whole}${more}`
}
