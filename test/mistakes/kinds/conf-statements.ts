import {
  type Kind,
  lineAt,
  misspelt,
  type Numbers,
  oneOf,
  openerOf,
  type Site,
  type Slip,
  sites,
  withoutStrings,
} from "../corpus.ts"
import { conf } from "./conf-syntax.ts"

/** Keywords of this language that a misspelt one must not become. */
const words = new Set(
  "api apis auth authz path limit limits use key keys query header headers method methods body trust product policy listen".split(
    " ",
  ),
)

const misspeltAt = ({ start, end, text }: Site, next: Numbers, says = text): Slip => ({
  start,
  end,
  put: misspelt(text, next, words),
  at: [start, start],
  says: `\`${says}\``,
})

/** Replaces a value by one of some wrong ones. */
const instead = ({ start, end }: Site, put: string): Slip => ({
  start,
  end,
  put,
  at: [start, start + put.length],
})

const outside = (text: string, { start }: Site): boolean => withoutStrings(text)[start] !== " "

const keywords: readonly Kind[] = [
  {
    name: "keyword misspelt",
    files: conf,
    codes: ["SP2001"],
    slips: (text, next) =>
      sites(text, /^ *(?<x>[a-z][a-z-]{3,}) /)
        .filter((site) => outside(text, site))
        .map((site) => misspeltAt(site, next)),
  },
  {
    name: "keyword misspelt in a line of statements",
    files: conf,
    codes: ["SP2001"],
    slips: (text, next) =>
      sites(text, /[{;] (?<x>[a-z][a-z-]{3,}) /)
        .filter((site) => outside(text, site) && !text.slice(...lineAt(text, site.start)).includes("claims"))
        .map((site) => misspeltAt(site, next)),
  },
  {
    name: "keyword in capitals",
    files: conf,
    codes: ["SP2001"],
    slips: (text) =>
      sites(text, /^ *(?<x>[a-z][a-z-]{3,}) /)
        .filter((site) => outside(text, site))
        .map(({ start, end, text: word }) => ({
          start,
          end,
          put: word.toUpperCase(),
          at: [start, start],
          says: `\`${word}\``,
        })),
  },
  {
    name: "keyword in the wrong block",
    files: conf,
    codes: ["SP2002"],
    slips: (text, next) =>
      sites(text, /^(?:api|product) [a-z0-9]+ \{(?<x>)\n/).map(({ start }) => {
        const [line, where] = oneOf(
          [
            ["clock-skew 30s", "issuer"],
            ["breaker 5 failures in 30s open 10s", "backend"],
            ["max-staleness 10s", "authz"],
          ] as const,
          next,
        )
        return { start, end: start, put: `\n  ${line}`, at: [start + 3, start + 3], says: `\`${where}\`` }
      }),
  },
  {
    name: "statement given twice",
    files: conf,
    codes: ["SP2008"],
    says: /[Rr]emove|Keep one/,
    why: "Either line may be the one too many.",
    slips: (text) =>
      sites(
        text,
        /^(?<x> *(?:path|url|backend|discovery|clock-skew|health|breaker|max-staleness|memory|price) +[^\n{};]+\n)/,
      ).map(({ start, end, text: line }) => ({ start: end, end, put: line, at: [start, end + line.length] })),
  },
  {
    name: "declaration given twice",
    files: conf,
    codes: ["SP2011"],
    says: /another name|[Rr]emove/,
    slips: (text) =>
      sites(text, /^(?<x>(?:value|secret|subscription|backend|product) +[^\n]*[^{\n]\n)/).map(
        ({ start, end, text: line }) => ({
          start: end,
          end,
          put: line,
          at: [start, end + line.length],
        }),
      ),
  },
  {
    name: "argument missing",
    files: conf,
    codes: ["SP2004"],
    slips: (text) =>
      sites(
        text,
        /^ *(?<keyword>path|url|backend|discovery|audience|clock-skew|listen|memory|max-staleness|use|limit|openapi)(?<x> +[^\n{};]+)$/,
      ).map(({ start, end, group, groups }) => ({
        start,
        end,
        put: "",
        at: [group("keyword")[0], start],
        says: new RegExp(`${groups["keyword"]} |\`${groups["keyword"]}`),
      })),
  },
  {
    name: "argument too many",
    files: conf,
    codes: ["SP2004"],
    says: /one |exactly|Write|Remove/,
    slips: (text) =>
      sites(
        text,
        /^ *(?:path|url|backend|discovery|clock-skew|memory|max-staleness|openapi) +[^\s{};]+(?<x>)$/,
      ).map(({ start }) => ({ start, end: start, put: " extra", at: [start + 1, start + 1] })),
  },
]

/** Statements without which a declaration means nothing. The remedy must name what is missing. */
const missing = (keyword: string, block: string, code: Kind["codes"][number], why?: string): Kind => ({
  name: `\`${keyword}\` missing in ${block}`,
  files: conf,
  codes: [code],
  says: keyword,
  ...(why === undefined ? {} : { why }),
  slips: (text) =>
    sites(
      text,
      new RegExp(
        `^(?:(?:  )?)${keyword} [^\\n{}]*(?:\\{[^\\n]*\\}[^\\n]*)?\\n|(?<=\\{ )(?:${keyword} [^;}\\n]+)(?:; |(?= \\}))`,
      ),
    )
      .filter(({ start }) => outside(text, { start } as Site) || text[start] === " ")
      .flatMap(({ whole: [start, end] }): Slip[] => {
        const brace = blockOf(text, start)
        const [from] = lineAt(text, brace)
        const header = text.slice(from, brace)
        if (!new RegExp(`^ *${block} `).test(header)) return []
        if (headerHasOther(text, brace, keyword)) return []
        const close = closerOf(text, brace)
        return [{ start, end, put: "", at: [from, close - (end - start)] }]
      }),
})

/** Whether the block has the statement more than once. */
function headerHasOther(text: string, brace: number, keyword: string): boolean {
  const body = text.slice(brace, closerOf(text, brace))
  return (body.match(new RegExp(`(?:^|[{;]) *${keyword} `, "gm")) ?? []).length > 1
}

function blockOf(text: string, offset: number): number {
  const code = withoutStrings(text)
  let depth = 0
  for (let at = offset - 1; at >= 0; at--) {
    if (code[at] === "}") depth++
    if (code[at] === "{" && depth-- === 0) return at
  }
  return -1
}

function closerOf(text: string, brace: number): number {
  const code = withoutStrings(text)
  for (let at = brace + 1; at < code.length; at++)
    if (code[at] === "}" && openerOf(text.slice(0, at + 1), at) === brace) return at
  return code.length
}

const required: readonly Kind[] = [
  missing("auth", "api", "SP3004", "Reported at the API or at an operation of it."),
  missing("backend", "api", "SP3005", "Reported at the API or at an operation of it."),
  missing("url", "backend", "SP2009"),
  missing("discovery", "issuer", "SP2009"),
  missing("path", "api", "SP2009"),
  missing("audience", "issuer", "SP3020", "A token for any audience would be accepted."),
  missing("product", "subscription", "SP2009"),
  missing("apis", "product", "SP2009"),
]

/** Uses of names that are declared elsewhere in the project. */
const names: readonly Kind[] = [
  {
    name: "name of a backend misspelt",
    files: conf,
    codes: ["SP2012"],
    slips: (text, next) =>
      sites(text, /^ +(?:version .*)?backend +(?<x>[a-z_0-9]{4,})(?= |$)/).map((site) =>
        misspeltAt(site, next),
      ),
  },
  {
    name: "name of an issuer misspelt",
    files: conf,
    codes: ["SP2012"],
    slips: (text, next) => sites(text, /auth +jwt (?<x>[a-z]+)/).map((site) => misspeltAt(site, next)),
  },
  {
    name: "name of a policy misspelt",
    files: conf,
    codes: ["SP2012"],
    slips: (text, next) => sites(text, /^ *use +(?<x>[a-z_0-9]+)/).map((site) => misspeltAt(site, next)),
  },
  {
    name: "name of a product, key or API misspelt",
    files: conf,
    codes: ["SP2012"],
    slips: (text, next) =>
      [
        ...sites(text, /product (?<x>[a-z]+);/),
        ...sites(text, /key (?<x>[a-z_]+) \}/),
        ...sites(text, /^ +apis +(?<x>[a-z]+)$/),
      ].map((site) => misspeltAt(site, next)),
  },
  {
    name: "declared name misspelt",
    files: conf,
    codes: ["SP2012"],
    why: "Its uses name what is not declared; the declaration itself is only unused. One finding for each use is right.",
    slips: (text, next) =>
      sites(text, /^(?:backend|issuer|policy) (?<x>[a-z_0-9]{4,}) \{/).map(({ start, end, text: name }) => {
        const uses =
          text.match(new RegExp(`(?<=(?:backend|jwt|use) +)${name}\\b(?! \\{\\n)`, "g"))?.length ?? 1
        return {
          start,
          end,
          put: misspelt(name, next),
          at: [start, start],
          orAt: (file, line) => file.endsWith(".conf") && new RegExp(`\\b${name}\\b`).test(line),
          says: name,
          findings: uses,
        }
      }),
  },
]

const values: readonly Kind[] = [
  {
    name: "duration",
    files: conf,
    codes: ["SP2020", "SP2004"],
    says: /\d+ ?s\b|`s`|unit|Write/,
    why: "`30 s` is two arguments.",
    slips: (text, next) =>
      sites(
        text,
        /^ *(?:timeout|clock-skew|max-staleness|max-age|health .* every|breaker .* in|limit .* per)(?: connect)? +(?<x>\d+[smh])(?= |$)/,
      )
        .filter((site) => outside(text, site))
        .map((site) =>
          instead(
            site,
            oneOf(
              [
                site.text.slice(0, -1),
                `${site.text.slice(0, -1)}sec`,
                `${site.text.slice(0, -1)}x`,
                `${site.text.slice(0, -1)} ${site.text.slice(-1)}`,
              ],
              next,
            ),
          ),
        ),
  },
  {
    name: "size",
    files: conf,
    codes: ["SP2021"],
    says: /[KM]B/,
    slips: (text, next) =>
      sites(text, / (?<x>\d+(?:MB|KB))(?=[ ;\n])/).map((site) =>
        instead(site, oneOf([site.text.slice(0, -1), site.text.slice(0, -2), `${site.text}s`], next)),
      ),
  },
  {
    name: "number",
    files: conf,
    codes: ["SP2022", "SP2004"],
    says: /number/,
    slips: (text, next) =>
      [
        ...sites(text, /^ *(?:limit|quota|retry|breaker) +(?<x>\d+) /),
        ...sites(text, /(?:weight|down-after|headers|up-after) (?<x>\d+)(?=[; \n])/),
      ].map((site) =>
        instead(site, oneOf(["many", `${site.text.slice(0, -1)}O`, "-1", "1_000", "1.5"], next)),
      ),
  },
  {
    name: "date",
    files: conf,
    codes: ["SP2023"],
    says: /\d{4}-\d\d-\d\d|YYYY|calendar|month/,
    slips: (text, next) =>
      sites(text, /sunset (?<x>\d{4}-\d\d-\d\d)/).map((site) =>
        instead(site, oneOf(["2099-06-31", "30.06.2099", "2099-13-01", "2099-6-30"], next)),
      ),
  },
  {
    name: "address to listen on",
    files: conf,
    codes: ["SP2024"],
    says: /port|address/,
    slips: (text, next) =>
      sites(text, /^ *listen +(?<x>[\d.]+:\d+)/).map((site) =>
        instead(
          site,
          oneOf(["127.0.0.256:8000", "127.0.0.1:80000", "127.0.0.1:80a", "127.0.0.1", "127.0.0.1:"], next),
        ),
      ),
  },
  {
    name: "network",
    files: conf,
    codes: ["SP2025"],
    says: /network|prefix|\/\d+/,
    slips: (text, next) =>
      sites(text, /^ *trust +(?<x>[\d./]+)/).map((site) =>
        instead(site, oneOf(["10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0.0/8", "10.0.0.1/8"], next)),
      ),
  },
  {
    name: "scheme of a URL",
    files: conf,
    codes: ["SP2026"],
    says: /https?:\/\//,
    slips: (text, next) =>
      sites(text, /(?:url|target) +(?<x>"https?:\/\/[^"$]+")/).map((site) =>
        instead(
          site,
          site.text.replace(/^"https?:\/\//, oneOf(['"htp://', '"http:/', '"', '"ftp://', '"//'], next)),
        ),
      ),
  },
  {
    name: "name of a header",
    files: conf,
    codes: ["SP2027"],
    says: /header|Header/,
    slips: (text, next) =>
      sites(text, /header +(?:set|remove|default|append) (?<x>"(?<inner>[A-Za-z-]+)")/)
        .map((site) =>
          instead(
            site,
            oneOf(
              [
                `"${site.groups["inner"]}:"`,
                `"${site.groups["inner"]?.replace("-", " ")} Name"`,
                '""',
                `"${site.groups["inner"]}(1)"`,
              ],
              next,
            ),
          ),
        )
        .map((slip) =>
          slip.put === '""' ? { ...slip, codes: ["SP2027", "SP2038"], says: "Write a value" } : slip,
        ),
  },
  {
    name: "status",
    files: conf,
    codes: ["SP2029"],
    says: /\d{3}/,
    slips: (text, next) =>
      sites(text, /respond (?<x>\d{3})(?= )/).map((site) =>
        instead(site, oneOf(["4003", "99", "40x", "600", "teapot"], next)),
      ),
  },
  {
    name: "word of a closed list misspelt",
    files: conf,
    codes: ["SP2030"],
    slips: (text, next) =>
      [
        ...sites(text, /unknown-query (?<x>prevent)/),
        ...sites(text, /validate response (?<x>detect)/),
        ...sites(text, /^ *algorithms +(?<x>RS256)/),
        ...sites(text, /retry +\d on (?<x>connect-error|reset)/),
        ...sites(text, /claims +\{ sub (?<x>string)/),
      ].map((site) => misspeltAt(site, next)),
  },
  {
    name: "word between arguments misspelt",
    files: conf,
    codes: ["SP2004", "SP2030"],
    slips: (text, next) =>
      [
        ...sites(text, /^ *limit +\d+ (?<x>per) /),
        ...sites(text, /^ *timeout (?<x>connect) /),
        ...sites(text, /timeout connect \d+s (?<x>total) /),
        ...sites(text, /breaker \d+ (?<x>failures) /),
        ...sites(text, /^ *header (?<x>set|remove|default) /),
        ...sites(text, /claim scope (?<x>has) /),
        ...sites(text, / by jwt.sub (?<x>else) /),
      ].map((site) => misspeltAt(site, next)),
  },
  {
    name: "origin with a slash",
    files: conf,
    codes: ["SP2039"],
    says: /slash|path|without/,
    slips: (text, next) =>
      sites(text, /^ *origins .*(?<x>"https:[^"]+")/).map((site) =>
        instead(site, oneOf([`${site.text.slice(0, -1)}/"`, `${site.text.slice(0, -1)}/app"`], next)),
      ),
  },
  {
    name: "method misspelt",
    files: conf,
    codes: ["SP2041", "SP2001"],
    why: "An operation may have a method of its own, so it is a warning; a word in small letters is a keyword.",
    slips: (text, next) =>
      sites(text, /^ *(?<x>GET|PUT|POST|DELETE) +"/).map((site) =>
        next(3) === 0 ? { ...misspeltAt(site, next), put: site.text.toLowerCase() } : misspeltAt(site, next),
      ),
  },
  {
    name: "time to connect above the total",
    files: conf,
    codes: ["SP2042"],
    says: "total",
    slips: (text) =>
      sites(text, /timeout (?<all>connect (?<x>\d+s) total \d+s)/).map((site) => ({
        ...instead(site, "90s"),
        at: [site.whole[0], site.whole[1]],
      })),
  },
]

const routes: readonly Kind[] = [
  {
    name: "operation given twice",
    files: conf,
    codes: ["SP3002", "SP2008", "SP2011"],
    says: /[Rr]emove|[Rr]ename|path|differ/,
    slips: (text) =>
      sites(text, /^(?<x> *(?:GET|PUT|DELETE|ANY) +"[^"]*"(?: +\{[^\n]*\})?\n)/).map(
        ({ start, end, text: line }) => ({
          start: end,
          end,
          put: line,
          at: [start, end + line.length],
        }),
      ),
  },
  {
    name: "path without its slash",
    files: conf,
    codes: ["SP3001"],
    says: "/",
    slips: (text) =>
      sites(text, /^ *(?:path|GET|PUT|POST|DELETE|ANY) +(?<x>"\/(?<inner>[^"\n]+)")/).map((site) =>
        instead(site, `"${site.groups["inner"]}"`),
      ),
  },
  {
    name: "brace of a path parameter",
    files: conf,
    codes: ["SP3001"],
    says: /\{|\}/,
    slips: (text) =>
      sites(text, /^ *(?:GET|PUT|DELETE|ANY) +(?<all>"[^"\n]*\{[a-z]+(?<x>\})[^"\n]*")/).map(
        ({ start, end, group }) => ({ start, end, put: "", at: [group("all")[0], group("all")[1]] }),
      ),
  },
  {
    name: "path of a file misspelt",
    files: conf,
    codes: ["SP0001"],
    slips: (text, next) =>
      sites(text, /(?:model|openapi|xml) +"(?<x>[a-z]+\/[a-z.]+)"/)
        .map((site) => ({
          ...misspeltAt(site, next),
          at: [site.start - 1, site.start] as const,
          says: site.text,
        }))
        // `a//b` names the same file.
        .filter(({ put }) => !put.includes("//")),
  },
  {
    name: "pattern that matches no file",
    files: conf,
    codes: ["SP0012"],
    says: /file|pattern/,
    slips: (text) =>
      sites(text, /(?:include|tests) +"(?<x>[a-z/*.]+)"/).map(({ start, end, text: path }) => ({
        start,
        end,
        put: path.replace("*", "*x"),
        at: [start - 1, start],
      })),
  },
  {
    name: "secret with a default",
    files: conf,
    codes: ["SP2033", "SP2032"],
    says: /default/,
    slips: (text) =>
      sites(text, /^secret .*env\([A-Z_]+(?<x>)\)/).map(({ start }) => ({
        start,
        end: start,
        put: ', "s3cret"',
        at: lineAt(text, start),
      })),
  },
  {
    name: "external reference misspelt",
    files: conf,
    codes: ["SP2032"],
    slips: (text) =>
      sites(text, /(?<x>env)\(/).map(({ start, end }) => ({
        start,
        end,
        put: "evn",
        at: [start, start],
        says: "env",
      })),
  },
  {
    name: "`without` of what is not there",
    files: conf,
    codes: ["SP3012"],
    says: /[Rr]emove/,
    slips: (text) =>
      sites(text, /^ *without (?<x>limit)/).map(({ start, end }) => ({
        start,
        end,
        put: "cors",
        at: lineAt(text, start),
      })),
  },
  {
    name: "path parameter in another syntax",
    files: conf,
    codes: ["SP3043"],
    says: "{",
    slips: (text) =>
      sites(text, /^ *(?:ANY|GET) +"\/(?:items\/)?(?<x>\{(?<name>id)\})"(?= *$)/).map(
        ({ start, end, groups }) => ({
          start,
          end,
          put: `:${groups["name"]}`,
          at: lineAt(text, start),
        }),
      ),
  },
]

/** Mistakes in the statements of gateway.conf. */
export const confStatements: readonly Kind[] = [...keywords, ...required, ...names, ...values, ...routes]
