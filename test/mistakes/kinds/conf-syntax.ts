import { type Kind, lineAt, oneOf, openerOf, type Slip, sites, withoutStrings } from "../corpus.ts"

/** The text of gateway.conf and the files it includes. */
export const conf = /\.conf$/

const lineOf = (text: string, offset: number): readonly [number, number] => lineAt(text, offset)

/** Strings outside of heredocs that have no quote inside. */
const string = /(?<=[ (])(?<x>"(?<inner>[^"\n{}]+)")/

/** Lines of one statement without a block, e.g. `  path "/orders"`; the group `keyword` begins it. */
const plainLine = /^ *(?<x>[a-z][a-z-]+ +[^\n{};=<]*[^\s{};=<]) *$/

/** Lines that no other statement continues: what is below them is not part of a heredoc. */
const plainLines = (text: string) =>
  sites(text, plainLine).filter(
    ({ start }) => withoutStrings(text)[start + 2] !== undefined && !inHeredoc(text, start),
  )

function inHeredoc(text: string, offset: number): boolean {
  return [...text.matchAll(/<<([A-Z]+)\n[\s\S]*?\n\s*\1$/gm)].some(
    ({ index, 0: all }) => index <= offset && offset < index + all.length,
  )
}

/** Braces: in a file whose lines are indented, the indentation tells which one is missing. */
const braces: readonly Kind[] = [
  {
    name: "opening brace missing",
    files: conf,
    codes: ["SP1002"],
    says: "{",
    slips: (text) =>
      sites(text, /^ *[a-z][^\n{}]*(?<x> \{)$/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: lineOf(text, start),
      })),
  },
  {
    name: "closing brace missing",
    files: conf,
    codes: ["SP1001"],
    says: "}",
    slips: (text) =>
      sites(text, /^ *\}\n/).map(({ start, end }) => {
        const opener = openerOf(text, text.indexOf("}", start))
        return { start, end, put: "", at: [opener, opener] }
      }),
  },
  {
    name: "closing brace missing in a line",
    files: conf,
    codes: ["SP1001"],
    says: "}",
    slips: (text) =>
      sites(text, /^ *[a-z][^\n]*\{ [^\n{}]* (?<x>\})$/).map(({ start, end }) => {
        const opener = openerOf(text, start)
        return { start, end, put: "", at: [opener, opener] }
      }),
  },
  {
    name: "closing brace twice",
    files: conf,
    codes: ["SP1003"],
    says: /[Rr]emove/,
    why: "Two lines with `}` in a row look the same: either may be reported.",
    slips: (text) =>
      sites(text, /^ *\}\n/).map(({ start, end, text: line }) => ({
        start: end,
        end,
        put: line,
        at: [start, end + line.length],
      })),
  },
  {
    name: "opening brace without a block",
    files: conf,
    codes: ["SP1001", "SP2006"],
    says: /[Rr]emove|`}`/,
    why: "The statement may have no block, or its block has no end: both name the brace.",
    slips: (text) => plainLines(text).map(({ end }) => ({ start: end, end, put: " {", at: [end, end + 2] })),
  },
]

const quotes: readonly Kind[] = [
  {
    name: "closing quote missing",
    files: conf,
    codes: ["SP1005", "SP1015", "SP1033"],
    says: '"',
    why: "On a line with several strings it cannot be known which of the quotes is the one without its other half.",
    slips: (text) =>
      sites(text, string)
        .filter(({ start }) => !inHeredoc(text, start) && !text.slice(...lineOf(text, start)).includes("("))
        .map(({ start, end }) => {
          const line = text.slice(...lineOf(text, start))
          const several = (line.match(/"/g) ?? []).length > 2
          return { start: end - 1, end, put: "", at: several ? lineOf(text, start) : [start, start] }
        }),
  },
  {
    name: "opening quote missing",
    files: conf,
    codes: ["SP1005", "SP1015", "SP1016", "SP1033", "SP1034"],
    says: '"',
    why: "The quote that is left opens a string, or the word before it has a character that needs quotes; with other strings on the line see above.",
    slips: (text) =>
      sites(text, string)
        .filter(({ start }) => !inHeredoc(text, start) && !text.slice(...lineOf(text, start)).includes("("))
        .map(({ start, end }) => {
          const line = text.slice(...lineOf(text, start))
          const several = (line.match(/"/g) ?? []).length > 2
          return { start, end: start + 1, put: "", at: several ? lineOf(text, start) : [start, end - 1] }
        }),
  },
  {
    name: "single quotes",
    files: conf,
    codes: ["SP1010"],
    says: '"',
    slips: (text) =>
      sites(text, string)
        .filter(({ start }) => !inHeredoc(text, start) && !text.slice(...lineOf(text, start)).includes("("))
        .map(({ start, end, groups }) => ({ start, end, put: `'${groups["inner"]}'`, at: [start, start] })),
  },
  {
    name: "typographic quotes",
    files: conf,
    codes: ["SP1011"],
    says: '"',
    slips: (text, next) =>
      sites(text, string)
        .filter(({ start }) => !inHeredoc(text, start) && !text.slice(...lineOf(text, start)).includes("("))
        .map(({ start, end, groups }) => {
          const [open, shut] = oneOf(["“”", "„“", "«»"] as const, next)
          return { start, end, put: `${open}${groups["inner"]}${shut}`, at: [start, start] }
        }),
  },
  {
    name: "unknown escape",
    files: conf,
    codes: ["SP1021"],
    says: "\\\\",
    slips: (text, next) =>
      sites(text, string)
        .filter(({ start }) => !inHeredoc(text, start) && !text.slice(...lineOf(text, start)).includes("("))
        .map(({ start }) => {
          const sequence = oneOf(["\\d", "\\w", "\\.", "\\s"], next)
          return { start: start + 1, end: start + 1, put: sequence, at: [start + 1, start + 1] }
        }),
  },
  {
    name: "path without quotes",
    files: conf,
    codes: ["SP1034"],
    says: '"',
    slips: (text) =>
      sites(text, /^ *(?:GET|PUT|POST|DELETE|ANY) +(?<x>"(?<inner>\/[^"\n]*\{[^"\n]*)")/).map(
        ({ start, end, groups }) => ({ start, end, put: groups["inner"] as string, at: [start, end - 2] }),
      ),
  },
  {
    name: "expression outside of a string",
    files: conf,
    codes: ["SP1015"],
    says: '"',
    slips: (text) =>
      sites(text, /(?<x>"(?<inner>\$\{[a-z.]+\})")/)
        .filter(({ start }) => !inHeredoc(text, start))
        .map(({ start, end, groups }) => ({
          start,
          end,
          put: groups["inner"] as string,
          at: [start, end - 2],
        })),
  },
  {
    name: "expression in a string without its end",
    files: conf,
    codes: ["SP1009"],
    says: "}",
    slips: (text) =>
      sites(text, /"[^"\n]*(?<open>\$\{)[a-z.]+(?<x>\})[^"\n]*"/)
        .filter(({ start }) => !inHeredoc(text, start))
        .map(({ start, end, group }) => ({ start, end, put: "", at: [group("open")[0], group("open")[0]] })),
  },
  {
    name: "end of a heredoc misspelt",
    files: conf,
    codes: ["SP1006"],
    says: "JSON",
    slips: (text) =>
      sites(text, /(?<open><<JSON)\n(?:[^\n]*\n)*?\s*(?<x>JSON)$/).map(({ start, end, group }) => ({
        start,
        end,
        put: "JSN",
        at: [group("open")[0], group("open")[0]],
      })),
  },
]

const parentheses: readonly Kind[] = [
  {
    name: "closing parenthesis missing",
    files: conf,
    codes: ["SP1007", "SP1029"],
    says: ")",
    why: "In `env(NAME` the same is a malformed reference.",
    slips: (text) =>
      sites(text, /^ *[a-z][^\n]*(?<x>\))(?: \{| \})?$/)
        .filter(({ start }) => withoutStrings(text)[start] === ")")
        .map(({ start, end }) => {
          const opener = openerOf(text, start, "(", ")")
          return { start, end, put: "", at: [opener, opener] as const }
        })
        .filter(({ at: [opener] }) => opener >= lineOf(text, opener)[0] && opener !== -1),
  },
  {
    name: "opening parenthesis missing",
    files: conf,
    codes: ["SP1008", "SP1014"],
    says: "(",
    slips: (text) =>
      sites(text, /(?:when|json) (?<x>\()(?<rest>[^\n]*)/).map(({ start, end, whole }) => ({
        start,
        end,
        put: "",
        at: [start, whole[1]],
      })),
  },
  {
    name: "no space before a parenthesis",
    files: conf,
    codes: ["SP1013"],
    says: "space",
    slips: (text) =>
      sites(text, /(?<x>(?:when|json) )\(/).map(({ start, end }) => ({
        start: end - 1,
        end,
        put: "",
        at: [start, end - 1],
      })),
  },
  {
    name: "expression without parentheses",
    files: conf,
    codes: ["SP1014"],
    says: "parenthes",
    slips: (text) =>
      sites(text, /when (?<x>\((?<inner>[a-z.]+ [=><]+ \d+)\)) \{/).map(({ start, end, groups }) => ({
        start,
        end,
        put: groups["inner"] as string,
        at: [start, end - 2],
      })),
  },
  {
    name: "empty expression",
    files: conf,
    codes: ["SP1023"],
    says: "expression",
    slips: (text) =>
      sites(text, /(?:when|json) (?<x>\([^\n]*\))(?= \{| \}|$)/).map(({ start, end }) => ({
        start,
        end,
        put: "()",
        at: [start, start + 1],
      })),
  },
]

/** What separates statements and arguments in other languages. */
const separators: readonly Kind[] = [
  {
    name: "comma between arguments",
    files: conf,
    codes: ["SP1012"],
    says: "space",
    slips: (text) =>
      sites(
        text,
        /^ *(?:algorithms|methods|origins|limit|quota) +(?:"[^"]*"|[A-Z0-9a-z]+)(?<x>) +["A-Za-z0-9]/,
      ).map(({ start }) => ({ start, end: start, put: ",", at: [start, start] })),
  },
  {
    name: "semicolon missing in a line",
    files: conf,
    codes: ["SP2004", "SP1019", "SP2006"],
    says: /`;`|new line|newline/,
    slips: (text) =>
      sites(text, /\{ [^\n{}"]*(?<x>;) [a-z][^\n{}]*\}/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: lineOf(text, start),
      })),
  },
  {
    name: "two statements on a line",
    files: conf,
    codes: ["SP2004", "SP1019"],
    says: /`;`|new line|newline/,
    why: "The second statement is read as arguments of the first: the remedy must say how statements end.",
    slips: (text) =>
      sites(text, /^ *(?:path|url|backend|audience|use|discovery)[ ]+[^\s{};]+(?<x>\n) *[a-z]+ /).map(
        ({ start, end }) => ({
          start,
          end,
          put: " ",
          at: lineOf(text, start).map((at, side) =>
            side === 0 ? at : lineOf(text, end)[1],
          ) as unknown as readonly [number, number],
        }),
      ),
  },
  {
    name: "equals sign after a keyword",
    files: conf,
    codes: ["SP2036"],
    says: "=",
    slips: (text) =>
      sites(
        text,
        /^ *(?:path|url|backend|limit|use|discovery|audience|timeout|trust|listen)(?<x>) +[^\n{};=]+$/,
      ).map(({ start }) => ({ start, end: start, put: " =", at: [start, start + 1] })),
  },
  {
    name: "colon after a keyword",
    files: conf,
    codes: ["SP2001", "SP1016"],
    says: ":",
    slips: (text) =>
      sites(
        text,
        /^ *(?<word>path|url|backend|limit|use|discovery|audience|timeout|trust|listen)(?<x>) +[^\n{};=]+$/,
      ).map(({ start, group }) => ({ start, end: start, put: ":", at: [group("word")[0], start] })),
  },
  {
    name: "comment of another language",
    files: conf,
    codes: ["SP1036"],
    says: "#",
    slips: (text, next) =>
      plainLines(text).map(({ end }) => {
        const put = oneOf([" // later", " /* later */", " -- later", " <!-- later -->"], next)
        return { start: end, end, put, at: [end, end + 1] }
      }),
  },
  {
    name: "no-break space",
    files: conf,
    codes: ["SP1035"],
    says: "space",
    slips: (text) =>
      sites(text, /^ *[a-z-]+(?<x> )[^\n{}]+$/)
        .filter(({ start }) => !inHeredoc(text, start))
        .map(({ start, end }) => ({ start, end, put: "\u00a0", at: [lineOf(text, start)[0], start] })),
  },
  {
    name: "Cyrillic letter in a word",
    files: conf,
    codes: ["SP1035", "SP2001"],
    says: /[Cc]yrillic|plain/,
    slips: (text) =>
      sites(text, /^ *(?<word>[a-z]*?(?<x>[aeo])[a-z]*) /)
        .filter(({ start }) => !inHeredoc(text, start))
        .map(({ start, end, text: letter, group }) => ({
          start,
          end,
          put: { a: "а", e: "е", o: "о" }[letter as "a"],
          at: [group("word")[0], start],
        })),
  },
  {
    name: "character without width",
    files: conf,
    codes: ["SP1031"],
    says: "Remove",
    slips: (text) =>
      sites(text, /^ *[a-z-]+(?<x>) /)
        .filter(({ start }) => !inHeredoc(text, start))
        .map(({ start }) => ({ start, end: start, put: "\u200b", at: [lineOf(text, start)[0], start] })),
  },
  {
    name: "carriage return alone",
    files: conf,
    codes: ["SP1032"],
    says: /LF/,
    slips: (text) =>
      plainLines(text)
        // Before an empty line it would be CR LF, a valid end of a line.
        .filter(({ end }) => text[end] === "\n" && text[end + 1] !== "\n")
        .map(({ end }) => ({ start: end, end: end + 1, put: "\r", at: [end, end] })),
  },
  {
    name: "merge conflict",
    // Tests of the gateway are no part of a compilation.
    files: /(?<!\.gw)\.(?:conf|fga|yaml|xml)$/,
    codes: ["SP0014"],
    says: "<<<<<<<",
    slips: (text) =>
      sites(text, /^(?<x> *[a-z<][^\n]*\n)/).map(({ start, end, text: line }) => ({
        start,
        end,
        put: `<<<<<<< HEAD\n${line}=======\n${line}>>>>>>> branch\n`,
        at: [start, start],
      })),
  },
  {
    name: "keyword in quotes",
    files: conf,
    codes: ["SP1018"],
    says: "keyword",
    slips: (text) =>
      sites(text, /^ *(?<x>[a-z]+) /)
        .filter(({ start }) => !inHeredoc(text, start))
        .map(({ start, end, text: word }): Slip => ({ start, end, put: `"${word}"`, at: [start, start] })),
  },
]

/** Mistakes in the form of gateway.conf. */
export const confSyntax: readonly Kind[] = [...braces, ...quotes, ...parentheses, ...separators]
