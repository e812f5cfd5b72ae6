import { type Kind, lineAt, misspelt, oneOf, sites, xmlComments } from "../corpus.ts"

const xml = /\.xml$/
const found = (text: string, pattern: RegExp) => sites(text, pattern, xmlComments)

/** Mistakes in policy documents of Azure API Management. */
export const policies: readonly Kind[] = [
  {
    name: "XML: end tag missing",
    files: xml,
    codes: ["SP7001"],
    why: "Reported at the start tag, or at the next end tag, which belongs to an outer element.",
    slips: (text) =>
      found(text, /^(?<x> *<\/(?<name>[a-z-]+)>\n)/).map(({ start, end, groups }) => ({
        start,
        end,
        put: "",
        at: [text.lastIndexOf(`<${groups["name"]}`, start), lineAt(text, start)[1]],
        says: `${groups["name"]}`,
      })),
  },
  {
    name: "XML: end tag misspelt",
    files: xml,
    codes: ["SP7001"],
    slips: (text, next) =>
      found(text, /<\/(?<x>[a-z-]{5,})>/).map(({ start, end, text: name }) => ({
        start,
        end,
        put: misspelt(name, next),
        at: [start - 2, start],
        says: `${name}`,
      })),
  },
  {
    name: "XML: policy misspelt",
    files: xml,
    codes: ["SP7005", "SP7006"],
    why: "Parts of a policy, such as `set-status` in `return-response`, are no policies of a section.",
    slips: (text, next) =>
      found(
        text,
        /<(?<x>set-header|set-body|validate-jwt|rate-limit-by-key|forward-request|return-response|choose)(?<rest>[^>]*\/>)/,
      )
        .concat(found(text, /<(?<x>set-query-parameter|set-header|set-status) [^>]*\/>/))
        .map(({ start, end, text: name }) => ({
          start,
          end,
          put: misspelt(name, next),
          at: [start - 1, start],
          says: `${name}`,
        })),
  },
  {
    name: "XML: attribute misspelt",
    files: xml,
    codes: ["SP7007", "SP7008"],
    why: "The attribute it should be is missing, too; one of the two is enough.",
    slips: (text, next) =>
      found(
        text,
        / (?<x>exists-action|condition|header-name|failed-validation-httpcode|counter-key|renewal-period|timeout|code|reason)="/,
      ).map(({ start, end, text: name }) => ({
        start,
        end,
        put: misspelt(name, next),
        at: [lineAt(text, start)[0], start],
        says: `${name}`,
      })),
  },
  {
    name: "XML: attribute missing",
    files: xml,
    codes: ["SP7008"],
    slips: (text) =>
      found(
        text,
        /<(?<tag>set-header|set-query-parameter|openid-config|set-status|rate-limit-by-key)(?<x> (?<name>name|url|code|calls)="[^"]*")/,
      ).map(({ start, end, group, groups }) => ({
        start,
        end,
        put: "",
        at: [group("tag")[0] - 1, start],
        says: `${groups["name"]}`,
      })),
  },
  {
    name: "XML: quote of an attribute missing",
    files: xml,
    codes: ["SP7001"],
    says: /quote|"/,
    slips: (text) =>
      found(text, /(?:name|exists-action|url|code)="[^"\n@]*(?<x>")/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: [lineAt(text, start)[0], lineAt(text, start)[1] + 120],
      })),
  },
  {
    name: "XML: value of an attribute misspelt",
    files: xml,
    codes: ["SP7009"],
    slips: (text, next) =>
      found(text, /exists-action="(?<x>override|delete|skip)"/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start - 15, start],
        says: `${word}`,
      })),
  },
  {
    name: "XML: number of an attribute",
    files: xml,
    codes: ["SP7009"],
    says: /number|\d/,
    slips: (text, next) =>
      found(text, /(?:timeout|calls|renewal-period|code)="(?<x>\d+)"/).map(({ start, end, whole }) => ({
        start,
        end,
        put: oneOf(["many", "12x", "-5"], next),
        at: [whole[0], start],
      })),
  },
  {
    name: "XML: expression not closed",
    files: xml,
    codes: ["SP7004", "SP7017"],
    says: /\)/,
    slips: (text) =>
      found(text, /<value>(?<open>@\()[^\n]*(?<x>\))<\/value>/).map(({ start, end, group }) => ({
        start,
        end,
        put: "",
        at: [group("open")[0], start],
      })),
  },
  {
    name: "XML: member of the context misspelt",
    files: xml,
    codes: ["SP7017"],
    slips: (text, next) =>
      found(text, /context\.(?<x>Request|Variables)\b/).map(({ start, end, text: name }) => ({
        start,
        end,
        put: misspelt(name, next),
        at: [start - 8, start],
        says: `${name}`,
      })),
  },
  {
    name: "XML: method of C# misspelt",
    files: xml,
    codes: ["SP7017"],
    slips: (text, next) =>
      found(text, /\.(?<x>GetValueOrDefault|AsJwt|ToString)\b/).map(({ start, end, text: name }) => ({
        start,
        end,
        put: misspelt(name, next),
        at: [start - 1, start],
        says: `${name}`,
      })),
  },
  {
    name: "XML: policy in the wrong section",
    files: xml,
    codes: ["SP7006"],
    says: "inbound",
    slips: (text) =>
      found(text, /<outbound>\n *<base \/>(?<x>)\n/).map(({ start }) => ({
        start,
        end: start,
        put: '\n        <rate-limit calls="5" renewal-period="60" />',
        at: [start + 9, start + 10],
      })),
  },
  {
    name: "XML: section misspelt",
    files: xml,
    codes: ["SP7005", "SP7006", "SP7002"],
    slips: (text, next) =>
      found(
        text,
        /<(?<x>inbound|outbound|on-error|backend)>(?<body>[\s\S]*?)<\/(?<last>inbound|outbound|on-error|backend)>/,
      ).map(({ start, text: name, groups, group }) => {
        const wrong = misspelt(name, next)
        return {
          start,
          end: group("last")[1],
          put: `${wrong}>${groups["body"]}</${wrong}`,
          at: [start - 1, start],
          says: name,
        }
      }),
  },
  {
    name: "XML: named value misspelt",
    files: xml,
    codes: ["SP7012"],
    slips: (text, next) =>
      found(text, /\{\{(?<x>[a-z-]+)\}\}/).map(({ start, end, text: name }) => ({
        start,
        end,
        put: misspelt(name, next),
        at: [lineAt(text, start)[0], start],
        says: name.replace("-", "_").slice(0, 4),
      })),
  },
  {
    name: "XML: text between elements",
    files: xml,
    codes: ["SP7001", "SP7006", "SP7005"],
    says: /[Rr]emove|text/,
    slips: (text) =>
      found(text, /<base \/>(?<x>)\n/).map(({ start }) => ({
        start,
        end: start,
        put: " later",
        at: [start, start + 6],
      })),
  },
  {
    name: "XML: attribute given twice",
    files: xml,
    codes: ["SP7001"],
    says: /twice|[Rr]emove/,
    slips: (text) =>
      found(text, /(?<x> exists-action="[a-z]+")/).map(({ start, end, text: one }) => ({
        start: end,
        end,
        put: one,
        at: [start, end + one.length],
      })),
  },
  {
    name: "XML: comment not closed",
    files: xml,
    codes: ["SP7001"],
    says: "-->",
    slips: (text) =>
      found(text, /(?<x>)\n *<set-header/).map(({ start }) => ({
        start,
        end: start,
        put: "\n<!-- later",
        at: [start + 1, start + 1],
      })),
  },
]
