import { type Kind, lineAt, misspelt, oneOf, type Site, sites } from "../corpus.ts"
import { yamlForm } from "./yaml-form.ts"

const yaml = /\.fga\.yaml$/
const json = /\.tuples\.json$/

const slip = ({ start, end, text }: Site, put: string, says = text) => ({
  start,
  end,
  put,
  at: [start, start] as const,
  says: `\`${says}\``,
})

/** How many questions an assertion is: one for each user or object in the lists of its entry. */
function askedAbove(text: string, offset: number): number {
  const entry = text.slice(text.lastIndexOf("- user", offset), offset)
  return [...entry.matchAll(/(?:users|objects): \[([^\]]*)\]/g)].reduce(
    (all, { 1: list = "" }) => all * list.split(",").length,
    1,
  )
}

/** Mistakes in tests of models and their tuples. */
export const storeTests: readonly Kind[] = [
  ...yamlForm(yaml, "test", ["SP6001"]).map((kind) =>
    kind.name.endsWith("colon missing")
      ? { ...kind, codes: ["SP6001", "SP6002", "SP6003", "SP6004"] as const }
      : kind,
  ),
  {
    name: "test: key misspelt",
    files: yaml,
    codes: ["SP6003"],
    slips: (text, next) =>
      sites(
        text,
        /^ *(?:- )?(?<x>name|model_file|tuple_file|tuples|tests|check|user|object|assertions|list_objects|list_users|user_filter)(?=:)/,
      ).map((site) => slip(site, misspelt(site.text, next, new Set(["users", "objects", "tuple", "test"])))),
  },
  {
    name: "test: key missing",
    files: yaml,
    codes: ["SP6004"],
    slips: (text) =>
      sites(text, /^(?<x> +(?<key>object|assertions): [^\n]*\n)/).map(({ start, end, groups }) => ({
        start,
        end,
        put: "",
        // The entry that lacks it: from its `-` on.
        at: [text.lastIndexOf("- ", start), start + 200],
        says: `\`${groups["key"]}\``,
      })),
  },
  {
    name: "test: relation of an assertion misspelt",
    files: yaml,
    codes: ["SP6009"],
    slips: (text, next) =>
      sites(text, /assertions: \{ (?<x>[a-z_]+):/).map((site) => slip(site, misspelt(site.text, next))),
  },
  {
    name: "test: relation of a tuple misspelt",
    files: yaml,
    codes: ["SP6007"],
    slips: (text, next) =>
      sites(text, /relation: (?<x>[a-z_]+)/).map((site) => slip(site, misspelt(site.text, next))),
  },
  {
    name: "test: type of an object misspelt",
    files: yaml,
    codes: ["SP6007", "SP6009"],
    slips: (text, next) =>
      sites(text, /object: (?<x>[a-z]+):[a-z0-9]+/).map((site) => slip(site, misspelt(site.text, next))),
  },
  {
    name: "test: object without its type",
    files: yaml,
    codes: ["SP6007", "SP6009", "SP6002"],
    says: "type:",
    slips: (text) =>
      sites(text, /object: (?<x>[a-z]+:)[a-z0-9]+/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: [start, start],
      })),
  },
  {
    name: "test: assertion the other way",
    files: yaml,
    codes: ["SP6010"],
    says: /expected (?:allowed|denied)/,
    why: "An assertion about several users or objects is several questions, each with an answer of its own.",
    slips: (text) =>
      sites(text, /assertions: \{ (?<relation>[a-z_]+): (?<x>true|false)/).map(
        ({ start, end, text: value, group }) => ({
          start,
          end,
          put: value === "true" ? "false" : "true",
          at: [group("relation")[0], start],
          findings: askedAbove(text, start),
        }),
      ),
  },
  {
    name: "test: assertion that is no boolean",
    files: yaml,
    codes: ["SP6002"],
    says: /true|false/,
    slips: (text, next) =>
      sites(text, /assertions: \{ (?<relation>[a-z_]+): (?<x>true|false)/).map(({ start, end, group }) => ({
        start,
        end,
        put: oneOf(['"true"', "maybe", "1", "allowed"], next),
        at: [group("relation")[0], start],
      })),
  },
  {
    name: "test: path of the model misspelt",
    files: yaml,
    codes: ["SP0001"],
    slips: (text, next) =>
      sites(text, /(?:model_file|tuple_file): [./]*(?<x>[a-z.]+)/).map(({ start, end, text: path }) => ({
        start,
        end,
        put: misspelt(path, next),
        at: [lineAt(text, start)[0], start],
        says: path,
      })),
  },
  {
    name: "tuples: comma missing",
    files: json,
    codes: ["SP6011", "SP6001"],
    why: "Files of tuples are read as YAML, which JSON is a part of, as OpenFGA's tools do.",
    says: /,|comma/,
    slips: (text) =>
      sites(text, /\}(?<x>,)\n/).map(({ start, end }) => ({
        start,
        end,
        put: "",
        at: [start - 1, start + 4],
      })),
  },
  {
    name: "tuples: key misspelt",
    files: json,
    codes: ["SP6011", "SP6003"],
    slips: (text, next) =>
      sites(text, /"(?<x>relation|object)":/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: lineAt(text, start),
        says: word,
      })),
  },
  {
    name: "tuples: relation misspelt",
    files: json,
    codes: ["SP6007"],
    slips: (text, next) =>
      sites(text, /"relation": "(?<x>[a-z_]+)"/).map(({ start, end, text: word }) => ({
        start,
        end,
        put: misspelt(word, next),
        at: lineAt(text, start),
        says: `\`${word}\``,
      })),
  },
]
