import { type Kind, lineAt, misspelt, oneOf, sites } from "../corpus.ts"

const fga = /\.fga$/

/** Mistakes in models. */
export const models: readonly Kind[] = [
  {
    name: "model: colon missing",
    files: fga,
    codes: ["SP4001"],
    says: ":",
    slips: (text) =>
      sites(text, /define [a-z_]+(?<x>:)/).map(({ start, end, whole }) => ({
        start,
        end,
        put: "",
        at: [whole[0], start + 1],
      })),
  },
  {
    name: "model: relation misspelt",
    files: fga,
    codes: ["SP4020", "SP4022", "SP4023"],
    slips: (text, next) =>
      sites(text, /define [^\n]*(?:or|and|not|\]) (?!from)(?<x>[a-z_]{4,})(?= |\)|$)/)
        .filter(({ text: word }) => !["from", "but"].includes(word))
        .filter(({ text: word }) => new RegExp(`define ${word}:`).test(text))
        .map(({ start, end, text: word }) => ({
          start,
          end,
          put: misspelt(word, next),
          at: [start, start],
          says: `\`${word}\``,
        })),
  },
  {
    name: "model: relation before `from` misspelt",
    files: fga,
    codes: ["SP4020", "SP4022", "SP4023"],
    slips: (text, next) =>
      sites(text, /(?<x>[a-z_]+) from [a-z_]+/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "model: relation behind `from` misspelt",
    files: fga,
    codes: ["SP4020", "SP4022", "SP4023"],
    why: "The place is the operand, as in OpenFGA's own findings.",
    slips: (text, next) =>
      sites(text, /(?<operand>[a-z_]+) from (?<x>[a-z_]+)/).map(({ start, end, text: word, group }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [group("operand")[0], start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "model: type misspelt in a list",
    files: fga,
    codes: ["SP4021"],
    slips: (text, next) =>
      sites(text, /\[(?:[^\]\n]*, )?(?<x>[a-z]{4,})(?=[\],: #])/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "model: relation of a list misspelt",
    files: fga,
    codes: ["SP4020", "SP4022"],
    slips: (text, next) =>
      sites(text, /(?<type>[a-z]+)#(?<x>[a-z]+)/).map(({ start, end, text: word, group }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [group("type")[0], start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "model: bracket not closed",
    files: fga,
    codes: ["SP4007", "SP4001"],
    why: "Where an operator follows, it is the first thing that no list can contain.",
    says: "]",
    slips: (text) =>
      sites(text, /(?<open>\[)[^\]\n]*(?<x>\])/).map(({ start, end, group }) => ({
        start,
        end,
        put: "",
        at: [group("open")[0], start + 1],
      })),
  },
  {
    name: "model: parenthesis not closed",
    files: fga,
    codes: ["SP4007"],
    says: ")",
    slips: (text) =>
      sites(text, /define [a-z]+: (?<open>\()[^\n]*(?<x>\))/).map(({ start, end, group }) => ({
        start,
        end,
        put: "",
        at: [group("open")[0], group("open")[0]],
      })),
  },
  {
    name: "model: operators without parentheses",
    files: fga,
    codes: ["SP4014"],
    says: "parenthes",
    slips: (text) =>
      sites(text, /define [a-z]+: (?<x>\((?<inner>[^\n()]*)\)) (?:and|but)/).map(
        ({ start, end, groups }) => ({
          start,
          end,
          put: groups["inner"] as string,
          at: lineAt(text, start),
        }),
      ),
  },
  {
    name: "model: schema version",
    files: fga,
    codes: ["SP4012", "SP4001"],
    says: "1.1",
    slips: (text, next) =>
      sites(text, /schema (?<x>1\.1)/).map(({ start, end }) => ({
        start,
        end,
        put: oneOf(["1.3", "1.0", "2", "1.1.1"], next),
        at: [start, start],
      })),
  },
  {
    name: "model: header missing",
    files: fga,
    codes: ["SP4011"],
    says: "model",
    why: "Reported where the model begins.",
    slips: (text) =>
      sites(text, /^model\n {2}schema 1.1\n/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: [0, start + 10],
      })),
  },
  {
    name: "model: relation defined twice",
    files: fga,
    codes: ["SP4028"],
    says: /[Rr]ename|[Rr]emove/,
    slips: (text) =>
      sites(text, /^(?<x> +define [^\n]*\n)/).map(({ start, end, text: line }) => ({
        start: end,
        end,
        put: line,
        at: [start, end + line.length],
      })),
  },
  {
    name: "model: type defined twice",
    files: fga,
    codes: ["SP4027"],
    says: /Merge|[Rr]emove/,
    slips: (text) =>
      sites(text, /^(?<x>type [a-z]+\n)/).map(({ start, text: line }) => ({
        start,
        end: start,
        put: `${line}\n`,
        at: [start, start + 2 * line.length],
      })),
  },
  {
    name: "model: condition misspelt",
    files: fga,
    codes: ["SP4036"],
    slips: (text, next) =>
      sites(text, / with (?<x>[a-z_]+)/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "model: keyword misspelt",
    files: fga,
    codes: ["SP4001", "SP4009", "SP4011"],
    why: "Without `model` or `schema` the file has no header.",
    slips: (text, next) =>
      [
        ...sites(text, /^ +(?<x>define|relations|schema)\b/),
        ...sites(text, /^(?<x>type|condition|model)\b/),
      ].map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}`,
      })),
  },
  {
    name: "model: `from` or `with` misspelt",
    files: fga,
    codes: ["SP4001"],
    slips: (text, next) =>
      sites(text, / (?<x>from|with) /).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}`,
      })),
  },
  {
    name: "model: comma missing in a list",
    files: fga,
    codes: ["SP4001"],
    says: /,|comma/,
    slips: (text) =>
      sites(text, /\[[^\]\n]*(?<x>,) (?<after>[a-z])/).map(({ start, end, group }) => ({
        start,
        end,
        put: "",
        at: [start, group("after")[0]],
      })),
  },
  {
    name: "model: comma of the end of a list",
    files: fga,
    codes: ["SP4001"],
    says: /,|comma|type/,
    slips: (text) =>
      sites(text, /\[[^\]\n]*(?<x>)\]/).map(({ start }) => ({
        start,
        end: start,
        put: ",",
        at: [start, start + 1],
      })),
  },
  {
    name: "model: colon missing in a comment's place",
    files: fga,
    codes: ["SP4001", "SP4006", "SP4009"],
    says: "#",
    slips: (text) =>
      sites(text, /define [^\n]*(?<x>)$/).map(({ start }) => ({
        start,
        end: start,
        put: " // later",
        at: [start, start + 2],
      })),
  },
  {
    name: "model: brace of a condition missing",
    files: fga,
    codes: ["SP4008"],
    says: "}",
    slips: (text) =>
      sites(text, /^condition [\s\S]*?\n(?<x>\})/).map(({ start, end, whole }) => ({
        start,
        end,
        put: "",
        at: [whole[0], start],
      })),
  },
  {
    name: "model: parameter of a condition misspelt",
    files: fga,
    codes: ["SP4038"],
    slips: (text, next) =>
      sites(text, /< (?<x>deadline)/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [lineAt(text, start)[0], start],
        says: word,
      })),
  },
  {
    name: "model: type of a condition's parameter",
    files: fga,
    codes: ["SP4001", "SP4038", "SP4016"],
    slips: (text, next) =>
      sites(text, /: (?<x>timestamp)/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: word,
      })),
  },
  {
    name: "model: types of an expression",
    files: fga,
    codes: ["SP4038"],
    says: /type|timestamp|int/,
    slips: (text) =>
      sites(text, /(?<all>now < (?<x>deadline))/).map(({ start, end, whole }) => ({
        start,
        end,
        put: "5",
        at: [lineAt(text, start)[0], whole[1]],
      })),
  },
]
