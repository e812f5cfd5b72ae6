import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, test } from "vitest"
import type { IGrammar } from "vscode-textmate"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import type { Statement } from "../../compiler/gateway/ast.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import { tokenize } from "../../compiler/gateway/tokens.ts"
import { tokenize as tokenizeModel } from "../../compiler/model/tokens.ts"
import { type Colours, coloursOf, grammarOf, has } from "./colours.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const ignored = new Set(["node_modules", "dist", ".git", ".sallyport"])

function filesOf(folder: string, wanted: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return ignored.has(entry.name) ? [] : filesOf(path, wanted)
    return wanted.test(entry.name) ? [path] : []
  })
}

const read = (path: string) => readFileSync(join(root, path), "utf8").replaceAll("\r\n", "\n")

/** The examples of a language in the manual. */
function fencesOf(language: string): [string, string][] {
  return filesOf("", /\.md$/).flatMap((path) =>
    [...read(path).matchAll(new RegExp(`^\`\`\`${language}[^\\n]*\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
      ([, text = ""], index): [string, string] => [`${path} ${index + 1}`, text],
    ),
  )
}

const wrong = (text: string, offset: number, colours: Colours, wanted: string) =>
  `${text.slice(0, offset).split("\n").length}: ${JSON.stringify(text.slice(offset, offset + 30))} has ${colours.at(offset).slice(1).join(" ")}, not ${wanted}`

/** Where the colours differ from what the parser reads. */
function differencesOfGateway(grammar: IGrammar, text: string): string[] {
  const colours = coloursOf(grammar, text)
  const found: string[] = []
  const must = (offset: number, wanted: string) => {
    if (!has(colours.at(offset), wanted)) found.push(wrong(text, offset, colours, wanted))
  }
  const mustNot = (offset: number, other: string) => {
    if (has(colours.at(offset), other)) found.push(wrong(text, offset, colours, `no ${other}`))
  }
  const { tokens, comments } = tokenize(text)
  for (const { startOffset, image } of comments) {
    must(startOffset, "comment")
    must(startOffset + image.length - 1, "comment")
  }
  for (const { tokenType, startOffset, image } of tokens) {
    mustNot(startOffset, "comment")
    const last = startOffset + image.length - 1
    const scopes: Readonly<Record<string, string>> = {
      Quoted: "string.quoted.double.sallyport",
      Heredoc: "string.unquoted.heredoc",
      Parens: "meta.expression",
      Call: "meta.reference",
      Open: "punctuation.section.block.begin",
      Close: "punctuation.section.block.end",
      Equals: "keyword.operator.assignment",
      RouteJunk: "variable.parameter.path",
    }
    const wanted = scopes[tokenType.name]
    if (wanted === undefined) for (const other of ["string", "meta"]) mustNot(startOffset, other)
    else for (const offset of [startOffset, last]) must(offset, wanted)
  }
  const visit = ({ keyword, args, block, otherwise }: Statement): void => {
    must(keyword.span.start, "keyword")
    const [first] = args
    if (first !== undefined && has(colours.at(first.span.start), "keyword.other.statement"))
      found.push(wrong(text, first.span.start, colours, "an argument"))
    for (const inner of [...(block?.statements ?? []), ...(otherwise?.block?.statements ?? [])]) visit(inner)
  }
  for (const statement of parseGateway(new SourceFile("gateway.conf", text), new Report()).statements)
    visit(statement)
  if (colours.open !== 1) found.push(`${colours.open - 1} rules are open at the end`)
  return found
}

describe("gateway.conf", () => {
  let grammar: IGrammar
  beforeAll(async () => {
    grammar = await grammarOf("source.sallyport")
  })
  const texts = [
    ...filesOf("", /\.conf$/).map((path): [string, string] => [path, read(path)]),
    ...fencesOf("gateway"),
  ]

  test("there are examples", () => expect(texts.length).toBeGreaterThan(100))

  test("each token has the colour of its kind", () => {
    const found = texts.flatMap(([name, text]) =>
      differencesOfGateway(grammar, text).map((difference) => `${name}:${difference}`),
    )
    expect(found).toEqual([])
  })

  test("an unclosed string ends with its line", () => {
    const text = read("test/syntax/example.conf")
    const whole = coloursOf(grammar, text)
    const quotes = [...text.matchAll(/"(?=[^"\n$]*"[ \t]*\n)/g)].map(({ index }) => index)
    expect(quotes.length).toBeGreaterThan(5)
    for (const quote of quotes) {
      const line = text.indexOf("\n", quote)
      const close = text.lastIndexOf('"', line)
      const broken = `${text.slice(0, close)} ${text.slice(close + 1)}`
      const colours = coloursOf(grammar, broken)
      for (let offset = line + 1; offset < text.length; offset++)
        expect(colours.at(offset), `after the quote at ${quote}, at ${offset}`).toEqual(whole.at(offset))
    }
  })

  test("an unclosed expression ends before the block of its statement", () => {
    const colours = coloursOf(grammar, 'when (request.header("a" == "b" {\n  respond 403\n}\n')
    expect(has(colours.at(36), "keyword")).toBe(true)
    expect(colours.open).toBe(1)
  })

  test("tokenizing ends for any text", () => {
    const text = read("test/syntax/example.conf")
    for (let at = 0; at < text.length; at += 97)
      for (const sign of ['"', "(", "{", "}", "<<TAG", "${", "#", "'"])
        expect(coloursOf(grammar, text.slice(0, at) + sign + text.slice(at)).open).toBeGreaterThan(0)
  })
})

/** Where the colours of a model differ from its tokens. */
function differencesOfModel(grammar: IGrammar, text: string): string[] {
  const colours = coloursOf(grammar, text)
  const found: string[] = []
  const scopes: Readonly<Record<string, string>> = {
    comment: "comment",
    type: "keyword",
    relations: "keyword",
    define: "keyword",
    condition: "keyword",
    or: "keyword",
    and: "keyword",
    from: "keyword",
    with: "keyword",
    "but not": "keyword",
    "*": "constant",
  }
  const { tokens, comments } = tokenizeModel(text)
  for (const { tokenType, startOffset } of [...tokens, ...comments]) {
    const wanted = scopes[tokenType.name]
    if (wanted !== undefined && !has(colours.at(startOffset), wanted))
      found.push(wrong(text, startOffset, colours, wanted))
    if (wanted !== "comment" && has(colours.at(startOffset), "comment"))
      found.push(wrong(text, startOffset, colours, "no comment"))
  }
  if (colours.open !== 1) found.push(`${colours.open - 1} rules are open at the end`)
  return found
}

describe("models", () => {
  let grammar: IGrammar
  beforeAll(async () => {
    grammar = await grammarOf("source.fga")
  })
  const conditions = `model
  schema 1.1
type user
type doc # of a team
  relations
    define viewer: [user with open_hours, user:*, # a comment
      doc#viewer] or (editor but not blocked)
    define editor: [user]
    define blocked: [user]

condition open_hours(now: timestamp, hours: map<list<int>>) {
  now > timestamp("2026-01-01T00:00:00Z") && // a comment of CEL with a }
  {"a": 1}.a == 1 && "#}" != 'type doc' # a comment
}

type last
  relations
    define viewer: [user]
`
  const texts = [
    ...filesOf("", /\.fga$/).map((path): [string, string] => [path, read(path)]),
    ...fencesOf("fga"),
    ["conditions", conditions] as [string, string],
  ]

  test("there are examples", () => expect(texts.length).toBeGreaterThan(10))

  test("each token has the colour of its kind", () => {
    const found = texts.flatMap(([name, text]) =>
      differencesOfModel(grammar, text).map((difference) => `${name}:${difference}`),
    )
    expect(found).toEqual([])
  })

  test("a list or a body that is not closed ends before the next definition", () => {
    const colours = (text: string) => coloursOf(grammar, text)
    const list = "type doc\n  relations\n    define a: [user\n    define b: [user]\n"
    expect(has(colours(list).at(list.indexOf("define b")), "keyword")).toBe(true)
    const body = "condition a(x: int) {\n  x < 1\ntype user\n"
    expect(has(colours(body).at(body.indexOf("type user")), "keyword")).toBe(true)
  })
})
