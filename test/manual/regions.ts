import { posix } from "node:path"
import { commandPurposes } from "../../compiler/cli/command.ts"
import { commands } from "../../compiler/cli/commands.ts"
import { pageOf } from "../../compiler/cli/manual.ts"
import { variables } from "../../compiler/cli/variables.ts"
import { timesText } from "../../compiler/cli/views/statement.ts"
import type { CatalogueEntry } from "../../compiler/core/catalogue/entry.ts"
import { catalogue, type DiagnosticCode } from "../../compiler/core/catalogue.ts"
import {
  type BlockReference,
  languageReference,
  type StatementReference,
} from "../../compiler/gateway/language-reference.ts"
import { slotKinds } from "../../compiler/gateway/schema/slots.ts"
import { controlProblems } from "../../runtime/control/problem.ts"
import { engineRule, routeRules } from "../../runtime/control/routes.ts"
import { problemTable, problemType } from "../../runtime/gateway/exchange/problem.ts"
import { fieldNames, lineNames } from "../../runtime/telemetry/log-names.ts"
import type { SourcePage } from "./pages.ts"

const language = languageReference()
const loaded = await Promise.all(
  commands.map(async ({ name, purpose, summary, load }) => ({
    name,
    purpose,
    summary,
    line: (await load()).line,
  })),
)
const marked = /^<!-- generated: (.+?) -->\n.*?^<!-- end of generated -->$/gms

/** A page with its marked regions made anew; `pages` are all, because regions link to each other. */
export function renewed(page: SourcePage, pages: readonly SourcePage[]): string {
  const links = linksFrom(page, homesOf(pages))
  return page.text.replace(marked, (found, name: string) =>
    // Only a running process knows its metrics: metrics.test.ts makes their table.
    name === "metrics"
      ? found
      : `<!-- generated: ${name} -->\n\n${regionText(name, links, pages).trim()}\n\n<!-- end of generated -->`,
  )
}

/** The names of the regions of a page. */
export function regionsOf({ text }: SourcePage): string[] {
  return [...text.matchAll(marked)].map(([, name = ""]) => name)
}

/** Where each statement is described: the address of its heading. */
type Homes = ReadonlyMap<string, { readonly page: string; readonly slug: string }>

/** The addresses of a page's links. */
interface Links {
  readonly page: SourcePage
  readonly homes: Homes
  to(page: string, slug?: string): string
}

function linksFrom(page: SourcePage, homes: Homes): Links {
  return {
    page,
    homes,
    to(target, slug) {
      const anchor = slug === undefined ? "" : `#${slug}`
      return target === page.path && slug !== undefined
        ? anchor
        : `${posix.relative(posix.dirname(page.path), target)}${anchor}`
    },
  }
}

/** Equal statements of several blocks are one. */
const keyOf = (statement: StatementReference) => JSON.stringify(statement)

/** As GitHub makes the address of a heading. */
export const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\d\s_-]/gu, "")
    .replace(/ /g, "-")

/**
 * A region for one statement is its home. Without one, the first of its blocks names the page, and the first region of that page which has the
 * statement is its home: readers of `auth jwt` are not sent down to `auth introspection`.
 */
function homesOf(pages: readonly SourcePage[]): Homes {
  const homes = new Map<string, { page: string; slug: string }>()
  const regions = pages.flatMap((page) => regionsOf(page).map((name) => ({ page, name })))
  for (const { page, name } of regions) {
    const single = singleOf(name)
    if (single === undefined) continue
    const key = keyOf(single.statement)
    if (homes.has(key)) throw new Error(`${name} in ${page.path}: this statement is described elsewhere`)
    homes.set(key, { page: page.path, slug: slugOf(headingOf(single, page)) })
  }
  for (const block of language) {
    const home = regions.find(({ name }) => name === `statements of ${block.name}`)
    if (home === undefined) throw new Error(`no page has the region \`statements of ${block.name}\``)
    const onPage = regions
      .filter(({ page }) => page === home.page)
      .flatMap(({ name }) => listedBlock(name) ?? [])
    for (const statement of block.statements) {
      const key = keyOf(statement)
      const first = onPage.find(({ statements }) => statements.some((each) => keyOf(each) === key)) ?? block
      if (!homes.has(key)) homes.set(key, { page: home.page.path, slug: slugOf(headingIn(first, statement)) })
    }
  }
  return homes
}

/** A statement that has a region of its own: `statement KEYWORD of BLOCK`. */
interface Single {
  readonly block: BlockReference
  readonly statement: StatementReference
}

function singleOf(region: string): Single | undefined {
  const [, keyword, block] = /^statement (\S+) of (.+)$/.exec(region) ?? []
  if (keyword === undefined || block === undefined) return undefined
  return { block: blockOf(block), statement: statementOf(keyword, block) }
}

/** The keyword alone, unless the page has several statements of it. */
function headingOf({ block, statement }: Single, page: SourcePage): string {
  const same = regionsOf(page).filter((name) => singleOf(name)?.statement.keyword === statement.keyword)
  return same.length > 1 ? headingIn(block, statement) : `\`${statement.keyword}\``
}

function headingIn(block: BlockReference, { keyword }: StatementReference): string {
  return block.name === "file" ? `\`${keyword}\`` : `\`${keyword}\` in ${block.title}`
}

/** The block whose statements a region lists. */
function listedBlock(region: string): BlockReference | undefined {
  const [, block] = /^statements of (.+)$/.exec(region) ?? []
  return block === undefined ? undefined : blockOf(block)
}

function blockOf(name: string): BlockReference {
  const found = language.find((block) => block.name === name)
  if (found === undefined) throw new Error(`there is no block \`${name}\``)
  return found
}

function statementOf(keyword: string, block: string): StatementReference {
  const found = blockOf(block).statements.find((statement) => statement.keyword === keyword)
  if (found === undefined) throw new Error(`there is no statement \`${keyword}\` in \`${block}\``)
  return found
}

function regionText(name: string, links: Links, pages: readonly SourcePage[]): string {
  const single = singleOf(name)
  if (single !== undefined) return statementText(headingOf(single, links.page), single.statement, links)
  const listed = listedBlock(name)
  if (listed !== undefined) return blockText(listed, links)
  const [, digits] = /^findings ([\d ]+)$/.exec(name) ?? []
  if (digits !== undefined) return findingsText(digits.split(" "))
  const [, folder] = /^pages of (.+)$/.exec(name) ?? []
  if (folder !== undefined) return pagesText(folder, links, pages)
  const known = tables[name]
  if (known !== undefined) return known(links)
  throw new Error(`${links.page.path}: there is nothing to generate for \`${name}\``)
}

/** The statements at home here in full, links to the others. */
function blockText(block: BlockReference, links: Links): string {
  const here = block.statements.filter((statement) => {
    const home = links.homes.get(keyOf(statement))
    return home?.page === links.page.path && home.slug === slugOf(headingIn(block, statement))
  })
  const others = block.statements.filter((statement) => !here.includes(statement))
  const list = others.map((statement) => {
    const home = links.homes.get(keyOf(statement))
    return `- [\`${statement.keyword}\`](${links.to(home?.page ?? "", home?.slug)}): ${firstSentence(statement.docs)}`
  })
  const also = `${here.length === 0 ? "Statements" : "Also"} of ${block.title}:`
  return [
    ...here.map((statement) => statementText(headingIn(block, statement), statement, links)),
    ...(list.length === 0 ? [] : [`${also}\n\n${list.join("\n")}\n`]),
  ].join("\n")
}

function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text
}

function statementText(heading: string, statement: StatementReference, links: Links): string {
  const { syntax, docs, byDefault, bounds, opens, findings, expressions, example } = statement
  const blocks = opens.map((name) => {
    const home = [...links.homes].find(([key]) =>
      blockOf(name).statements.some((each) => keyOf(each) === key),
    )
    return `[\`${name}\`](${links.to(home?.[1].page ?? "", home?.[1].slug)})`
  })
  const codes = findings.map((code) => `[${code}](${findingLink(code, links)}) ${catalogue[code].title}`)
  if (expressions) codes.push(`those of [expressions](${links.to(expressionsPage)})`)
  const facts = [
    `Example: ${example.includes("`") ? `\`\` ${example} \`\`` : `\`${example}\``}`,
    `How often in its block: ${timesText(statement)}.`,
    ...(byDefault === undefined ? [] : [`Default: ${byDefault}.`]),
    ...(bounds.length === 0 ? [] : [`Arguments: ${bounds.join("; ")}.`]),
    ...(blocks.length === 0 ? [] : [`Its block: ${blocks.join(", ")}.`]),
    ...(codes.length === 0 ? [] : [`Findings: ${codes.join("; ")}.`]),
  ]
  return [
    `### ${heading}\n`,
    `${docs}\n`,
    `\`\`\`text\n${syntax.join("\n")}\n\`\`\`\n`,
    ...facts.map((fact) => `- ${fact}`),
    "",
  ].join("\n")
}

/** Blocks that share statements, and the name of what they share: with them the list of all blocks fits two screens. */
const sharedBy: readonly (readonly [string, readonly string[]])[] = [
  ["in every scope", ["gateway", "policy", "api", "version", "operation"]],
  ["on the way of requests", ["api", "version", "operation"]],
  ["operations", ["api", "version"]],
  ["in every section", ["inbound", "outbound", "on-error"]],
]

/** All blocks with the keywords of their statements. Blocks with the same statements have one line. */
function blockLines(links: Links): string {
  const groups: { readonly name: string; readonly blocks: readonly string[]; readonly keywords: string[] }[] =
    []
  for (const [name, blocks] of sharedBy) {
    const taken = groups.filter((group) => blocks.every((each) => group.blocks.includes(each)))
    const common = keywordsOf(blocks[0] ?? "").filter(
      (keyword) =>
        blocks.every((each) => keywordsOf(each).includes(keyword)) &&
        !taken.some(({ keywords }) => keywords.includes(keyword)),
    )
    groups.push({ name, blocks, keywords: common })
  }
  const byText = new Map<string, string[]>()
  for (const block of language) {
    const home = links.homes.get(keyOf(block.statements[0] as StatementReference))
    const mine = groups.filter(({ blocks }) => blocks.includes(block.name))
    const own = keywordsOf(block.name).filter((each) => !mine.some(({ keywords }) => keywords.includes(each)))
    const text = [...own.map((each) => `\`${each}\``), ...mine.map(({ name }) => `those ${name}`)].join(", ")
    const link = `[\`${block.name}\`](${links.to(home?.page ?? "")})`
    byText.set(text, [...(byText.get(text) ?? []), link])
  }
  return [
    ...groups.map(({ name, keywords }) => `- ${name}: ${keywords.map((each) => `\`${each}\``).join(", ")}`),
    ...[...byText].map(([text, blocks]) => `- ${blocks.join(", ")}: ${text}`),
  ].join("\n")
}

function keywordsOf(block: string): readonly string[] {
  return blockOf(block).statements.map(({ keyword }) => keyword)
}

const expressionsPage = "runtime/docs/expressions.md"

/** The page of findings by the first digit of the code. */
const findingPages: Readonly<Record<string, string>> = {
  0: "files",
  1: "syntax",
  2: "statements",
  3: "statements",
  4: "models",
  5: "expressions",
  6: "model-tests",
  7: "policy-documents",
  8: "openapi",
}

function findingLink(code: DiagnosticCode, links: Links): string {
  const page = `compiler/docs/findings/${findingPages[code[2] ?? ""]}.md`
  return links.to(page, slugOf(findingHeading(code)))
}

const findingHeading = (code: DiagnosticCode) => `${code} ${catalogue[code].title}`

function findingsText(digits: readonly string[]): string {
  const codes = (Object.keys(catalogue) as DiagnosticCode[])
    .filter((code) => digits.includes(code[2] ?? ""))
    .sort()
  return codes
    .map((code) => {
      const { severity, why, help }: CatalogueEntry = catalogue[code]
      return `### ${findingHeading(code)}\n\n${severity === "error" ? "An error" : `A ${severity}`}.${why === undefined ? "" : ` ${why}`}\n\nWhat to do: ${help}\n`
    })
    .join("\n")
}

function pagesText(folder: string, links: Links, pages: readonly SourcePage[]): string {
  return pages
    .filter(({ path }) => path.startsWith(`${folder}/`) && path !== links.page.path)
    .filter(({ path }) => posix.dirname(path) === folder)
    .map(({ path, text }) => {
      const { title, purpose } = pageOf(path, text)
      return `- [${title}](${links.to(path)}): ${purpose}`
    })
    .join("\n")
}

/** A Markdown table, its columns as wide as the widest cell. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? "")].length), 3))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length)).join(" | ")} |`
  return [
    line(cells[0] ?? []),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...cells.slice(1).map(line),
  ].join("\n")
}

function commandText({ name, summary, line }: (typeof loaded)[number]): string {
  const operands = line.operands ?? []
  const options = line.options ?? []
  const usage = ["sallyport", name, ...(options.length > 0 ? ["[options]"] : [])]
  const rows = [...operands, ...options].map(([term, text]) => [`\`${term}\``, text])
  const examples = line.examples.map(([example, text]) => `# ${text}\n${example}`)
  return [
    `### sallyport ${name}\n`,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.\n`,
    `\`\`\`text\n${[...usage, ...operands.map(([term]) => term)].join(" ")}\n\`\`\`\n`,
    ...(rows.length === 0 ? [] : [`${markdownTable(["Argument", "Meaning"], rows)}\n`]),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join("\n")}\n\`\`\`\n`]),
  ].join("\n")
}

const tables: Readonly<Record<string, (links: Links) => string>> = {
  arguments: () =>
    markdownTable(
      ["In the syntax", "What to write"],
      [
        ...new Map(
          Object.values(slotKinds).map(({ label, expected }) => [label, [`\`${label}\``, expected]] as const),
        ).values(),
      ],
    ),
  blocks: blockLines,
  keywords: (links) => {
    const byKeyword = new Map<string, string[]>()
    for (const block of language)
      for (const statement of block.statements) {
        const home = links.homes.get(keyOf(statement))
        const link = `[${block.name}](${links.to(home?.page ?? "", home?.slug)})`
        byKeyword.set(statement.keyword, [...(byKeyword.get(statement.keyword) ?? []), link])
      }
    return [...byKeyword]
      .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
      .map(([keyword, places]) => `- \`${keyword}\`: ${places.join(", ")}`)
      .join("\n")
  },
  "log names": () =>
    markdownTable(
      ["Field", "ECS", "OpenTelemetry"],
      [
        ["`time`", `\`${lineNames.ecs.time}\``, `\`${lineNames.otel.time}\``],
        ["`level`", "`log.level`", "`severity_text`, `severity_number`"],
        ["`msg`", `\`${lineNames.ecs.message}\``, `\`${lineNames.otel.message}\``],
        ...Object.entries(fieldNames).map(([name, { ecs, otel }]) => [
          `\`${name}\``,
          `\`${ecs}\``,
          `\`${otel}\``,
        ]),
      ],
    ),
  "control roles": () =>
    markdownTable(
      ["Route", "Role", "Operation"],
      [
        ...Object.entries(routeRules).map(([route, { needs, operation }]) => [
          `\`${route.replace(/:(\w+)/g, "{$1}")}\``,
          needs === "open" ? "none needed" : needs === "any" ? "any" : `\`${needs}\``,
          operation === undefined ? "" : `\`${operation}\``,
        ]),
        engineRow("questions and lists", "check"),
        engineRow("everything else", "write"),
      ],
    ),
  "control problems": () =>
    markdownTable(
      ["Type", "Status", "Title"],
      Object.entries(controlProblems).map(([type, [status, title]]) => [
        `\`${type}\``,
        String(status),
        title,
      ]),
    ),
  commands: () =>
    Object.entries(commandPurposes)
      .flatMap(([purpose, heading]) => [
        `## ${heading}\n`,
        ...loaded.filter((each) => each.purpose === purpose).map(commandText),
      ])
      .join("\n"),
  variables: () =>
    Object.entries(variables)
      .map(([name, { docs, commands: readBy, byDefault, example }]) =>
        [
          `### ${name}\n`,
          `${docs}\n`,
          `- Read by: ${readBy[0] === "all" ? "all commands" : readBy.map((each) => `\`${each}\``).join(", ")}.`,
          ...(byDefault === undefined ? [] : [`- Default: ${byDefault}.`]),
          `- Example: \`${name}=${example}\`\n`,
        ].join("\n"),
      )
      .join("\n"),
  problems: () =>
    Object.entries(problemTable)
      .sort(([, a], [, b]) => a.status - b.status)
      .map(
        ([name, { status, title, detail }]) =>
          `- \`${problemType(name as keyof typeof problemTable)}\`: ${status} ${title}. ${detail}`,
      )
      .join("\n"),
}

function engineRow(what: string, route: string): string[] {
  const { needs, operation } = engineRule("POST", `/authz/stores/s/${route}`)
  return [`\`/authz/*\`: ${what}`, `\`${needs}\``, `\`${operation}\``]
}
