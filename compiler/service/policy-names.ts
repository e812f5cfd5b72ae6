import type { SourceFile } from "../core/source.ts"
import { statementsOf } from "../gateway/bind/bound.ts"
import type { Program } from "../gateway/program.ts"
import type { DeclarationKind } from "../gateway/schema/row.ts"
import type { CompletionProposal } from "./completion-item.ts"
import type { NameUse } from "./name-use.ts"

/** `{{NAME}}`, and the attributes that name a declaration. */
const usePattern =
  /\{\{\s*(?<value>[\w.|-]+)\s*\}\}|\b(?<attribute>backend-id|certificate-id)\s*=\s*(?:"(?<double>[^"{@<]+)"|'(?<single>[^'{@<]+)')/dg

/** The declarations of gateway.conf that a policy document names by their own names. Ids that `xml { … }` maps to a name are not renamed with it. */
export function namesInPolicy(file: SourceFile, program: Program): NameUse[] {
  const text = file.text.replaceAll(/<!--[\s\S]*?-->/g, (comment) => " ".repeat(comment.length))
  const mapped = mappedIds(program)
  return [...text.matchAll(usePattern)].flatMap(({ groups = {}, indices }): NameUse[] => {
    const group = ["value", "double", "single"].find((each) => groups[each] !== undefined) ?? ""
    const [id = "", [start, end] = [0, 0]] = [groups[group], indices?.groups?.[group]]
    const kind: DeclarationKind =
      group === "value" ? "value" : groups["attribute"] === "backend-id" ? "backend" : "certificate"
    const found = mapped.has(`${kind} ${id}`)
      ? undefined
      : program.find(kind, kind === "value" ? id.replaceAll(/[^\w]/g, "_") : id)
    if (found === undefined) return []
    return [{ name: `${found.kind} ${found.name}`, span: file.span(start, end), declares: false }]
  })
}

function mappedIds({ root }: Program): ReadonlySet<string> {
  const rows = statementsOf(root, "xml").flatMap(({ block }) => block?.statements ?? [])
  return new Set(
    rows.flatMap(({ row, args }) => {
      const id = args.get("id")?.argument
      const [first] = id?.kind === "text" ? id.parts : []
      return first?.kind === "literal" ? [`${row.keyword} ${first.value}`] : []
    }),
  )
}

/** Names of gateway.conf that can be written at an offset of a policy document: in `{{…}}`, and as the id of a backend or a certificate. */
export function policyNameProposals(
  file: SourceFile,
  offset: number,
  program: Program,
): { readonly start: number; readonly proposals: readonly CompletionProposal[] } | undefined {
  const line = file.text.slice(file.text.lastIndexOf("\n", offset - 1) + 1, offset)
  const [, attribute, written] =
    /(?:\{\{|\b(backend-id|certificate-id)\s*=\s*["'])([\w.-]*)$/.exec(line) ?? []
  if (written === undefined) return undefined
  const kinds: readonly DeclarationKind[] =
    attribute === undefined ? ["value", "secret"] : attribute === "backend-id" ? ["backend"] : ["certificate"]
  const proposals = kinds.flatMap((kind) =>
    program.all(kind).map(({ name }): CompletionProposal => ({ label: name, kind: "name", detail: kind })),
  )
  return { start: offset - written.length, proposals }
}
