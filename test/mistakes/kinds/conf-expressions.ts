import { type Kind, lineAt, misspelt, type Slip, sites } from "../corpus.ts"
import { conf } from "./conf-syntax.ts"

/** An expression is one place: its parts may be reported at any place inside of it. */
const inLine = (text: string, start: number, end: number, put: string, more: Partial<Slip> = {}): Slip => ({
  start,
  end,
  put,
  at: [lineAt(text, start)[0], lineAt(text, start)[1]],
  ...more,
})

/** Mistakes in expressions, and in what they say about models. */
export const confExpressions: readonly Kind[] = [
  {
    name: "claim misspelt",
    files: conf,
    codes: ["SP5005"],
    slips: (text, next) =>
      sites(text, /jwt\.(?<x>sub)\b/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start - 4, start],
        says: "`sub`",
      })),
  },
  {
    name: "name in an expression misspelt",
    files: conf,
    codes: ["SP5003"],
    slips: (text, next) =>
      sites(text, /[(!]|\$\{(?<x>request|response|subscription|gateway)\./)
        .filter(({ groups }) => groups["x"] !== undefined)
        .concat(sites(text, /\((?<x>request|response|subscription)\./))
        .map(({ start, end, text: word }) => ({
          start,
          end,
          put: misspelt(word, next),
          at: [start, start],
          says: `\`${word}\``,
        })),
  },
  {
    name: "member in an expression misspelt",
    files: conf,
    codes: ["SP5003", "SP5001"],
    slips: (text, next) =>
      sites(
        text,
        /(?<root>request|response|gateway|subscription)\.(?<x>header|status|name|state|product|id)\b/,
      ).map(({ start, end, text: word, group }) => ({
        start,
        end,
        put: word === "id" ? "idd" : misspelt(word, next),
        at: [group("root")[0], start],
        says: word,
      })),
  },
  {
    name: "parameter of the path misspelt",
    files: conf,
    codes: ["SP5003", "SP5004"],
    slips: (text, next) =>
      sites(text, /\$\{(?<root>path)\.(?<x>id|org|workspace)\}/).map(({ start, end, text: word, group }) => ({
        start,
        end,
        put: word === "id" ? "ID" : misspelt(word, next),
        at: [group("root")[0], start],
        says: word,
      })),
  },
  {
    name: "text compared with a number",
    files: conf,
    codes: ["SP5001"],
    says: /int|number|type/,
    slips: (text) =>
      sites(text, /response\.status [=><]+ (?<x>\d+)/).map(({ start, end, text: number }) =>
        inLine(text, start, end, `"${number}"`),
      ),
  },
  {
    name: "one equals sign in an expression",
    files: conf,
    codes: ["SP5002"],
    says: "==",
    slips: (text) =>
      sites(text, /\([^\n]*(?<x>==)[^\n]*\)/).map(({ start, end }) =>
        inLine(text, start, end, "=", { at: [start, start + 1] }),
      ),
  },
  {
    name: "`and` for `&&`",
    files: conf,
    codes: ["SP5002"],
    says: "&&",
    slips: (text) =>
      sites(text, /\([^\n]*(?<x>&&)[^\n]*\)/).map(({ start, end }) =>
        inLine(text, start, end, "and", { at: [start, start + 3] }),
      ),
  },
  {
    name: "operand missing",
    files: conf,
    codes: ["SP5002"],
    says: /expression|value|operand|Write/,
    slips: (text) =>
      sites(text, /\([^\n]*(?:==|>=)(?<x> (?:"[a-z0-9]+"|\d+))\) \{/).map(({ start, end }) =>
        inLine(text, start, end, ""),
      ),
  },
  {
    name: "relation of a check misspelt",
    files: conf,
    codes: ["SP5012"],
    slips: (text, next) =>
      sites(text, /(?:require|filter "items" by|grant) (?<x>[a-z_]+) of/).map(
        ({ start, end, text: word }) => ({
          start,
          end,
          put: misspelt(word, next),
          at: [start, start],
          says: `\`${word}\``,
        }),
      ),
  },
  {
    name: "type of a check misspelt",
    files: conf,
    codes: ["SP5011"],
    slips: (text, next) =>
      sites(text, /of "(?<x>[a-z0-9]+):\$/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: /\d/.test(word) ? word.replace(/\d+/, "s") : misspelt(word, next),
        at: [start - 1, start],
        says: /\d/.test(word) ? /type/ : `\`${word}\``,
      })),
  },
  {
    name: "user of a check without its type",
    files: conf,
    codes: ["SP5014"],
    says: "type:",
    slips: (text) =>
      sites(text, /for "(?<x>user:)\$/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: [start - 1, start],
      })),
  },
  {
    name: "user of another type in a check",
    files: conf,
    codes: ["SP5013", "SP5011"],
    says: "user",
    why: "Users of that type can never have the relation.",
    slips: (text) =>
      sites(text, /require viewer of "order:.* for "(?<x>user):\$/).map(({ start, end }) =>
        inLine(text, start, end, "order"),
      ),
  },
  {
    name: "word between arguments of a check",
    files: conf,
    codes: ["SP2004"],
    slips: (text, next) =>
      sites(text, /require [a-z_]+ (?<x>of) /).map(({ start, end }) => ({
        start,
        end,
        put: ["on", "in", "fo"][next(3)] as string,
        at: [start, start],
        says: "of",
      })),
  },
  {
    name: "invalid JSON",
    files: conf,
    codes: ["SP5007"],
    says: /JSON|,|"/,
    slips: (text) =>
      sites(text, /\{ "error": "no such order"(?<x>,) "request"/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: lineAt(text, start),
      })),
  },
]
