import { type Kind, lineAt, sites } from "../corpus.ts"

const forms: readonly Omit<Kind, "files" | "codes">[] = [
  {
    name: "tab for indentation",
    says: /space/,
    slips: (text) =>
      sites(text, /^(?<x> {2,})[a-z-]/).map(({ start, end }) => ({
        start,
        end,
        put: "\t",
        at: [start, start + 1],
      })),
  },
  {
    name: "bracket not closed",
    says: /\]|\}/,
    slips: (text) =>
      sites(text, /(?<open>\{ )[^{}\n]*(?<x> \})$/).map(({ start, end, group }) => ({
        start,
        end,
        put: "",
        at: [group("open")[0], start],
      })),
  },
  {
    name: "quote not closed",
    says: /quote|"/,
    slips: (text) =>
      sites(text, /[ [](?<x>"[^"\n]*")/).map(({ start, end }) => ({
        start: end - 1,
        end,
        put: "",
        at: [start, start],
      })),
  },
  {
    name: "space after the colon missing",
    says: /space|: /,
    slips: (text) =>
      sites(text, /^ *(?:- )?(?<key>[a-zA-Z_]+)(?<x>: )[^{[\n]/).map(({ start, end }) => ({
        start,
        end,
        put: ":",
        at: [lineAt(text, start)[0], start + 1],
      })),
  },
  {
    name: "line indented too far",
    says: /indent/,
    slips: (text) =>
      sites(text, /^[ ]+(?:- )?[a-z_]+: [^\n{[|]+\n(?<x> +)[a-zA-Z_]+:/).map(({ start, end }) => ({
        start,
        end,
        put: `${text.slice(start, end)} `,
        at: [lineAt(text, start - 1)[0], lineAt(text, end)[1]],
      })),
  },
  {
    name: "key given twice",
    says: /[Rr]emove|twice|once|[Dd]uplicate/,
    slips: (text) =>
      sites(text, /^(?<x> +[a-z_]+: [^\n[{|]+\n)/).map(({ start, end, text: line }) => ({
        start: end,
        end,
        put: line,
        at: [start, end + line.length],
      })),
  },
]

/** Mistakes of YAML in files of one kind. */
export function yamlForm(files: RegExp, prefix: string, codes: Kind["codes"]): readonly Kind[] {
  return forms.map((form) => ({ ...form, name: `${prefix}: ${form.name}`, files, codes }))
}
