import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { expressionNamesAt } from "../../runtime/expression/names-at.ts"
import { parseCelType } from "../../runtime/expression/types.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { Completion, CompletionProposal } from "./completion-item.ts"
import { proposalOf } from "./expression-help.ts"
import type { ModelRelations } from "./model-relations.ts"
import type { ProjectNames } from "./names.ts"
import { partialWord, replacing } from "./partial-word.ts"

/** What completion in a model needs to know of its project. `names` are only collected where they are asked for. */
export interface ModelTerms {
  readonly names: ProjectNames
  readonly relations: ModelRelations
}

/** The types of parameters of conditions, in the words of OpenFGA's language. */
const parameterTypes = "string int uint double bool timestamp duration ipaddress list map".split(" ")

/** What can be written at an offset of a model in OpenFGA's language. */
export function completeModel(file: SourceFile, offset: number, terms: ModelTerms): Completion[] {
  const partial = partialWord(file, offset, /[\w-]*$/)
  const lineStart = file.text.lastIndexOf("\n", partial.start - 1) + 1
  const line = file.text.slice(lineStart, partial.start)
  if (/(?:^|\s)#/.test(line)) return []
  return replacing(partial, proposalsAt(line, file.text.slice(0, lineStart), partial, terms))
}

function proposalsAt(line: string, above: string, partial: Span, terms: ModelTerms): CompletionProposal[] {
  const condition = conditionAround(`${above}${line}`)
  if (condition !== undefined) return inCondition(condition, line)
  if (/^\s*$/.test(line)) return lineStarts(above, partial.start - above.length)
  if (/^\s*extend\s+$/.test(line)) return words("type")
  if (/^\s*extend\s+type\s+$/.test(line))
    return terms.relations.types.map((label) => ({ label, kind: "type" }))
  if (/^\s*schema\s+$/.test(line)) return words("1.1", "1.2")
  const defined = /\bdefine\s+([\w-]+)\s*:/.exec(line)?.[1]
  return defined === undefined ? [] : inRelation(line, above, defined, terms)
}

/** The keywords that can begin a line. `indent`: the number of characters before it. */
function lineStarts(above: string, indent: number): CompletionProposal[] {
  const lines = above.split("\n").filter((line) => /^\s*[^\s#]/.test(line))
  if (lines.length === 0) return words("model", "module")
  const last = /\w+/.exec(lines.at(-1) ?? "")?.[0]
  if (last === "model") return words("schema")
  const outer = ["type", "condition", "extend"]
  const inner =
    last === "type" || last === "extend"
      ? ["relations"]
      : last === "relations" || last === "define"
        ? ["define"]
        : []
  return indent > 0 ? words(...inner, ...outer) : words(...outer, ...inner)
}

function inRelation(
  line: string,
  above: string,
  defined: string,
  { names, relations }: ModelTerms,
): CompletionProposal[] {
  const type = [...above.matchAll(/^\s*(?:extend\s+)?type\s+(\S+)/gm)].at(-1)?.[1] ?? ""
  const list = /\[([^\]]*)$/.exec(line)?.[1]
  if (list !== undefined) return inList(list, names, relations)
  const ofType = (of: string) => relations.of(of).filter((name) => of !== type || name !== defined)
  const from = /([\w-]+)\s+from\s+$/.exec(line)?.[1]
  if (from !== undefined) {
    const having = new Set(relations.having(from))
    const fitting = ofType(type).filter((name) =>
      relations.namedBy(type, name).some((each) => having.has(each)),
    )
    return (fitting.length > 0 ? fitting : ofType(type)).map(relation)
  }
  if (/\bbut\s+$/.test(line)) return words("not")
  if (!/(?::|\bor|\band|\bnot|\()\s*$/.test(line)) return words("or", "and", "but not", "from")
  const parents = ofType(type).map((name) => ({ name, types: relations.namedBy(type, name) }))
  const read = parents.flatMap(({ name, types }) =>
    types.flatMap((each) =>
      relations.of(each).map((label): CompletionProposal => {
        const insert = `${label} from ${name}`
        return { label: insert, kind: "relation", detail: `${each}#${label}` }
      }),
    ),
  )
  return [...ofType(type).map(relation), ...read]
}

/** Inside of `[…]`: types, sets of users, and conditions. */
function inList(list: string, names: ProjectNames, relations: ModelRelations): CompletionProposal[] {
  const last = list.slice(list.lastIndexOf(",") + 1)
  const set = /([\w-]+)#$/.exec(last)?.[1]
  if (set !== undefined) return relations.of(set).map(relation)
  if (/\bwith\s+$/.test(last))
    return names
      .startingWith("condition ")
      .map((name) => ({ label: name.slice("condition ".length), kind: "name" }))
  if (/:$/.test(last)) return []
  if (/\S\s+$/.test(last)) return words("with")
  return relations.types.map((label) => ({ label, kind: "type" }))
}

/** A condition that a text ends in. `body`: undefined before its brace. */
interface OpenCondition {
  readonly parameters: Readonly<Record<string, string>>
  readonly body: string | undefined
}

function conditionAround(before: string): OpenCondition | undefined {
  const start = [...before.matchAll(/^[ \t]*condition[ \t]+[\w-]+[ \t]*\(/gm)].at(-1)
  if (start === undefined) return undefined
  const inside = before.slice(start.index + start[0].length)
  // A line of a definition ends a condition that lacks its end.
  if (/\n[ \t]*(?:type|extend|condition|relations|define)\b/.test(inside)) return undefined
  const closed = inside.indexOf(")")
  if (closed === -1) return { parameters: {}, body: undefined }
  const [, written = "", body] = /^([^{]*)\{([\s\S]*)$/.exec(inside.slice(closed + 1)) ?? []
  if (body === undefined || /\S/.test(written)) return undefined
  const code = body.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\/[^\n]*/g, "")
  if (code.split("}").length > code.split("{").length) return undefined
  const list = inside.slice(0, closed).matchAll(/([A-Za-z_]\w*)\s*:\s*(\w+(?:<[^>]*>)?)/g)
  return { parameters: Object.fromEntries([...list].map(([, name = "", type = ""]) => [name, type])), body }
}

function inCondition({ parameters, body }: OpenCondition, line: string): CompletionProposal[] {
  if (body === undefined)
    return /[:<]\s*$/.test(line) ? parameterTypes.map((label) => ({ label, kind: "word" })) : []
  const variables = Object.entries(parameters).flatMap(([name, type]) => {
    // The keys of a map are always strings.
    const written = type.replace(/^map</, "map<string, ")
    return parseCelType(written) === undefined ? [] : [[name, written] as const]
  })
  const environment = declareEnvironment({ variables: Object.fromEntries(variables) })
  return expressionNamesAt(body, body.length, environment).names.map(proposalOf)
}

function relation(label: string): CompletionProposal {
  return { label, kind: "relation" }
}

function words(...all: string[]): CompletionProposal[] {
  return all.map((label) => ({ label, kind: "keyword" }))
}
