import { type Kind, lineAt, misspelt, oneOf, sites } from "../corpus.ts"
import { yamlForm } from "./yaml-form.ts"

const document = /\.openapi\.yaml$/

/** Mistakes in OpenAPI documents. */
export const openapi: readonly Kind[] = [
  ...yamlForm(document, "OpenAPI", ["SP8002"]).map((kind) =>
    kind.name.endsWith("colon missing")
      ? { ...kind, codes: ["SP8002", "SP8003", "SP8014", "SP8001"] as const }
      : kind,
  ),
  {
    name: "OpenAPI: reference misspelt",
    files: document,
    codes: ["SP8004"],
    slips: (text, next) =>
      sites(text, /\$ref: (?<all>"#\/components\/schemas\/(?<x>[A-Za-z]+)")/).map(
        ({ start, end, text: word, group }) => ({
          start,
          end,
          put: misspelt(word, next),
          at: [group("all")[0] - 6, start],
          says: word,
        }),
      ),
  },
  {
    name: "OpenAPI: field misspelt",
    files: document,
    codes: ["SP8014", "SP8003"],
    why: "A field the standard does not know has no meaning; a missing one has the same place.",
    slips: (text, next) =>
      sites(
        text,
        /^ +(?<x>operationId|summary|parameters|responses|requestBody|description|properties):/,
      ).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "OpenAPI: method misspelt",
    files: document,
    codes: ["SP8014", "SP8003"],
    slips: (text, next) =>
      sites(text, /^ {4}(?<x>get|post):/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: `\`${word}\``,
      })),
  },
  {
    name: "OpenAPI: type misspelt",
    files: document,
    codes: ["SP8003", "SP8013"],
    slips: (text, next) =>
      sites(text, /type: (?<x>string|integer|object|array)/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: word,
      })),
  },
  {
    name: "OpenAPI: path without its slash",
    files: document,
    codes: ["SP8003", "SP8021"],
    says: "/",
    slips: (text) =>
      sites(text, /^ {2}(?<x>\/)[a-z]/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: [start, start],
      })),
  },
  {
    name: "OpenAPI: version",
    files: document,
    codes: ["SP8001", "SP8003"],
    says: "3.1",
    slips: (text, next) =>
      sites(text, /^openapi: (?<x>3\.1\.0)/).map(({ start, end }) => ({
        start,
        end,
        put: oneOf(["4.0.0", "3", "v3.1.0"], next),
        at: [0, start],
      })),
  },
  {
    name: "OpenAPI: place of a parameter",
    files: document,
    codes: ["SP8003"],
    slips: (text, next) =>
      sites(text, /in: (?<x>query|path)\b/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: [start, start],
        says: word,
      })),
  },
  {
    name: "OpenAPI: parameter without its place",
    files: document,
    codes: ["SP8003"],
    says: "`in`",
    slips: (text) =>
      sites(text, /\{ name: [a-z]+, (?<x>in: (?:query|path), )/).map(({ start, end, whole }) => ({
        start,
        end,
        put: "",
        at: [whole[0], start],
      })),
  },
  {
    name: "OpenAPI: name of a path parameter",
    files: document,
    codes: ["SP8003", "SP8021"],
    says: "id",
    slips: (text) =>
      sites(text, /\{ name: (?<x>id), in: path/).map(({ start, end, whole }) => ({
        start,
        end,
        put: "itemId",
        at: [whole[0], start],
      })),
  },
  {
    name: "OpenAPI: path parameter that is not required",
    files: document,
    codes: ["SP8003"],
    says: "required",
    slips: (text) =>
      sites(text, /in: path, (?<x>required: true)/).map(({ start, end }) => ({
        start,
        end,
        put: "required: false",
        at: lineAt(text, start),
      })),
  },
  {
    name: "OpenAPI: pattern",
    files: document,
    codes: ["SP8003", "SP8019"],
    why: "A pattern that the gateway cannot read is left to the backend, with a warning.",
    says: /pattern|\]/,
    slips: (text) =>
      sites(text, /pattern: "[^"\n]*(?<x>\])/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: lineAt(text, start),
      })),
  },
  {
    name: "OpenAPI: number in words",
    files: document,
    codes: ["SP8003", "SP8013"],
    says: "number",
    slips: (text) =>
      sites(text, /(?:minimum|maximum|minLength): (?<x>\d+)/).map(({ start, end }) => ({
        start,
        end,
        put: "one",
        at: [start, start],
      })),
  },
  {
    name: "OpenAPI: status",
    files: document,
    codes: ["SP8003", "SP8021"],
    says: /status|200|default/,
    slips: (text, next) =>
      sites(text, /^ +(?<x>"20[01]"):/).map(({ start, end }) => ({
        start,
        end,
        put: oneOf(['"20"', '"2OO"', "ok"], next),
        at: [start, start],
      })),
  },
]
